package ingest

import (
	"github.com/dustin/go-humanize"

	"tcbuild/fault"
)

// batchSamples is how many samples Scan hands over at a time; of samples with many phenotypes
// fewer, which hold about batchValues.
const (
	batchSamples = 4096
	batchValues  = 1 << 21
)

// batcher gathers the samples of a Scan and hands them over in batches, each of which is the
// receiver's.
type batcher struct {
	counts     Counts
	phenotypes int
	size       int
	yield      func(*Samples) error
	samples    *Samples // nil or not full
}

func newBatcher(phenotypes int, yield func(*Samples) error) *batcher {
	return &batcher{phenotypes: phenotypes, size: max(min(batchSamples, batchValues/max(phenotypes, 1)), 1), yield: yield}
}

// room returns where the next sample is to be appended; added is to be called then.
func (b *batcher) room() *Samples {
	if b.samples == nil {
		b.samples = NewSamples(b.counts.Samples, b.phenotypes, b.size)
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

// end hands over what is there after the last sample. It refuses a set of which every sample was
// dropped; unknown is one of the genes for which they were.
func (b *batcher) end(path, unknown string) error {
	if dropped := b.counts.DroppedSamples + b.counts.EmptiedSamples; dropped > 0 && b.counts.Samples == 0 {
		return fault.New(fault.Input, "use ids of the graph, or convert the names with 'tcbuild ingest perturbations --aliases'",
			"read perturbations %s: all samples (%s) were dropped for genes that are not in nodes/gene, such as %s, expected at least one to stay",
			path, humanize.Comma(int64(dropped)), fault.Quote(unknown))
	}
	return b.flush()
}

// flush hands over what is there.
func (b *batcher) flush() error {
	samples := b.samples
	if b.samples = nil; samples == nil || samples.Len() == 0 {
		return nil
	}
	return b.yield(samples)
}
