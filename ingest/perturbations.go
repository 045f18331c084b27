package ingest

import (
	"fmt"
	"io"
	"path/filepath"

	"tcbuild/ingest/table"
	"tcbuild/internal/fault"
)

// UnknownGenes says what happens to a gene name that the graph does not have.
type UnknownGenes string

const (
	RefuseUnknownGenes UnknownGenes = "error"  // stop with an error; the default
	IgnoreUnknownGenes UnknownGenes = "ignore" // drop the name from its genotype and count it
)

// PerturbationOptions says how a table holds a perturbation set. The zero value is
// the project's own layout: columns genes, sample_id and phenotypes.
type PerturbationOptions struct {
	UnknownGenes  UnknownGenes // "" is RefuseUnknownGenes
	AllowWildtype bool         // samples that delete no gene are no error

	GenesColumns  []string          // default genes; of several, each holds one gene or none
	GeneDelimiter string            // between the genes of a single text column; default |
	IDColumn      string            // default sample_id, which may be absent: then the sample's index
	Phenotypes    []string          // default: every other numeric column, in file order
	Text          table.TextOptions // layout of a text file
	Aliases       map[string]string // further names of genes, to ids of the graph; an id comes first
}

// batchSamples is how many samples Scan hands over at a time.
const batchSamples = 4096

// Perturbations is a perturbation set in a table file. It implements
// SampleSource; every Scan reads the file anew.
type Perturbations struct {
	path    string
	genes   *Nodes
	options PerturbationOptions
	layout  perturbationLayout
}

// OpenPerturbations finds out what the columns of a perturbation set are. In Arrow and
// Parquet files their types say it. In text, a column is a phenotype if its first value that is not
// missing is a number, or if it has no value at all: the file is read up to the row where
// that is known of every column. Bad data is a fault.Input, and so is a
// file without a column that is expected.
func OpenPerturbations(path string, genes *Nodes, options PerturbationOptions) (*Perturbations, error) {
	if options.GenesColumns == nil {
		options.GenesColumns = []string{"genes"}
	}
	if options.GeneDelimiter == "" {
		options.GeneDelimiter = "|"
	}
	switch options.UnknownGenes {
	case "", RefuseUnknownGenes, IgnoreUnknownGenes:
	default:
		return nil, fault.New(fault.Usage, "use error or ignore", "read perturbations: unknown genes are to be %q, expected error or ignore", options.UnknownGenes)
	}
	r, err := table.OpenText(path, options.Text)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	layout, err := findPerturbationLayout(path, r, options)
	if err != nil {
		return nil, err
	}
	return &Perturbations{path: path, genes: genes, options: options, layout: layout}, nil
}

// PhenotypeNames are the names of the phenotype columns.
func (p *Perturbations) PhenotypeNames() []string { return p.layout.phenotypeNames }

// IgnoredColumns are the names of the columns that are no part of the samples, in file order.
func (p *Perturbations) IgnoredColumns() []string { return p.layout.ignored }

// Inputs identifies the table file. It reads the file whole.
func (p *Perturbations) Inputs() ([]Input, error) {
	input, err := describeFile(p.path, filepath.Base(p.path))
	return []Input{input}, err
}

// Scan reads the samples. Batches hold up to 4096 samples, and each is the
// receiver's. Memory does not depend on the number of samples. The counts of a
// scan that failed are those up to the failure.
func (p *Perturbations) Scan(yield func(*Samples) error) (Counts, error) {
	var counts Counts
	r, err := table.OpenText(p.path, p.options.Text)
	if err != nil {
		return counts, err
	}
	defer r.Close()
	parser := sampleParser{Perturbations: p, counts: &counts, delimiter: []byte(p.options.GeneDelimiter), phenotypes: make([]float64, len(p.layout.phenotypes))}
	var samples *Samples
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return counts, err
		}
		for i := range b.Len {
			if samples == nil {
				samples = NewSamples(counts.Samples, len(p.layout.phenotypes), batchSamples)
			}
			if err := parser.parse(b, i, samples); err != nil {
				return counts, fmt.Errorf("read perturbations %s: %w", r.Where(b.First+int64(i)), err)
			}
			counts.Samples++
			if samples.Len() == batchSamples {
				if err := yield(samples); err != nil {
					return counts, err
				}
				samples = nil
			}
		}
	}
	if samples != nil {
		return counts, yield(samples)
	}
	return counts, nil
}
