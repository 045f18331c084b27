package gpuverify

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/storetest"
	"tcbuild/store"
)

// plan is a dataset of the tiny graph, or of another.
type plan struct {
	variant store.Variant
	codec   string
	rule    incidence.ReactionRule
	samples int
	shards  int
	graph   *ingest.Graph   // nil: the tiny one
	source  *ingest.Samples // nil: the first of the tiny graph

	plantRemoved func(sample int, removed []uint32) []uint32
	plantPayload func(sample int, payload []byte) []byte
	plantGenes   func(sample int, genes []uint32) []uint32
	plantCache   func(cache *incidence.Cache)
	plantContent string // logical content
	plantMasks   []store.MaskSize
}

func tinyGraph() *ingest.Graph { return synth.Graph(synth.Tiny, 1) }

// tinyColumns are those of tinySamples.
var tinyColumns = ingest.Columns{Phenotypes: ingest.NamedPhenotypes("fitness", "gene_interaction")}

// tinySamples are the first count samples of the tiny graph.
func tinySamples(t testing.TB, count int) *ingest.Samples {
	t.Helper()
	samples := ingest.NewSamples(0, tinyColumns, count)
	if _, err := sets.Read(synth.Samples(synth.Tiny, 1, count), func(batch *ingest.Samples) error {
		for i := range batch.Len() {
			samples.Append(batch.ID(i), batch.Genes(i), batch.Phenotypes(i), nil)
		}
		return nil
	}); err != nil || samples.Len() != count {
		t.Fatalf("%d samples, error %v", samples.Len(), err)
	}
	return samples
}

// build writes and publishes the dataset.
func (p plan) build(t testing.TB) *store.Dataset {
	t.Helper()
	graph, samples := p.graph, p.source
	if graph == nil {
		graph, samples = tinyGraph(), tinySamples(t, p.samples)
	}
	out := filepath.Join(t.TempDir(), "dataset")
	storetest.Dataset{
		Graph: graph, Columns: tinyColumns, Samples: p.plantedSamples(samples), Rule: p.rule,
		Variant: p.variant, Codec: p.codec, PerValue: 8, Shards: p.shards,
		PlantContent: p.plantContent, PlantMasks: p.plantMasks, PlantCache: p.plantCache,
		PlantRemoved: p.plantRemoved, PlantPayload: p.plantPayload,
	}.Write(t, out)
	dataset, err := store.Open(out)
	must(t, err)
	return dataset
}

func (p plan) plantedSamples(samples *ingest.Samples) *ingest.Samples {
	if p.plantGenes == nil {
		return samples
	}
	planted := ingest.NewSamples(0, tinyColumns, samples.Len())
	for i := range samples.Len() {
		planted.Append(samples.ID(i), p.plantGenes(i, samples.Genes(i)), samples.Phenotypes(i), nil)
	}
	return planted
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func verify(t testing.TB, dataset *store.Dataset, method Method, workers int) *Report {
	t.Helper()
	report, err := Verify(context.Background(), dataset, Options{Method: method, Workers: workers})
	must(t, err)
	return report
}

// toggle puts a position into an ascending list, or takes it out.
func toggle(removed []uint32, position uint32) []uint32 {
	at, found := slices.BinarySearch(removed, position)
	if found {
		return slices.Delete(slices.Clone(removed), at, at+1)
	}
	return slices.Insert(slices.Clone(removed), at, position)
}

// changeFile replaces a byte of a file by its complement.
func changeFile(t testing.TB, path string, at int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	data[at] = ^data[at]
	must(t, os.WriteFile(path, data, 0o644))
}
