package ingest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tcbuild/ingest/table"
)

// PerturbationOptions says how a table holds a perturbation set. The zero value is
// the project's own layout: columns genes, sample_id and phenotypes.
type PerturbationOptions struct {
	UnknownGenes  UnknownGenes // "" is RefuseUnknownGenes
	AllowWildtype bool         // samples that delete no gene are no error

	GenesColumns  []string          // default genes; of several, each holds one gene or none
	GeneDelimiter string            // between the genes of a single text column; default |
	IDColumn      string            // default sample_id, which may be absent: then the sample's index
	Phenotypes    []string          // default: every other column of numbers, in file order
	NotPhenotypes []string          // columns that are left out, whatever they hold
	Text          table.TextOptions // layout of a text file
	Aliases       map[string]string // further names of genes, to ids of the graph; an id comes first
}

const (
	defaultGenesColumn   = "genes"
	defaultIDColumn      = "sample_id"
	defaultGeneDelimiter = "|"
)

// Perturbations is a perturbation set in a table file or in a torchcell store. It implements
// SampleSource; every Scan reads the files anew.
type Perturbations struct{ perturbations }

type perturbations interface {
	SampleSource
	// IgnoredColumns are the names of the columns that are no part of the samples, in file order.
	IgnoredColumns() []string
}

// OpenPerturbations finds out what the columns of a perturbation set are. In Arrow and
// Parquet files their types say it: numbers and booleans, 0 and 1, are phenotypes. A text table is read to its end, unless
// options.Phenotypes names them: a column is a phenotype if it has a number, or no value at all. One that has both numbers and
// other text, in whatever order, is an error that names the first such text. Bad data is a fault.Input, and so is a
// file without a column that is expected. A folder is a torchcell store (see
// torchcell.Open): each record is a sample, and its labels and their statistics are the phenotypes.
func OpenPerturbations(path string, genes *Nodes, options PerturbationOptions) (*Perturbations, error) {
	if options.GenesColumns == nil {
		options.GenesColumns = []string{defaultGenesColumn}
	}
	if options.GeneDelimiter == "" {
		options.GeneDelimiter = defaultGeneDelimiter
	}
	if err := options.UnknownGenes.Check(); err != nil {
		return nil, fmt.Errorf("read perturbations %s: %w", path, err)
	}
	var p perturbations
	var err error
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		p, err = openStore(path, genes, options)
	} else {
		p, err = openTable(path, genes, options)
	}
	if err != nil {
		return nil, err
	}
	return &Perturbations{p}, nil
}

// tablePerturbations is a perturbation set in a table file.
type tablePerturbations struct {
	path    string
	genes   *Nodes
	options PerturbationOptions
	layout  perturbationLayout
}

func openTable(path string, genes *Nodes, options PerturbationOptions) (*tablePerturbations, error) {
	r, err := table.OpenText(path, options.Text)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	layout, err := findPerturbationLayout(path, r, options)
	if err != nil {
		return nil, err
	}
	return &tablePerturbations{path, genes, options, layout}, nil
}

func (p *tablePerturbations) PhenotypeNames() []string { return p.layout.phenotypeNames }

func (p *tablePerturbations) IgnoredColumns() []string { return p.layout.ignored }

// Inputs identifies the table file. It reads the file whole.
func (p *tablePerturbations) Inputs() ([]Input, error) {
	input, err := describeFile(p.path, filepath.Base(p.path))
	return []Input{input}, err
}

// Scan reads the samples. Memory does not depend on their number. The counts of a
// scan that failed are those up to the failure.
func (p *tablePerturbations) Scan(yield func(*Samples) error) (Counts, error) {
	batch := newBatcher(len(p.layout.phenotypes), yield)
	r, err := table.OpenText(p.path, p.options.Text)
	if err != nil {
		return batch.counts, err
	}
	defer r.Close()
	parser := newSampleParser(p, &batch.counts)
	for {
		b, err := r.Next()
		if err == io.EOF {
			return batch.counts, batch.flush()
		}
		if err != nil {
			return batch.counts, err
		}
		for i := range b.Len {
			if err := parser.parse(b, i, batch.room()); err != nil {
				return batch.counts, fmt.Errorf("read perturbations %s: %w", r.Where(b.First+int64(i)), err)
			}
			if err := batch.added(); err != nil {
				return batch.counts, err
			}
		}
	}
}
