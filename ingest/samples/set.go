package samples

import (
	"context"
	"iter"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples/duplicates"
)

// Set is a perturbation set as its spec says. Its stages are, in order:
//
//	form → account → duplicates
type Set struct {
	ingest.SampleSource
	spec    Spec
	names   *names.Resolver
	account ingest.Account // of the latest pass
	ended   bool           // that pass has read all rows
}

// Open opens a perturbation set for a graph. It must be closed.
func Open(spec Spec, cell *ingest.Graph) (*Set, error) {
	if err := spec.Prepare(); err != nil {
		return nil, err
	}
	s := &Set{spec: spec, names: names.Of(cell)}
	source, err := openForm(spec, s.names)
	if err != nil {
		return nil, err
	}
	s.SampleSource = duplicates.Count(&accounted{source, s}, spec.Duplicates, spec.File)
	return s, nil
}

// openForm opens a set whose rows nobody accounts for.
func openForm(spec Spec, known *names.Resolver) (ingest.SampleSource, error) {
	if spec.isStore() {
		return openStore(spec, known)
	}
	return openTable(spec, known)
}

// DroppedNames returns a table of the names that the latest pass dropped (see
// Account.DroppedNames), or nil if it ended before the last row.
func (s *Set) DroppedNames() []byte {
	if !s.ended {
		return nil
	}
	return s.account.DroppedNames(s.explainDropped)
}

// explainDropped says why a name was dropped.
func (s *Set) explainDropped(name string) string {
	answer := s.names.Find([]byte(name))
	switch {
	case answer.Meaning == names.Date:
		return names.ADate
	case !answer.Known():
		return "unknown"
	}
	why := "not in the graph: "
	if answer.Meaning == names.Ambiguous {
		why = "ambiguous: "
	}
	return why + strings.Join(s.names.Owners([]byte(name)), ", ")
}

// accounted is the stage that checks the account of a set at the end of a pass.
type accounted struct {
	ingest.SampleSource
	set *Set
}

func (a *accounted) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		read := &a.set.account
		*read, a.set.ended = ingest.Account{}, false
		defer func() { account.Merge(read) }()
		for batch, err := range a.SampleSource.Batches(ctx, read) {
			if !yield(batch, err) || err != nil {
				return
			}
		}
		a.set.ended = true
		if err := a.check(read); err != nil {
			yield(nil, err)
		}
	}
}

// check returns an error for a set that loses too many rows, and for one whose samples delete
// nothing.
func (a *accounted) check(account *ingest.Account) error {
	spec := &a.set.spec
	for _, name := range spec.Controls {
		if a.set.names.Exact([]byte(name)).Known() {
			account.Add(ingest.ControlAlias, 1)
		}
	}
	if err := a.checkControls(account); err != nil {
		return err
	}
	share := ingest.DefaultMaxDropped
	if spec.MaxDropped != nil {
		share = *spec.MaxDropped
	}
	hint := "check the columns of genes"
	if spec.isStore() {
		hint = "check that it is the right store"
	}
	return account.Check(spec.File, share, hint, a.set.names.Advice(account.Names))
}

// checkControls returns an error for samples with only controls if wild types are not allowed, or
// if there are no others.
func (a *accounted) checkControls(account *ingest.Account) error {
	spec := &a.set.spec
	dropped, kept := account.Sum(ingest.OnlyControls), account.Sum(ingest.ControlSample)
	samples := account.Kept + dropped
	path, controls := spec.File, fault.List(slices.Sorted(slices.Values(spec.Controls)))
	switch found := dropped + kept; {
	case found > 0 && found == samples:
		return fault.New(fault.Input, "check --controls: its names delete nothing",
			"read perturbations %s: all %s have only controls (%s), "+
				"expected at least one that deletes a gene",
			path, ingest.Plural(found, "sample", ""), controls)
	case dropped > 0:
		first, err := a.Place(account.First(ingest.OnlyControls))
		if err != nil {
			return err
		}
		return fault.New(fault.Input, controlsHint,
			"read perturbations %s: %s of %s have only controls (%s), the first %s, "+
				"expected samples that delete a gene",
			path, ingest.Grouped(dropped), ingest.Plural(samples, "sample", ""), controls, first)
	}
	return nil
}

const controlsHint = "to train on the unperturbed graph, too, set allow_wildtype=true"
