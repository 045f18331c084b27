package tcbuild

import (
	"context"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/duplicates"
	"tcbuild/ingest/inputfile"
	"tcbuild/store"
)

// survey reads the whole perturbation set, once, before the dataset is begun, and writes the sample
// table beside it. Bad data is found early, and the manifest is complete except for its files, so
// that separately built shards and a resumed build agree on what they build.
func (b *builder) survey(ctx context.Context) error {
	b.manifest = &store.Manifest{
		FormatVersion: store.FormatVersion,
		Program:       b.Program,
		Variant:       b.Variant,
		Codec:         b.codec.Name,
		Phenotypes:    []ingest.Phenotype{},
		Attributes:    []ingest.Attribute{},
		Options: store.Options{
			ReactionRule: b.ReactionRule, UnknownGenes: b.UnknownGenes, AllowWildtype: b.AllowWildtype, AllowDuplicateIDs: b.AllowDuplicateIDs,
			Where:      b.Where,
			Duplicates: b.Duplicates, GroupBy: b.GroupBy,
		},
		Inputs:      store.Inputs{Graph: b.inputs, Perturbations: []ingest.Input{}},
		GraphDigest: b.graph.Digest(),
	}
	for _, mask := range incidence.NewLayout(b.graph).Masks {
		b.manifest.Masks = append(b.manifest.Masks, store.MaskSize{Name: mask.Name, Size: mask.Size})
	}
	var err error
	if b.source != nil {
		b.manifest.SetColumns(b.source.Columns())
		b.manifest.Inputs.Perturbations = append(b.manifest.Inputs.Perturbations, b.source.Inputs()...)
	}
	content := b.newContent()
	if b.source != nil {
		if err := b.surveySamples(ctx, content); err != nil {
			return err
		}
	}
	if !b.unread {
		b.manifest.LogicalContent = content.Sum()
	}
	b.manifest.Identify()
	if b.Variant != store.Incidence {
		err = b.cutShards()
	}
	return err
}

func (b *builder) newContent() *store.ContentDigest {
	return store.NewContentDigest(b.manifest.GraphDigest, b.ReactionRule, b.manifest.Columns())
}

func (b *builder) surveySamples(ctx context.Context, content *store.ContentDigest) error {
	counts, err := b.countSamples(ctx, content)
	if err != nil {
		return err
	}
	if counts.Samples == 0 {
		return fault.New(fault.Input, "give a table with at least one row",
			"read perturbations %s: found no samples, expected at least one", b.Perturbations)
	}
	b.manifest.Samples, b.manifest.Counts = counts.Samples, counts
	b.stage("survey samples", "samples", counts.Samples, "wildtypes", counts.Wildtypes,
		"unknown_genes_dropped", counts.UnknownGenes, "samples_dropped_for_unknown_genes", counts.DroppedSamples,
		"samples_dropped_without_genes_left", counts.EmptiedSamples, "samples_left_out_by_where", counts.LeftOutSamples,
		"repeated_genes_merged", counts.RepeatedGenes)
	b.logRepeats(counts.Repeats)
	if counts.InfiniteValues > 0 {
		b.Log.Warn("infinite phenotype values count as missing", "values", counts.InfiniteValues)
	}
	return nil
}

// logRepeats says that genotypes repeat, and what became of their samples: a warning, if nobody has
// chosen that.
func (b *builder) logRepeats(repeats ingest.Repeats) {
	args := []any{"genotypes", repeats.Genotypes, "repeated", repeats.RepeatedGenotypes, "in_samples", repeats.RepeatedSamples}
	if len(b.GroupBy) > 0 {
		args = append(args, "conditions", repeats.Conditions)
	}
	args = append(args, "duplicates", b.Duplicates, "samples_merged", repeats.MergedSamples)
	switch {
	case repeats.RepeatedGenotypes > 0 && b.Duplicates == duplicates.Keep:
		b.Log.Warn("genotypes repeat", args...)
	case repeats.RepeatedGenotypes > 0 || len(b.GroupBy) > 0:
		b.Log.Info("genotypes repeat", args...)
	}
}

// surveyedSamples is the largest set that the survey reads even if its counts are known. For a
// larger set, shards start at once; its logical content, a digest over all samples, is computed
// when the whole dataset is published.
var surveyedSamples = 10_000_000

