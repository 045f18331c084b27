package ingest

// batchSamples is how many samples Scan hands over at a time; of samples with many phenotypes
// fewer, which hold about batchValues.
const (
	batchSamples = 4096
	batchValues  = 1 << 21
)

// batcher gathers the samples of a Scan and hands them over in batches, each of which is the receiver's.
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

// flush hands over what is there.
func (b *batcher) flush() error {
	samples := b.samples
	if b.samples = nil; samples == nil || samples.Len() == 0 {
		return nil
	}
	return b.yield(samples)
}
