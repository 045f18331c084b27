package ingest

import (
	"bytes"
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
	path    string
	genes   *Nodes
	options PerturbationOptions
	store   *torchcell.Store
	columns *torchcell.Columns
}

// PerturbationFiles returns the paths of the files that OpenPerturbations reads.
func PerturbationFiles(path string) []string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return torchcell.Files(path)
	}
	return []string{path}
}

// openStore reads the whole store, to find the phenotypes.
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
	columns, err := torchcell.NewColumns(store)
	if err == nil {
		err = columns.Keep(options.Phenotypes, options.NotPhenotypes)
	}
	if err != nil {
		store.Close()
		return nil, err
	}
	return &storePerturbations{path, genes, options, store, columns}, nil
}

func (p *storePerturbations) Columns() Columns {
	return Columns{Phenotypes: NamedPhenotypes(p.columns.Names()...)}
}

func (p *storePerturbations) IgnoredColumns() []string { return p.columns.Ignored() }

func (p *storePerturbations) Inputs() []Input { return p.store.Inputs() }

func (p *storePerturbations) Unchanged() error { return p.store.Unchanged() }

func (p *storePerturbations) Close() error { return p.store.Close() }

// Scan reads the samples. Memory does not depend on their number. If the scan fails, the counts are
// those up to the failure.
func (p *storePerturbations) Scan(yield func(*Samples) error) (Counts, error) {
	phenotypes := make([]float64, len(p.columns.Names()))
	batch := newBatcher(p.Columns(), yield)
	parser := genotypeParser{genes: p.genes, options: p.options, counts: &batch.counts}
	var id []byte
	err := p.store.Records(func(r *torchcell.Record) error {
		genotype, keep, err := parseRecord(&parser, r)
		if err != nil {
			return fmt.Errorf("read perturbations %s: record %d: %w", p.path, r.Number, err)
		}
		if !keep {
			return nil
		}
		id = strconv.AppendInt(id[:0], int64(r.Number), 10)
		batch.counts.InfiniteValues += p.columns.Fill(r, phenotypes)
		batch.room().Append(id, genotype, phenotypes, nil)
		return batch.added()
	})
	if err != nil {
		return batch.counts, err
	}
	return batch.counts, batch.end(p.path, parser.unknown)
}

// parseRecord returns the genotype of a record. Its experiments usually name the same genes, which
// then count once.
func parseRecord(p *genotypeParser, r *torchcell.Record) (genotype []uint32, keep bool, err error) {
	p.begin()
	for i := range r.Experiments {
		genes := r.Experiments[i].Genes
		if i > 0 && slices.EqualFunc(genes, r.Experiments[0].Genes, bytes.Equal) {
			continue
		}
		for _, name := range genes {
			if err := p.add(name); err != nil {
				return nil, false, err
			}
		}
	}
	return p.end()
}
