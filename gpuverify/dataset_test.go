package gpuverify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/oracle"
	"tcbuild/store"
)

// plan is a dataset of the tiny graph, or of another. Its planted faults have correct checksums:
// only its masks or genes are wrong.
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
	var samples *ingest.Samples
	if _, err := synth.Samples(synth.Tiny, 1, count).Scan(func(batch *ingest.Samples) error {
		samples = batch
		return nil
	}); err != nil || samples.Len() != count {
		t.Fatalf("%d samples, error %v", samples.Len(), err)
	}
	return samples
}

// build writes and publishes the dataset.
func (p plan) build(t testing.TB) *store.Dataset {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	graph, samples := p.graph, p.source
	if graph == nil {
		graph, samples = tinyGraph(), tinySamples(t, p.samples)
	}
	samples = p.plantedSamples(samples)
	layout := incidence.NewLayout(graph)
	content := store.NewContentDigest(graph.Digest(), p.rule, tinyColumns)
	content.Add(samples)
	manifest := &store.Manifest{
		FormatVersion: store.FormatVersion, Variant: p.variant, Codec: p.codec, Samples: p.samples,
		Options: store.Options{ReactionRule: p.rule}, GraphDigest: graph.Digest(), LogicalContent: content.Sum(), Masks: p.plantMasks,
	}
	manifest.SetColumns(tinyColumns)
	if p.plantContent != "" {
		manifest.LogicalContent = p.plantContent
	}
	if p.plantMasks == nil {
		for _, mask := range layout.Masks {
			manifest.Masks = append(manifest.Masks, store.MaskSize{Name: mask.Name, Size: mask.Size})
		}
	}
	manifest.Identify()
	if p.variant != store.Incidence {
		manifest.SamplesPerValue = 8
		manifest.Cut(p.shards)
	}

	out := filepath.Join(t.TempDir(), "dataset")
	b, err := store.Begin(out, manifest, store.ResumeNever, store.AllShards)
	must(t, err)
	defer b.Close()
	must(t, b.WriteGraph(graph))
	if p.variant == store.Incidence {
		p.writeIncidence(t, b, graph)
	}
	w, err := store.NewSampleWriter(out, tinyColumns)
	must(t, err)
	defer w.Discard()
	must(t, errors.Join(w.Add(samples), w.Close(manifest.LogicalContent), b.AdoptSamples(w)))
	for i := range manifest.Shards {
		p.writeShard(t, b, i, graph, samples)
	}
	published, err := b.Publish(nil)
	must(t, err)
	if !published {
		t.Fatal("the dataset was not published")
	}
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

func (p plan) writeIncidence(t testing.TB, b *store.Building, graph *ingest.Graph) {
	t.Helper()
	cache := incidence.Build(graph)
	if p.plantCache != nil {
		p.plantCache(cache)
	}
	must(t, b.WriteIncidence(cache))
}

func (p plan) writeShard(t testing.TB, b *store.Building, number int, graph *ingest.Graph, samples *ingest.Samples) {
	t.Helper()
	codec, err := encode.Find(b.Manifest.Mode(), p.codec)
	must(t, err)
	encoder := codec.NewEncoder(b.Manifest.MaskPositions())
	shard, err := b.Shard(number)
	must(t, err)
	end := shard.First + shard.Samples
	for first := shard.First; first < end; first += b.Manifest.SamplesPerValue {
		must(t, shard.Put(first, encode.AppendValue(nil, b.Manifest.Seed(), first, min(b.Manifest.SamplesPerValue, end-first), func(dst []byte, i int) []byte {
			sample := first + i
			removed := oracle.Removed(graph, samples.Genes(sample), p.rule == incidence.RuleGPR)
			if p.plantRemoved != nil {
				removed = p.plantRemoved(sample, removed)
			}
			payload := encoder.Append(nil, removed)
			if p.plantPayload != nil {
				payload = p.plantPayload(sample, payload)
			}
			return append(dst, payload...)
		})))
	}
	must(t, shard.Commit())
	must(t, shard.Seal())
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
