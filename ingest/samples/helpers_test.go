package samples

import (
	"context"
	"iter"

	"tcbuild/conf"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/ingest/where"
)

// openFile is OpenFile for a path, with the names that a test knows besides ids.
func openFile(path string, genes *ingest.Nodes, spec Spec, known ...*names.Resolver) (Perturbations, error) {
	spec.File = path
	if err := conf.Check(&spec); err != nil {
		return nil, err
	}
	return OpenFile(spec, genes, append(known, nil)[0])
}

// openSet opens a set by name, with its filter, and checks its kinds as a survey does.
func openSet(name string, genes *ingest.Nodes, spec Spec) (ingest.SampleSource, error) {
	spec.File = name
	cell := &ingest.Graph{Genes: genes}
	if spec.Form() == ComputedForm {
		return OpenComputed(spec, cell)
	}
	set, err := openFile(name, genes, spec)
	if err != nil {
		return nil, err
	}
	filtered, err := where.NewSource(set, name, spec.Where, names.Of(cell))
	return checked{filtered, spec}, err
}

type checked struct {
	ingest.SampleSource
	spec Spec
}

func (c checked) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		kinds := ingest.NewKindCounter(c.Columns())
		for batch, err := range c.SampleSource.Batches(ctx, account) {
			if err == nil {
				kinds.Add(batch)
			}
			if !yield(batch, err) {
				return
			}
		}
		if err := c.spec.CheckKinds(kinds); err != nil {
			yield(nil, err)
		}
	}
}
