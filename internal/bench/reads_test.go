package bench

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"tcbuild"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/synth"
	_ "tcbuild/internal/testing/testrun"
	"tcbuild/store"
)

// buildTiny builds a dataset of the tiny graph.
func buildTiny(t testing.TB, c Case, samples string) *store.Dataset {
	t.Helper()
	dir := t.TempDir()
	cell, out := filepath.Join(dir, "graph"), filepath.Join(dir, "dataset")
	if err := graph.Write(cell, synth.Graph(synth.Tiny, 1)); err != nil {
		t.Fatal(err)
	}
	_, err := tcbuild.Build(t.Context(), tcbuild.Options{
		Variant: c.Variant, Codec: c.Codec, Graph: cell, Perturbations: samples, Out: out,
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
	_, err = synth.Samples(synth.Tiny, 1, 100).Scan(func(batch *ingest.Samples) error {
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
	r, err := readDataset(t.Context(), dataset.Dir, 1500, 1)
	if err != nil || r.open <= 0 || r.warm <= 0 || (r.cold > 0) == (r.notCold != "") {
		t.Errorf("got %+v, %v", r, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readDataset(cancelled, dataset.Dir, 1500, 1); err == nil {
		t.Error("a cancelled pass ended well")
	}
	if _, err := readDataset(t.Context(), t.TempDir(), 1500, 1); err == nil {
		t.Error("an empty folder was read")
	}
}

func TestDropCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := file.Sync(); err != nil {
		t.Fatal(err)
	}
	if cached, err := cachedFraction(file); err != nil || cached != 1 {
		t.Errorf("written: %g of the file is cached, error %v; want all", cached, err)
	}
	if err := dropCache(path); err != nil {
		t.Skip("this file system does not drop its cache:", err)
	}
	if cached, err := cachedFraction(file); err != nil || cached > 0.1 {
		t.Errorf("dropped: %g of the file is cached, error %v", cached, err)
	}
	if err := dropCache(filepath.Join(filepath.Dir(path), "none")); err == nil {
		t.Error("a file that is not there was dropped")
	}
}
