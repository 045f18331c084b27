package ingest

// BatchSamples is the number of samples in a batch that Scan passes on. Batches of samples with
// many columns are smaller, about batchValues values.
const (
	BatchSamples = 4096
	batchValues  = 1 << 21
)

// Batcher collects the samples of a Scan into batches. The receiver owns each batch.
type Batcher struct {
	Counts  Counts // Add counts Samples, the caller the others
	columns Columns
	size    int
	yield   func(*Samples) error
	samples *Samples // nil or not full
}

// BatchSize is how many samples a batch has at most.
func BatchSize(columns Columns) int {
	values := max(len(columns.Phenotypes)+len(columns.Attributes), 1)
	return max(min(BatchSamples, batchValues/values), 1)
}

// NewBatcher makes a Batcher that passes each full batch to yield. The sizes of batches depend on
// the columns only.
func NewBatcher(columns Columns, yield func(*Samples) error) *Batcher {
	return &Batcher{columns: columns, size: BatchSize(columns), yield: yield}
}

// Add appends a sample, as Samples.Append does.
func (b *Batcher) Add(id []byte, genes []uint32, phenotypes []float64, attributes []Value) error {
	b.Next().Append(id, genes, phenotypes, attributes)
	return b.Added()
}

// Next returns the batch to append the next sample to; call Added afterwards.
func (b *Batcher) Next() *Samples {
	if b.samples == nil {
		b.samples = NewSamples(b.Counts.Samples, b.columns, b.size)
	}
	return b.samples
}

// Added counts the sample that was appended to what Next returned.
func (b *Batcher) Added() error {
	b.Counts.Samples++
	if b.samples.Len() == b.size {
		return b.Flush()
	}
	return nil
}

// Flush passes on the last batch, if it has samples.
func (b *Batcher) Flush() error {
	samples := b.samples
	if b.samples = nil; samples == nil || samples.Len() == 0 {
		return nil
	}
	return b.yield(samples)
}
