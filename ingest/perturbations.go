package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// PerturbationOptions says how a table holds a perturbation set. The zero value is
// the project's own layout: columns genes, sample_id and phenotypes.
type PerturbationOptions struct {
	UnknownGenes  UnknownGenes // "" is RefuseUnknownGenes
	AllowWildtype bool         // samples that delete no gene are no error
	// AllowDuplicateIDs takes samples with the id of another one, or with none. Without it, finding
	// them costs 9 to 19 bytes per sample.
	AllowDuplicateIDs bool

	GenesColumns  []string // default genes; of several, each holds one gene or none
	GeneDelimiter string   // between the genes of a single text column; default |
	// default sample_id, which may be absent: then the row's number, from 0
	IDColumn      string
	Phenotypes    []string          // default: every other column of numbers, in file order
	NotPhenotypes []string          // columns that are left out, whatever they hold
	Text          table.TextOptions // layout of a text file
	// further names of genes, to ids of the graph; an id comes first
	Aliases map[string]string
}

const (
	defaultGenesColumn   = "genes"
	defaultIDColumn      = "sample_id"
	defaultGeneDelimiter = "|"
)

// Perturbations is a perturbation set in a table file or in a torchcell store. It implements
// SampleSource; every Scan reads the files anew. It must be closed.
type Perturbations struct{ perturbations }

type perturbations interface {
	SampleSource
	// IgnoredColumns are the names of the columns that are no part of the samples, in file order.
	IgnoredColumns() []string
	// of the genes that the set deletes; a name lives as long as the call
	eachName(ctx context.Context, note func(name []byte)) error
	of(genes *Nodes) perturbations
}

// OpenPerturbations finds out what the columns of a perturbation set are. In Arrow and Parquet
// files their types say it: numbers and booleans, 0 and 1, are phenotypes. A text table is read to
// its end, unless options.Phenotypes names them: a column is a phenotype if it has a number, or no
// value at all. One that has both numbers and other text, in whatever order, is an error that names
// the first such text. Bad data is a fault.Input, and so is a file without a column that is
// expected. A folder is a torchcell store (see torchcell.Open): each record is a sample, and its
// labels and their statistics are the phenotypes.
func OpenPerturbations(path string, genes *Nodes, options PerturbationOptions) (*Perturbations, error) {
	if err := options.prepare(path); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		p, err := openStore(path, genes, options)
		if err != nil {
			return nil, err
		}
		return &Perturbations{p}, nil
	}
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	p, err := NewPerturbations(file, genes, options)
	if err != nil {
		file.Close()
	}
	return p, err
}

// NewPerturbations is OpenPerturbations of a table that is open. If there is no error the file
// becomes the set's, which closes it.
func NewPerturbations(file *inputfile.File, genes *Nodes, options PerturbationOptions) (*Perturbations, error) {
	if err := options.prepare(file.Path()); err != nil {
		return nil, err
	}
	r, err := table.OpenFile(file, options.Text)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	layout, err := findPerturbationLayout(file.Path(), r, options)
	if err != nil {
		return nil, err
	}
	return &Perturbations{&tablePerturbations{file: file, genes: genes, options: options, layout: layout}}, nil
}

// prepare puts the defaults in, and checks what does not depend on the file.
func (o *PerturbationOptions) prepare(path string) error {
	if o.GenesColumns == nil {
		o.GenesColumns = []string{defaultGenesColumn}
	}
	if o.GeneDelimiter == "" {
		o.GeneDelimiter = defaultGeneDelimiter
	}
	if err := o.UnknownGenes.Check(); err != nil {
		return fmt.Errorf("read perturbations %s: %w", path, err)
	}
	return nil
}

// tablePerturbations is a perturbation set in a table file.
type tablePerturbations struct {
	file    *inputfile.File
	genes   *Nodes
	options PerturbationOptions
	layout  perturbationLayout

	distinctIDs bool // as a whole Scan found
}

func (p *tablePerturbations) PhenotypeNames() []string { return p.layout.phenotypeNames }

func (p *tablePerturbations) IgnoredColumns() []string { return p.layout.ignored }

func (p *tablePerturbations) Inputs() []Input {
	return []Input{p.file.Input(filepath.Base(p.file.Path()))}
}

func (p *tablePerturbations) Unchanged() error { return p.file.Unchanged() }

func (p *tablePerturbations) Close() error { return p.file.Close() }

// Scan reads the samples. Memory does not depend on their number, but for the first whole Scan of a
// table with sample ids: it checks that no two are the same, with 9 to 19 bytes for each. The
// counts of a scan that failed are those up to the failure.
func (p *tablePerturbations) Scan(yield func(*Samples) error) (Counts, error) {
	batch := newBatcher(len(p.layout.phenotypes), yield)
	r, err := table.OpenFile(p.file, p.options.Text)
	if err != nil {
		return batch.counts, err
	}
	defer r.Close()
	parser := newSampleParser(p, &batch.counts)
	parser.ids = p.sampleIDs()
	for {
		b, err := r.Next()
		if err == io.EOF {
			p.distinctIDs = true
			return batch.counts, batch.end(p.file.Path(), parser.genotype.unknown)
		}
		if err != nil {
			return batch.counts, err
		}
		for i := range b.Len {
			kept, err := parser.parse(b, i, batch.room())
			if err != nil {
				return batch.counts, fmt.Errorf("read perturbations %s: %w", r.Where(b.First+int64(i)), err)
			}
			if !kept {
				continue
			}
			if err := batch.added(); err != nil {
				return batch.counts, err
			}
		}
	}
}

// SampleIDs returns what checks the ids of one reading of the table by another reader: nil where
// ids are not read from it, or may be shared.
func (p *Perturbations) SampleIDs() *SampleIDs {
	if t, ok := p.perturbations.(*tablePerturbations); ok {
		return t.sampleIDs()
	}
	return nil
}

func (p *tablePerturbations) sampleIDs() *SampleIDs {
	if p.layout.id < 0 || p.options.AllowDuplicateIDs || p.distinctIDs {
		return nil
	}
	return &SampleIDs{earlier: p.rowOf}
}

// rowOf says where the first row above the given one stands that has a sample id, "" if there is
// none. It reads the table anew.
func (p *tablePerturbations) rowOf(id []byte, above int64) (where string, err error) {
	r, err := table.OpenFile(p.file, p.options.Text)
	if err != nil {
		return "", err
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if err == io.EOF {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		for i := range b.Len {
			row := b.First + int64(i)
			if row == above {
				return "", nil
			}
			if bytes.Equal(b.Text(p.layout.id, i), id) {
				return r.Where(row), nil
			}
		}
	}
}
