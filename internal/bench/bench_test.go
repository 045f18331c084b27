package bench

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"tcbuild"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/synthetic"
	_ "tcbuild/internal/testing/testrun"
	"tcbuild/store"
)

// buildTiny builds a dataset of the tiny graph.
func buildTiny(t testing.TB, c Case, count int) *store.Dataset {
	t.Helper()
	dir := t.TempDir()
	cell, set := synthetic.Write(t, count)
	out := filepath.Join(dir, "dataset")
	_, err := tcbuild.Build(t.Context(), tcbuild.Options{
		Variant: c.Variant, Codec: c.Codec, Graph: cell, Spec: samples.Spec{File: set}, Out: out,
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
		order := rand.New(rand.NewPCG(1, 2)).Perm(len(want))
		reader, err := newMasks(buildTiny(t, c, 100), order)
		if err != nil {
			t.Fatal(err)
		}
		for _, sample := range order {
			if got, err := reader.whole(sample); err != nil || !bytes.Equal(got, want[sample]) {
				t.Fatalf("%s: sample %d has other masks (error: %v)", c, sample, err)
			}
		}
		reader.close()
	}
}

func TestReadAll(t *testing.T) {
	t.Setenv("TMPDIR", "/var/tmp") // where tests do not choose memory
	dataset := buildTiny(t, Case{store.Indices, "zstd"}, 1500)
	cold, warm, err := readDataset(t.Context(), dataset.Dir, 1500, 1)
	if err != nil || warm.open <= 0 || warm.seconds <= 0 || warm.cpuSeconds <= 0 {
		t.Errorf("got %+v, %v", warm, err)
	}
	var system unix.Statfs_t
	if err := unix.Statfs(dataset.Dir, &system); err != nil {
		t.Fatal(err)
	}
	onDisk := system.Type == unix.EXT4_SUPER_MAGIC || system.Type == unix.XFS_SUPER_MAGIC
	if inMemory := system.Type == unix.TMPFS_MAGIC; onDisk && cold.seconds <= 0 || inMemory && cold != (reading{}) {
		t.Errorf("on a file system of type %#x, got %+v cold", system.Type, cold)
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

// Sizes extrapolated from some samples are those of a dataset of all.
func TestExtrapolatedSize(t *testing.T) {
	const all = 20_000
	o := Options{Samples: 4000, Rounds: 1}
	cell, set := synthetic.Write(t, all)
	o.Graph, o.Spec, o.Out, o.Workers, o.Log = cell, samples.Spec{File: set}, t.TempDir(), 2, slog.New(slog.DiscardHandler)
	results, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range results.Cases {
		want := float64(buildTiny(t, c.Case, all).Manifest.DataBytes())
		if got := c.Extrapolated.Bytes; math.Abs(got-want) > 0.1*want {
			t.Errorf("%s: extrapolated to %.0f bytes, a build has %.0f", c, got, want)
		}
	}
}