// countSamples reads the samples into the sample table, unless the set is larger than
// surveyedSamples and its counts are known.
func (b *builder) countSamples(ctx context.Context, content *store.ContentDigest) (ingest.Counts, error) {
	if indexed, ok := b.source.(ingest.IndexedSource); ok && indexed.Counts().Samples > surveyedSamples {
		b.unread = true
		return indexed.Counts(), nil
	}
	progress := b.Progress(0)
	defer progress.Done()
	unmeasured := ingest.NewUnmeasured(b.manifest.Columns())
	counts, err := b.tabulate(ctx, store.NeedsSamples(b.Out, b.Resume), content, func(samples *ingest.Samples) {
		unmeasured.Add(samples)
		progress.Add(samples.Len(), 0)
	})
	if names := unmeasured.Names(); err == nil && len(names) > 0 && counts.Samples > 0 {
		b.Log.Warn("phenotypes without a value in any sample", "phenotypes", fault.List(names))
	}
	return counts, err
}

// tabulate reads the whole perturbation set, into the digest of its content and, if write is true,
// the sample table.
func (b *builder) tabulate(ctx context.Context, write bool, content *store.ContentDigest,
	see func(*ingest.Samples)) (counts ingest.Counts, err error) {
	if write {
		if b.samples, err = store.NewSampleWriter(b.Out, b.manifest.Columns()); err != nil {
			return counts, err
		}
	}
	counts, err = b.source.Scan(func(samples *ingest.Samples) error {
		content.Add(samples)
		see(samples)
		if b.samples != nil {
			if err := b.samples.Add(samples); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	})
	if err == nil && b.samples != nil {
		err = b.samples.Close(content.Sum())
	}
	return counts, err
}

// adoptSamples moves the sample table into the dataset under construction, if it does not have it.
func (b *builder) adoptSamples(ctx context.Context) error {
	if b.Base != nil {
		return b.building.ShareInputs(b.Base)
	}
	if b.source == nil || b.unread || b.building.HasSamples() {
		return nil
	}
	if b.samples == nil { // the table that the survey found was of another, unfinished build
		_, err := b.tabulate(ctx, true, b.newContent(), func(*ingest.Samples) {})
		if err == nil {
			err = b.Unchanged()
		}
		if err != nil {
			return inputfile.Explain(err, b)
		}
	}
	return b.building.AdoptSamples(b.samples)
}

// adoptContent copies the logical content of an unread set from an existing dataset. The other
// fields of the manifest, which store.Published compares, determine it.
func (b *builder) adoptContent() {
	if !b.unread {
		return
	}
	// store.Published reports any error
	if existing, err := store.ReadManifest(b.Out); err == nil {
		b.manifest.LogicalContent = existing.LogicalContent
	}
}

// surveyLate makes up for the survey of an unread set: it computes the logical content and writes
// the sample table.
func (b *builder) surveyLate(ctx context.Context) error {
	progress := b.Progress(b.manifest.Samples)
	defer progress.Done()
	content := b.newContent()
	_, err := b.tabulate(ctx, true, content, func(samples *ingest.Samples) { progress.Add(samples.Len(), 0) })
	if err != nil {
		return err
	}
	if err := b.building.AdoptSamples(b.samples); err != nil {
		return err
	}
	b.manifest.LogicalContent = content.Sum()
	b.stage("write samples", "samples", b.manifest.Samples)
	return nil
}

const (
	samplesPerValue = 64 // compressed masks; a value then wastes about 2 % of its pages
	// of uncompressed masks; a value has at least one sample
	valueBytes   = 256 << 10
	shardSamples = 1_000_000 // compressed masks, about 2 kB each on the yeast graph
	// of uncompressed masks; a shard is hashed while it is still in the page cache
	shardBytes = 1 << 29
)

// cutShards divides the samples into values and shards. Both depend only on the dataset's size,
// never on the machine, so that every machine writes the same bytes.
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
		return fault.New(fault.Usage, "give fewer with --shards",
			"cut dataset: found %d shards, expected at most %d, one per sample", shards, m.Samples)
	}
	m.Cut(shards)
	if b.shard >= shards {
		return fault.New(fault.Usage, "shards count from 0",
			"build dataset: found shard %d, expected 0 to %d", b.shard, shards-1)
	}
	return nil
}
