package ingest

// IndexedSource is a perturbation set with random access: reading can start at any sample, and the
// counts are known without reading.
type IndexedSource interface {
	SampleSource
	// Counts returns what a whole Scan returns.
	Counts() Counts
	// ScanRange is Scan for samples first to end-1, 0 <= first <= end <= Counts().Samples. The time
	// until the first batch does not depend on first.
	ScanRange(first, end int, yield func(*Samples) error) (Counts, error)
}
