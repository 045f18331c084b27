package ingest

import (
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest/table"
	"tcbuild/ingest/torchcell"
)

// layOut finds out which columns of the store are phenotypes and attributes, by the rules for
// tables: numbers are phenotypes, texts are attributes. What is noted of an experiment is an
// attribute in any case.
func (p *storePerturbations) layOut() error {
	columns := p.contents.Columns
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	c := newPerturbationColumns(p.path, names, func(column int) table.Kind { return kindOf(columns[column]) })
	if err := c.takeNamed(p.options); err != nil {
		return err
	}
	for i, column := range columns {
		c.types[i] = NumberAttribute
		if column.Text >= 0 {
			c.types[i] = TextAttribute
		}
		switch {
		case c.roles[i] != roleOpen || c.kind(i) == table.Other:
		case column.Attribute || c.types[i] == TextAttribute && column.Number < 0:
			if p.options.Attributes == nil {
				c.roles[i] = roleAttribute
			}
		case p.options.Phenotypes == nil:
			c.roles[i] = rolePhenotype
		}
		role := c.roles[i]
		if c.filterOnly(i) && c.kind(i) != table.Other {
			role = roleAttribute
		}
		if err := p.checkColumn(column, role); err != nil {
			return err
		}
	}
	if err := c.layOut(&p.layout, p.options); err != nil {
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

// first is the first of two records, either of which may be -1 for none.
func first(a, b int) int {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}
