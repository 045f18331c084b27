package samples

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples/torchcell"
	"tcbuild/ingest/table"
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

// openStore reads the whole store.
func openStore(path string, genes *ingest.Nodes, options reading) (Perturbations, error) {
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

func (p *storePerturbations) Of(known *names.Resolver) Perturbations {
	of := *p
	of.setGenes(known)
	return &of
}

func (p *storePerturbations) Inputs() []ingest.Input { return p.store.Inputs() }

func (p *storePerturbations) Unchanged() error { return p.store.Unchanged() }

func (p *storePerturbations) Place(row int64) (string, error) {
	return fmt.Sprintf("record %d", row), nil
}

func (p *storePerturbations) Close() error { return errors.Join(p.contents.Close(), p.store.Close()) }

// Batches reads the samples. Memory does not depend on their number.
func (p *storePerturbations) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		batch := ingest.NewBatcher(p.layout.columns, yield)
		parser := newRecordParser(p, account)
		p.missing = parser.genotype.missing
		controls := controlSamples{}
		var id []byte
		err := p.contents.Rows(func(r *torchcell.Row) error {
			account.Rows++
			genotype, keep, err := parser.parse(r)
			if err != nil {
				return fmt.Errorf("read perturbations %s: record %d: %w", p.path, r.Number, err)
			}
			if parser.genotype.onlyControls() {
				controls.add(func() string { return fmt.Sprintf("record %d", r.Number) })
			}
			if !keep {
				return nil
			}
			account.Kept++
			id = strconv.AppendInt(id[:0], int64(r.Number), 10)
			if !batch.Add(id, genotype, parser.phenotypes, parser.attributes) {
				return errStopped
			}
			return context.Cause(ctx)
		})
		if err == nil {
			err = p.Unchanged()
		}
		if err == nil {
			err = p.checkRemaining(account, p.path, &controls)
		}
		if err == nil {
			batch.Flush()
		} else if err != errStopped {
			yield(nil, err)
		}
	}
}

// layOut finds out which columns of the store are phenotypes and attributes, by the rules for
// tables: numbers are phenotypes, texts are attributes. What is noted of an experiment is an
// attribute in any case.
func (p *storePerturbations) layOut() error {
	columns := p.contents.Columns
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	kind := func(column int) table.Kind { return kindOf(columns[column]) }
	c := newPerturbationColumns(p.path, names, kind, p.options)
	if err := c.takeNamed(); err != nil {
		return err
	}
	for i, column := range columns {
		c.assign(i, columnContents{number: record(column.Number), text: record(column.Text), other: record(column.Other),
			noted: column.Attribute, measured: !column.Attribute})
		role := c.roles[i]
		if c.hidden(i) && c.kind(i) != table.Other {
			role = roleAttribute
		}
		if err := p.checkColumn(column, role); err != nil {
			return err
		}
	}
	if err := p.findKinds(c); err != nil {
		return err
	}
	if err := c.layOut(&p.layout); err != nil {
		return err
	}
	kept := p.layout.columns.Kept().Remaining()
	if p.layout.kinds < 0 && slices.Contains(kept.AttributeNames(), typesAttribute) {
		p.layout.columns.Kinds = typesAttribute
	}
	p.layout.columns.KindsApart = p.options.RemovingKinds != nil
	if err := checkRemoving(p.options.RemovingKinds, p.layout.columns, p.path); err != nil {
		return err
	}
	for k, at := range p.layout.phenotypes {
		column, phenotype := columns[at], &p.layout.columns.Phenotypes[k]
		phenotype.Unit, phenotype.Description = column.Unit, column.Description
		if of := column.StatisticOf; of >= 0 && slices.Contains(p.layout.phenotypes, of) {
			phenotype.StatisticOf = columns[of].Name
		}
	}
	return nil
}

// findKinds finds out which attribute has the kinds of a record's perturbations: perturbation_type,
// unless the options leave it out, or records have several experiments, each with its own. Then
// kinds has those of the whole record.
func (p *storePerturbations) findKinds(c *perturbationColumns) error {
	p.layout.kinds, p.layout.kindsAt, p.layout.kindsName = -1, -1, ingest.KindsAttribute
	var types []int
	for i, column := range p.contents.Columns {
		if column.Types {
			types = append(types, i)
		}
	}
	if len(types) == 0 || len(types) == 1 && c.roles[types[0]] == roleAttribute {
		return nil
	}
	if _, taken := c.at[ingest.KindsAttribute]; taken {
		return fault.New(fault.Input, "rename the label in the store",
			"read torchcell store %s: found a label kinds, "+
				"the name of the attribute with the kinds of perturbations", p.path)
	}
	p.layout.kinds = types[0]
	return nil
}

// typesAttribute is the attribute of a store that has the kinds of perturbations.
const typesAttribute = "perturbation_type"

// record names a record of the store, none if the number is negative.
func record(number int) string {
	if number < 0 {
		return ""
	}
	return strconv.Itoa(number)
}

// kindOf is the kind of the values of a column.
func kindOf(c torchcell.Column) table.Kind {
	switch {
	case c.Number < 0 && c.Text < 0 && c.Other >= 0:
		return table.Other
	case c.Text >= 0:
		return table.Text
	}
	return table.Number
}

// checkColumn returns an error for values that a column cannot have in its role.
func (p *storePerturbations) checkColumn(c torchcell.Column, role columnRole) error {
	leaveOut := "exclude the phenotype with --not-phenotypes " + fault.List([]string{c.Name})
	switch {
	case role == rolePhenotype && max(c.Text, c.Other) >= 0:
		return fault.New(fault.Input, "write the store again with torchcell, or "+leaveOut,
			"read torchcell store %s: record %d: phenotype %s: found a text, a list or an object, expected a number",
			p.path, first(c.Text, c.Other), fault.Quote(c.Name))
	case role == rolePhenotype && c.UnitDiffers >= 0:
		return fault.New(fault.Input, "write the store again with one unit, or "+leaveOut,
			"read torchcell store %s: record %d: phenotype %s: found a value in %s, expected %s as in the records before it",
			p.path, c.UnitDiffers, fault.Quote(c.Name), fault.Quote(c.OtherUnit), fault.Quote(c.Unit))
	case role == roleAttribute && c.Other >= 0:
		return fault.New(fault.Input, "write the store again with torchcell, or name other columns with --attributes",
			"read torchcell store %s: record %d: attribute %s: found a list, an object or a pointer, expected a text or a number",
			p.path, c.Other, fault.Quote(c.Name))
	case role == roleAttribute && c.Text >= 0 && c.Number >= 0:
		return fault.New(fault.Input, "write the store again with torchcell, or name other columns with --attributes",
			"read torchcell store %s: record %d: attribute %s: found a text, expected a number as in record %d",
			p.path, c.Text, fault.Quote(c.Name), c.Number)
	}
	return nil
}

// first is the first of two records; either may be -1 for none.
func first(a, b int) int {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}
