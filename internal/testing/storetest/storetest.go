// Package storetest writes small datasets for tests, with masks from the oracle.
package storetest

import (
	"errors"
	"runtime"
	"testing"

	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/testing/oracle"
	"tcbuild/store"
)

// Dataset is a dataset to be written. Its planted faults have right checksums: only what they name
// is wrong.
type Dataset struct {
	Graph            *ingest.Graph
	Columns          ingest.Columns // of Samples
	Samples          *ingest.Samples
	Rule             incidence.ReactionRule
	Variant          store.Variant
	Codec            string
	PerValue, Shards int // not of an incidence dataset

	PlantContent string           // logical content
	PlantMasks   []store.MaskSize // in the manifest
	PlantCache   func(cache *incidence.Cache)
	PlantRemoved func(sample int, removed []uint32) []uint32
	PlantPayload func(sample int, payload []byte) []byte
}

// Write writes and publishes the dataset in the folder out, which does not exist.
func (d Dataset) Write(t testing.TB, out string) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b, err := store.Begin(out, d.manifest(t), store.ResumeNever, store.AllShards)
	check(t, err)
	defer b.Close()
	check(t, b.WriteGraph(d.Graph))
	if d.Variant == store.Incidence {
		cache := incidence.Build(d.Graph)
		if d.PlantCache != nil {
			d.PlantCache(cache)
		}
		check(t, b.WriteIncidence(cache))
	}
	w, err := store.NewSampleWriter(out, d.Columns)
	check(t, err)
	defer w.Discard()
	check(t, errors.Join(w.Add(d.Samples), w.Close(b.Manifest.LogicalContent), b.AdoptSamples(w)))
	for i := range b.Manifest.Shards {
		d.writeShard(t, b, i)
	}
	if published, err := b.Publish(nil); err != nil || !published {
		t.Fatalf("published %v, error %v", published, err)
	}
}

func (d Dataset) manifest(t testing.TB) *store.Manifest {
	digest := d.Graph.Digest()
	table := store.NewSampleDigester(d.Columns)
	check(t, table.Add(d.Samples))
	files, err := table.Digests()
	check(t, err)
	m := &store.Manifest{
		FormatVersion: store.FormatVersion, Variant: d.Variant, Codec: d.Codec,
		Samples: d.Samples.Len(),
		Options: store.Options{ReactionRule: d.Rule}, GraphDigest: digest, StructureDigest: digest,
		LogicalContent: store.LogicalContent(digest, d.Rule, d.Columns, files),
	}
	m.SetColumns(d.Columns)
	if d.PlantContent != "" {
		m.LogicalContent = d.PlantContent
	}
	m.SetIncidence(incidence.Build(d.Graph))
	if d.PlantMasks != nil {
		m.Masks = d.PlantMasks
	}
	m.Identify()
	if d.Variant != store.Incidence {
		m.SamplesPerValue = d.PerValue
		m.Cut(d.Shards)
	}
	return m
}

func (d Dataset) writeShard(t testing.TB, b *store.Building, number int) {
	t.Helper()
	codec, err := encode.Find(b.Manifest.Mode(), d.Codec)
	check(t, err)
	encoder := codec.NewEncoder(b.Manifest.MaskPositions())
	shard, err := b.Shard(number)
	check(t, err)
	end := shard.First + shard.Samples
	for first := shard.First; first < end; first += d.PerValue {
		value := encode.AppendValue(nil, b.Manifest.Seed(), first, min(d.PerValue, end-first),
			func(dst []byte, i int) []byte {
				removed := oracle.Removed(d.Graph, d.Samples.Genes(first+i),
					d.Rule == incidence.RuleGPR)
				if d.PlantRemoved != nil {
					removed = d.PlantRemoved(first+i, removed)
				}
				payload := encoder.Append(nil, removed)
				if d.PlantPayload != nil {
					payload = d.PlantPayload(first+i, payload)
				}
				return append(dst, payload...)
			})
		check(t, shard.Put(first, value))
	}
	check(t, errors.Join(shard.Commit(), shard.Seal()))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
