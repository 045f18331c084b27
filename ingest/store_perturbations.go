package ingest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"tcbuild/fault"
	"tcbuild/ingest/torchcell"
)

// storePerturbations is a perturbation set in a torchcell store: each record is a sample, named by
// its number. As in torchcell, a perturbation of any type deletes its gene, and a sample deletes
// the genes of all experiments in its record.
type storePerturbations struct {
	perturbationSet
	path     string
	store    *torchcell.Store
	contents *torchcell.Contents
}

// PerturbationFiles returns the paths of the files that OpenPerturbations reads.
func PerturbationFiles(path string) []string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return torchcell.Files(path)
	}
	return []string{path}
}

// openStore reads the whole store.
func openStore(path string, genes *Nodes, options PerturbationOptions) (*storePerturbations, error) {
	if !slices.Equal(options.GenesColumns, []string{defaultGenesColumn}) || options.GeneDelimiter != defaultGeneDelimiter ||
		options.IDColumn != "" || options.Text.Delimiter != 0 || options.Text.Columns != nil {
		return nil, fault.New(fault.Usage, "omit the flags for columns and delimiters",
			"read perturbations %s: found a torchcell store, expected a table", path)
	}
	store, err := torchcell.Open(path)
	if err != nil {
		return nil, err
	}
	p := &storePerturbations{perturbationSet: perturbationSet{genes: genes, options: options}, path: path, store: store}
	if p.contents, err = torchcell.Read(store); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if err := p.layOut(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *storePerturbations) Inputs() []Input { return p.store.Inputs() }

func (p *storePerturbations) Unchanged() error { return p.store.Unchanged() }

func (p *storePerturbations) Close() error { return errors.Join(p.contents.Close(), p.store.Close()) }

// Scan reads the samples. Memory does not depend on their number. If the scan fails, the counts are
// those up to the failure.
func (p *storePerturbations) Scan(yield func(*Samples) error) (Counts, error) {
	batch := NewBatcher(p.layout.columns, yield)
	parser := newRecordParser(p, &batch.Counts)
	var id []byte
	err := p.contents.Rows(func(r *torchcell.Row) error {
		genotype, keep, err := parser.parse(r)
		if err != nil {
			return fmt.Errorf("read perturbations %s: record %d: %w", p.path, r.Number, err)
		}
		if !keep {
			return nil
		}
		id = strconv.AppendInt(id[:0], int64(r.Number), 10)
		return batch.Add(id, genotype, parser.phenotypes, parser.attributes)
	})
	if err == nil {
		err = p.Unchanged()
	}
	if err != nil {
		return batch.Counts, err
	}
	return batch.Counts, p.end(batch, p.path)
}
