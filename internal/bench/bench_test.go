package bench

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"tcbuild"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/sets"
	_ "tcbuild/internal/testing/testrun"
	"tcbuild/store"
)

// buildTiny builds a dataset of the tiny graph.
func buildTiny(t testing.TB, c Case, set string) *store.Dataset {
	t.Helper()
	dir := t.TempDir()
	cell, out := filepath.Join(dir, "graph"), filepath.Join(dir, "dataset")
	if err := graph.Write(cell, synth.Graph(synth.Tiny, 1)); err != nil {
		t.Fatal(err)
	}
	_, err := tcbuild.Build(t.Context(), tcbuild.Options{
		Variant: c.Variant, Codec: c.Codec, Graph: cell, Spec: samples.Named(set), Out: out,
	})
	if err != nil {
		t.Fatal(err)
	}
	dataset, err := tcbuild.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	return dataset
}

// Every case ends with the same masks, those of a Remover, in any order of reading.
func TestMasks(t *testing.T) {
	graph := synth.Graph(synth.Tiny, 1)
	rules, err := incidence.ReadRules(graph, incidence.RuleAll)
	if err != nil {
		t.Fatal(err)
	}
	remover := incidence.NewRemover(graph, incidence.Build(graph), rules)
	size := incidence.NewLayout(graph).Size
	var want [][]byte
	_, err = sets.Read(synth.Samples(synth.Tiny, 1, 100), func(batch *ingest.Samples) error {
		for i := range batch.Len() {
			masks := bytes.Repeat([]byte{1}, size)
			for _, position := range remover.Removed(batch.Genes(i)) {
				masks[position] = 0
			}
			want = append(want, masks)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range allCases() {
		reader, err := newMasks(t.Context(), buildTiny(t, c, "synth:tiny:100:1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, sample := range rand.New(rand.NewPCG(1, 2)).Perm(len(want)) {
			if got, err := reader.whole(sample); err != nil || !bytes.Equal(got, want[sample]) {
				t.Fatalf("%s: sample %d has other masks (error: %v)", c, sample, err)
			}
		}
		reader.close()
	}
}

func TestReadAll(t *testing.T) {
	dataset := buildTiny(t, Case{store.Indices, "zstd"}, "synth:tiny:1500:1")
	if open, read, err := readDataset(t.Context(), dataset.Dir, 1500, 1); err != nil || open <= 0 || read <= 0 {
		t.Errorf("got %g s, %g ms, %v", open, read, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := readDataset(cancelled, dataset.Dir, 1500, 1); err == nil {
		t.Error("a cancelled pass ended well")
	}
	if _, _, err := readDataset(t.Context(), t.TempDir(), 1500, 1); err == nil {
		t.Error("an empty folder was read")
	}
}
