package duplicates

import "tcbuild/ingest"

const (
	batchSamples = 4096
	batchValues  = 1 << 21 // about as many in a batch at most
)

// output passes samples on in batches.
type output struct {
	columns ingest.Columns
	size    int
	yield   func(*ingest.Samples) error
	samples *ingest.Samples // nil or not full
	count   int
}

func newOutput(columns ingest.Columns, yield func(*ingest.Samples) error) *output {
	values := max(len(columns.Phenotypes)+len(columns.Attributes), 1)
	return &output{columns: columns, size: max(min(batchSamples, batchValues/values), 1), yield: yield}
}

// pass passes on a batch as it is.
func (o *output) pass(samples *ingest.Samples) error {
	o.count += samples.Len()
	return o.yield(samples)
}

// add appends a sample.
func (o *output) add(samples *ingest.Samples, i int) error {
	return o.addWith(samples, i, samples.Phenotypes(i))
}

// addWith appends a sample with other phenotypes.
func (o *output) addWith(samples *ingest.Samples, i int, phenotypes []float64) error {
	if o.samples == nil {
		o.samples = ingest.NewSamples(o.count, o.columns, o.size)
	}
	o.samples.Append(samples.ID(i), samples.Genes(i), phenotypes, samples.Attributes(i))
	if o.count++; o.samples.Len() == o.size {
		return o.flush()
	}
	return nil
}

func (o *output) flush() error {
	samples := o.samples
	if o.samples = nil; samples == nil {
		return nil
	}
	return o.yield(samples)
}
