package ingest

// IndexedSource is a perturbation set with random access: reading can start at any sample, and the
// counts are known without reading.
type IndexedSource interface {
	SampleSource
	// Counts returns what a whole Scan returns.
	Counts() Counts
	SampleRanges
}

// SampleRanges gives access to the samples of a set from any of them on.
type SampleRanges interface {
	// ScanRange passes samples first to end-1, 0 <= first <= end <= all, to yield, in batches of
	// size samples; the last has the rest. The time until the first batch does not depend on first.
	ScanRange(first, end, size int, yield func(*Samples) error) error
}
