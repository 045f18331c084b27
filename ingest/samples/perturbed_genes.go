package samples

import (
	"context"
	"maps"
	"slices"

	"tcbuild/ingest"
	"tcbuild/ingest/samples/torchcell"
	"tcbuild/ingest/table"
)

// PerturbedGenes returns the names of the genes that the set deletes, ascending, whether or not
// they are in a graph. It reads the whole set. If it is a table, its genes must be in one column.
// It skips empty names; Scan reports them with their row.
func (p *Perturbations) PerturbedGenes(ctx context.Context) ([]string, error) {
	names := make(map[string]bool)
	err := p.eachName(ctx, func(name []byte) {
		if len(name) > 0 && !names[string(name)] && !p.isControl(name) {
			names[string(name)] = true
		}
	})
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// Of returns the set, on the same open files, with deletions of other genes. Closing either closes
// both.
func (p *Perturbations) Of(genes *ingest.Nodes) *Perturbations {
	switch p := p.perturbations.(type) {
	case *tablePerturbations:
		of := *p
		of.genes = genes
		return &Perturbations{&of}
	default:
		of := *p.(*storePerturbations)
		of.genes = genes
		return &Perturbations{&of}
	}
}

func (p *storePerturbations) eachName(ctx context.Context, note func(name []byte)) error {
	return p.contents.Rows(func(r *torchcell.Row) error {
		for _, perturbations := range r.Genotypes {
			for _, perturbation := range perturbations {
				note(perturbation.Gene)
			}
		}
		return context.Cause(ctx)
	})
}

func (p *tablePerturbations) eachName(ctx context.Context, note func(name []byte)) error {
	r, err := table.OpenFile(p.file, p.options.Text)
	if err != nil {
		return err
	}
	defer r.Close()
	column, delimiter := p.layout.genes[0], []byte(p.options.GeneDelimiter)
	for b, err := range r.Batches() {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for i := range b.Len {
			for _, name := range b.List(column, i) {
				note(name)
			}
			// a list has no text
			rest := b.Text(column, i)
			for more := true; more; {
				var name []byte
				name, rest, more = p.options.controls.cut(rest, delimiter)
				note(name)
			}
		}
	}
	return nil
}
