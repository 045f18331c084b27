package ingest

import (
	"github.com/dustin/go-humanize"

	"tcbuild/fault"
)

// batchSamples is the number of samples in a batch that Scan passes on. Batches of samples with
// many columns are smaller, about batchValues values.
const (
	batchSamples = 4096
	batchValues  = 1 << 21
)

// batcher collects the samples of a Scan into batches. The receiver owns each batch.
type batcher struct {
	counts  Counts
	columns Columns
	size    int
	yield   func(*Samples) error
	samples *Samples // nil or not full
}

func newBatcher(columns Columns, yield func(*Samples) error) *batcher {
	return &batcher{columns: columns, size: BatchSamples(columns), yield: yield}
}

// BatchSamples is the number of samples with these columns in a batch of a Scan, but for the last.
func BatchSamples(columns Columns) int {
	values := max(len(columns.Phenotypes)+len(columns.Attributes), 1)
	return max(min(batchSamples, batchValues/values), 1)
}

// room returns the batch to append the next sample to; call added afterwards.
func (b *batcher) room() *Samples {
	if b.samples == nil {
		b.samples = NewSamples(b.counts.Samples, b.columns, b.size)
	}
	return b.samples
}

func (b *batcher) added() error {
	b.counts.Samples++
	if b.samples.Len() == b.size {
		return b.flush()
	}
	return nil
}

// end passes on the last batch. It is an error if every sample was dropped; unknown is one of the
// genes that caused it.
func (b *batcher) end(path, unknown string) error {
	if dropped := b.counts.DroppedSamples + b.counts.EmptiedSamples; dropped > 0 && b.counts.Samples == 0 {
		return fault.New(fault.Input, "use ids of the graph, or convert the names with 'tcbuild ingest perturbations --aliases'",
			"read perturbations %s: all samples (%s) were dropped because of genes that are not in nodes/gene, such as %s, expected at least one to remain",
			path, humanize.Comma(int64(dropped)), fault.Quote(unknown))
	}
	return b.flush()
}

// flush passes on the current batch.
func (b *batcher) flush() error {
	samples := b.samples
	if b.samples = nil; samples == nil || samples.Len() == 0 {
		return nil
	}
	return b.yield(samples)
}
