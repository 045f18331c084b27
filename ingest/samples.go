package ingest

// Samples is a batch of consecutive samples, stored in columns. The receiver owns it; slices
// returned by its methods are views that are valid as long as the batch.
type Samples struct {
	First int // index of the first sample in its perturbation set

	phenotypes      int // values per sample
	ids             []byte
	idEnds          []int
	genes           []uint32
	geneEnds        []int
	phenotypeValues []float64
}

// NewSamples makes an empty batch that starts at sample first, with the given number of phenotypes
// per sample and room for size samples.
func NewSamples(first, phenotypes, size int) *Samples {
	return &Samples{
		First: first, phenotypes: phenotypes,
		ids: make([]byte, 0, 8*size), idEnds: make([]int, 0, size),
		genes: make([]uint32, 0, 3*size), geneEnds: make([]int, 0, size),
		phenotypeValues: make([]float64, 0, phenotypes*size),
	}
}

// Append adds a sample; the arguments are copied. genes are perturbation
// indices, strictly ascending. len(phenotypes) is the number given to
// NewSamples; a missing value is NaN.
func (s *Samples) Append(id []byte, genes []uint32, phenotypes []float64) {
	s.ids = append(s.ids, id...)
	s.idEnds = append(s.idEnds, len(s.ids))
	s.genes = append(s.genes, genes...)
	s.geneEnds = append(s.geneEnds, len(s.genes))
	s.phenotypeValues = append(s.phenotypeValues, phenotypes...)
}

// Len is the number of samples.
func (s *Samples) Len() int { return len(s.idEnds) }

// ID returns the sample id of sample First+i.
func (s *Samples) ID(i int) []byte { return s.ids[start(s.idEnds, i):s.idEnds[i]] }

// Genes returns the perturbation indices of sample First+i, strictly ascending.
func (s *Samples) Genes(i int) []uint32 { return s.genes[start(s.geneEnds, i):s.geneEnds[i]] }

// Phenotypes returns the phenotype values of sample First+i; a missing value is NaN.
func (s *Samples) Phenotypes(i int) []float64 {
	return s.phenotypeValues[i*s.phenotypes : (i+1)*s.phenotypes]
}

func start(ends []int, i int) int {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// SampleSource is a perturbation set that can be read repeatedly, always with the same result, in
// memory that does not grow with its length.
type SampleSource interface {
	// PhenotypeNames are the names of the values of each sample, in order.
	PhenotypeNames() []string
	// Inputs identifies the files that the source reads, as they were when it was opened.
	Inputs() []Input
	// Scan reads all samples in order and passes them to yield in batches. It stops at its first
	// error or yield's. Bad data is a fault.Input that names file and line.
	Scan(yield func(*Samples) error) (Counts, error)
	// Unchanged returns a fault.Busy if a file's size has changed since it was opened, as when it
	// is still being written. Other changes end the Scan that meets them.
	Unchanged() error
	// Close closes the files.
	Close() error
}

// Counts is what one pass over a perturbation set found.
type Counts struct {
	Samples        int // samples read
	Wildtypes      int // samples that delete no gene
	UnknownGenes   int // gene names dropped from their samples because they are not in the graph
	DroppedSamples int // samples dropped because they delete a gene that is not in the graph
	EmptiedSamples int // samples dropped because all their genes are among UnknownGenes
	RepeatedGenes  int // gene names listed more than once in one sample; each counts once
	// infinite phenotype values of a torchcell store, which count as missing
	InfiniteValues int
}
