// Package synthetic writes synthetic input for tests.
package synthetic

import (
	"context"
	"path/filepath"
	"testing"

	"tcbuild/ingest/graph"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/synth"
)

// Write writes a tiny synthetic graph, and a perturbation set of so many samples for it, into a
// fresh folder.
func Write(t testing.TB, count int) (cell, set string) {
	t.Helper()
	return WriteScale(t, synth.Tiny, count)
}

// WriteScale is Write for a scale.
func WriteScale(t testing.TB, scale synth.Scale, count int) (cell, set string) {
	t.Helper()
	dir := t.TempDir()
	made := synth.Graph(scale, 1)
	cell, set = filepath.Join(dir, "graph"), filepath.Join(dir, "set.arrow")
	if err := graph.Write(cell, made); err != nil {
		t.Fatal(err)
	}
	source := synth.Samples(scale, 1, count)
	if err := samples.Write(context.Background(), set, source, made.Genes); err != nil {
		t.Fatal(err)
	}
	return cell, set
}
