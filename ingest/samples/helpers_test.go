package samples

import (
	"cmp"
	"context"
	"iter"
	"strings"

	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

// openFile opens a set in a file, with the names that a test knows besides ids. Any share of its
// rows may be dropped.
func openFile(
	path string, genes *ingest.Nodes, spec Spec, known ...*names.Resolver,
) (ingest.SampleSource, error) {
	spec.File = path
	if err := spec.Prepare(); err != nil {
		return nil, err
	}
	spec.MaxDropped = new(1.0)
	resolver := append(known, nil)[0]
	if resolver == nil {
		resolver = names.Of(&ingest.Graph{Genes: cmp.Or(genes, &ingest.Nodes{Type: ingest.Gene})})
	}
	form, err := openForm(spec, resolver)
	if err != nil {
		return nil, err
	}
	return lenient{&accounted{form, &Set{spec: spec, names: resolver}}}, nil
}

// lenient is a set that may have no rows.
type lenient struct{ ingest.SampleSource }

func (l lenient) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		for batch, err := range l.SampleSource.Batches(ctx, account) {
			isEmpty := err != nil && strings.Contains(err.Error(), "found no rows")
			if isEmpty || !yield(batch, err) {
				return
			}
		}
	}
}

// openSet opens a set by name, and checks its kinds as a survey does.
func openSet(name string, genes *ingest.Nodes, spec Spec) (ingest.SampleSource, error) {
	spec.File = name
	set, err := Open(spec, &ingest.Graph{Genes: genes})
	if err != nil {
		return nil, err
	}
	return checked{set}, nil
}

type checked struct{ *Set }

func (c checked) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		kinds := ingest.NewKindCounter(c.Columns())
		for batch, err := range c.Set.Batches(ctx, account) {
			if err == nil {
				kinds.Add(batch)
			}
			if !yield(batch, err) {
				return
			}
		}
		if err := c.CheckKinds(kinds); err != nil {
			yield(nil, err)
		}
	}
}
