package build

import (
	"context"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/fault"
	"tcbuild/store"
)

// survey reads the whole perturbation set once, before anything is written: bad data
// is found at once, and the manifest is known but for its files. Shards that are built apart
// and a resumed build so agree on what they build.
func (b *builder) survey(ctx context.Context) error {
	b.manifest = &store.Manifest{
		FormatVersion: store.FormatVersion,
		Variant:       b.Variant,
		Codec:         b.codec.Name,
		Phenotypes:    []string{},
		Options:       store.Options{ReactionRule: b.ReactionRule, UnknownGenes: b.UnknownGenes, AllowWildtype: b.AllowWildtype},
		Inputs:        store.Inputs{Graph: b.report.Inputs, Perturbations: []ingest.Input{}},
		GraphDigest:   b.graph.Digest(),
	}
	for _, mask := range incidence.NewLayout(b.graph).Masks {
		b.manifest.Masks = append(b.manifest.Masks, store.MaskSize{Name: mask.Name, Size: mask.Size})
	}
	var err error
	if b.source != nil {
		b.manifest.Phenotypes = append(b.manifest.Phenotypes, b.source.PhenotypeNames()...)
		if b.manifest.Inputs.Perturbations, err = b.source.Inputs(); err != nil {
			return err
		}
	}
	content := store.NewContentDigest(b.manifest.GraphDigest, b.ReactionRule, b.manifest.Phenotypes)
	if b.source != nil {
		if err := b.surveySamples(ctx, content); err != nil {
			return err
		}
	}
	b.manifest.LogicalContent = content.Sum()
	if b.Variant != store.Incidence {
		err = b.cutShards()
	}
	return err
}

func (b *builder) surveySamples(ctx context.Context, content *store.ContentDigest) error {
	counts, err := b.source.Scan(func(samples *ingest.Samples) error {
		content.AddAll(samples)
		return context.Cause(ctx)
	})
	if err != nil {
		return err
	}
	if counts.Samples == 0 {
		return fault.New(fault.Input, "give a table with at least one row", "read perturbations %s: it has no samples", b.Perturbations)
	}
	b.manifest.Samples = counts.Samples
	b.manifest.Counts = store.InputCounts{Wildtypes: counts.Wildtypes, UnknownGenes: counts.UnknownGenes, RepeatedGenes: counts.RepeatedGenes}
	b.stage("survey samples", "samples", counts.Samples, "wildtypes", counts.Wildtypes,
		"unknown_genes_dropped", counts.UnknownGenes, "repeated_genes_merged", counts.RepeatedGenes)
	return nil
}

const (
	samplesPerValue = 64        // of compressed masks: a value then wastes about 2 % of its pages
	valueBytes      = 256 << 10 // a value of uncompressed masks has as many samples as fit, at least one
	shardSamples    = 1_000_000 // of compressed masks, about 2 kB each on the yeast graph
	shardBytes      = 1 << 30   // of uncompressed masks: a shard is hashed while the page cache still has it
)

// cutShards divides the samples among values and shards. Both depend on the
// dataset's size alone, never on the machine, so that every machine writes the same bytes.
func (b *builder) cutShards() error {
	m := b.manifest
	m.SamplesPerValue = samplesPerValue
	shards := (m.Samples + shardSamples - 1) / shardSamples
	if b.codec.WholeSize != nil {
		whole := b.codec.WholeSize(m.MaskPositions())
		m.SamplesPerValue = min(max(valueBytes/max(whole, 1), 1), samplesPerValue)
		shards = m.Samples*whole/shardBytes + 1
	}
	if b.Shards > 0 {
		shards = b.Shards
	}
	if shards > m.Samples {
		return fault.New(fault.Usage, "give fewer with --shards", "cut %d samples into %d shards", m.Samples, shards)
	}
	m.Cut(shards)
	if b.Shard >= shards {
		return fault.New(fault.Usage, "shards count from 0", "build shard %d of %d", b.Shard, shards)
	}
	return nil
}
