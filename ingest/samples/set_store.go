package samples

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples/torchcell"
	"tcbuild/ingest/table"
)

// storeSet is a perturbation set in a torchcell store (see torchcell.Open), which is read to its
// end when it is opened: each record is a sample, its labels and their statistics are the
// phenotypes, and what is noted of its experiments the attributes.
type storeSet struct {
	spec      *Spec
	genotyper *Genotyper
	store     *torchcell.Store
	contents  *torchcell.Contents
	layout    *layout
}

func openStore(spec Spec, known *names.Resolver) (ingest.SampleSource, error) {
	p := &storeSet{spec: &spec}
	var err error
	if p.genotyper, err = spec.genotyper(known); err != nil {
		return nil, err
	}
	p.genotyper.merges = true // it has a kind for each perturbation of a gene
	if p.store, err = torchcell.Open(spec.File); err != nil {
		return nil, err
	}
	if p.contents, err = torchcell.Read(p.store); err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	if err := p.layOut(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *storeSet) Columns() ingest.Columns { return p.layout.columns }

func (p *storeSet) Inputs() []ingest.Input { return p.store.Inputs() }

func (p *storeSet) Unchanged() error { return p.store.Unchanged() }

func (p *storeSet) Place(row int64) (string, error) { return fmt.Sprintf("record %d", row), nil }

func (p *storeSet) Close() error { return p.store.Close() }

// Batches reads the samples. Memory does not depend on their number.
func (p *storeSet) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		s := &scan[*torchcell.Chunk]{
			columns: p.layout.columns, genotyper: p.genotyper, newForm: p.newForm,
			read: p.sendParts,
			where: func(record int64) string {
				return fmt.Sprintf("%s: record %d", p.spec.File, record)
			},
		}
		for batch, err := range s.batches(ctx, account) {
			if !yield(batch, err) || err != nil {
				return
			}
		}
		if err := p.Unchanged(); err != nil {
			yield(nil, err)
		}
	}
}

func (p *storeSet) sendParts(send func(*part[*torchcell.Chunk]) error) error {
	return p.store.Chunks(func(chunk *torchcell.Chunk) error {
		return send(&part[*torchcell.Chunk]{batch: chunk, to: chunk.Len()})
	})
}

// layOut finds out which columns of the store are phenotypes and attributes, by the rules for
// tables: numbers are phenotypes, texts are attributes. Notes on an experiment are always
// attributes.
func (p *storeSet) layOut() error {
	columns := p.contents.Columns
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	t := newColumnTable(p.spec.File, p.spec, names,
		func(column int) table.Kind { return kindOf(columns[column]) })
	if err := t.nameRoles(); err != nil {
		return err
	}
	for i, column := range columns {
		t.all[i].columnContents = columnContents{number: column.Number.String(),
			text: column.Text.String(), other: column.Other.String(),
			noted: column.Attribute, measured: !column.Attribute}
		t.decide(&t.all[i])
		if err := p.checkColumn(column, t.all[i].role); err != nil {
			return err
		}
	}
	if err := p.findKinds(t); err != nil {
		return err
	}
	var err error
	if p.layout, err = t.layOut(); err != nil {
		return err
	}
	if !p.layout.hasKinds &&
		slices.Contains(p.layout.columns.AttributeNames(), typesAttribute) {
		p.layout.columns.Kinds = typesAttribute
	}
	p.layout.columns.KindsApart = p.spec.RemovingKinds != nil
	if err := p.spec.checkRemoving(p.layout.columns); err != nil {
		return err
	}
	for k, at := range p.layout.phenotypes {
		column, phenotype := columns[at], &p.layout.columns.Phenotypes[k]
		phenotype.Unit, phenotype.Description = column.Unit, column.Description
		isPhenotype := func(k int) bool { return columns[k].Name == column.StatisticOf }
		if slices.ContainsFunc(p.layout.phenotypes, isPhenotype) {
			phenotype.StatisticOf = column.StatisticOf
		}
	}
	return nil
}

// findKinds finds out which column has the kinds of a record's perturbations, if the attribute
// perturbation_type does not: the spec leaves it out, or records have several experiments, each
// with its own. Then the attribute kinds has the kinds of the whole record.
func (p *storeSet) findKinds(t *columnTable) error {
	var types []int
	for i, column := range p.contents.Columns {
		if column.Types {
			types = append(types, i)
		}
	}
	if len(types) == 0 || len(types) == 1 && t.all[types[0]].role == roleAttribute {
		return nil
	}
	if _, taken := t.at[ingest.KindsAttribute]; taken {
		return fault.New(fault.Input, "rename the label in the store",
			"read torchcell store %s: found a label kinds, "+
				"the name of the attribute with the kinds of perturbations", p.spec.File)
	}
	t.kinds, t.hasKinds = types[0], true
	return nil
}

// typesAttribute is the attribute of a store that has the kinds of perturbations.
const typesAttribute = "perturbation_type"

// kindOf is the kind of the values of a column.
func kindOf(c torchcell.Column) table.Kind {
	switch {
	case c.Other.Found && !c.Number.Found && !c.Text.Found:
		return table.Other
	case c.Text.Found:
		return table.Text
	}
	return table.Number
}

// checkColumn returns an error for values that a column cannot have in its role.
func (p *storeSet) checkColumn(c torchcell.Column, role columnRole) error {
	const leaveOut = "name other columns with --phenotypes"
	const inStore = "read torchcell store %s: record %s: "
	const again = "write the store again with torchcell, or "
	const nameOthers = again + "name other columns with --attributes"
	switch {
	case role == rolePhenotype && c.Text.Or(c.Other).Found:
		return fault.New(fault.Input, again+leaveOut,
			inStore+"phenotype %s: found a text, a list or an object, expected a number",
			p.spec.File, c.Text.Or(c.Other), fault.Quote(c.Name))
	case role == rolePhenotype && c.UnitDiffers.Found:
		return fault.New(fault.Input, "write the store again with one unit, or "+leaveOut,
			inStore+"phenotype %s: found a value in %s, expected %s as in the records before it",
			p.spec.File, c.UnitDiffers, fault.Quote(c.Name), fault.Quote(c.OtherUnit),
			fault.Quote(c.Unit))
	case role == roleAttribute && c.Other.Found:
		return fault.New(fault.Input, nameOthers,
			inStore+"attribute %s: found a list, an object or a pointer, "+
				"expected a text or a number",
			p.spec.File, c.Other, fault.Quote(c.Name))
	case role == roleAttribute && c.Text.Found && c.Number.Found:
		return fault.New(fault.Input, nameOthers,
			inStore+"attribute %s: found a text, expected a number as in record %s",
			p.spec.File, c.Text, fault.Quote(c.Name), c.Number)
	}
	return nil
}
