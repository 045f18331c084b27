package ingest

// IndexedSource is a perturbation set that finds a sample by its number, so that reading can
// begin anywhere and its size is known without reading it.
type IndexedSource interface {
	SampleSource
	// Counts is what Scan returns at its end.
	Counts() Counts
	// ScanRange is Scan for samples first to end-1, 0 <= first <= end <= Counts().Samples. The time
	// until the first batch does not depend on first.
	ScanRange(first, end int, yield func(*Samples) error) (Counts, error)
}
