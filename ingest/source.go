package ingest

import (
	"context"
	"iter"
)

// MostSamples is the largest number of samples in a set. manifest.json lists a file per
// 65,536 samples, in 160 bytes, and is at most 64 MiB, which is enough for 2^34 samples and not for
// twice as many.
const MostSamples = 1 << 34

// SampleSource is a perturbation set that can be read repeatedly, always with the same result, in
// memory that does not grow with its length.
type SampleSource interface {
	// Columns are the phenotypes and attributes of each sample, in order.
	Columns() Columns
	// Inputs identifies the files that the source reads. It waits until they are digested.
	Inputs() []Input
	// Batches reads all samples in order, in batches, which can be empty; the receiver owns each.
	// The account gets what became of the rows. The last pair may have an error, and no batch: bad
	// data is a fault.Input that names file and line. Once ctx is done it is the cause of that.
	Batches(ctx context.Context, account *Account) iter.Seq2[*Samples, error]
	// Place names a row, counted from 0: "set.tsv:12". It reads the source up to there.
	Place(row int64) (string, error)
	// Unchanged returns a fault.Busy if a file changed since it was opened, as when it is still
	// being written. What was read is certain only then, errors about its content among it.
	Unchanged() error
	// Close closes the files.
	Close() error
}

// BatchSamples is the number of samples in a batch of a SampleSource. Batches of samples with
// many columns are smaller, about batchValues values, and so are those with long texts.
const (
	BatchSamples = 4096
	batchValues  = 1 << 21
	// BatchTexts is roughly the most bytes of ids and texts in a batch.
	BatchTexts = 32 << 20
)

// BatchSize is how many samples a batch has at most.
func BatchSize(columns Columns) int {
	values := max(len(columns.Phenotypes)+len(columns.Attributes), 1)
	return max(min(BatchSamples, batchValues/values), 1)
}
