package ingest

import (
	"fmt"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/table"
)

// perturbationLayout records which columns of a table hold what.
type perturbationLayout struct {
	genes      []int
	list       bool // the genes column holds lists; then it is the only one
	id         int  // -1: samples are named by their row
	phenotypes []int
	attributes []int
	columns    Columns // names and types of phenotypes and attributes
	ignored    []string
}

// findPerturbationLayout finds out what the columns of a table hold. It reads a text table to its
// end, unless the options name both phenotypes and attributes.
func findPerturbationLayout(path string, r *table.Reader, options PerturbationOptions) (perturbationLayout, error) {
	c := newPerturbationColumns(path, r.Columns(), r.Kind)
	layout := perturbationLayout{}
	if err := c.findGenes(&layout, options.GenesColumns); err != nil {
		return layout, err
	}
	if err := c.findID(&layout, options.IDColumn); err != nil {
		return layout, err
	}
	if err := c.takeNamed(options); err != nil {
		return layout, err
	}
	if err := c.findContents(r, options.Phenotypes == nil, options.Attributes == nil); err != nil {
		return layout, err
	}
	return layout, c.layOut(&layout, options)
}

// columnRole is the use of a column.
type columnRole string

const (
	roleOpen      columnRole = "" // not yet known; in the end, not part of the samples
	roleGenes     columnRole = "a genes column"
	roleID        columnRole = "the column of sample ids"
	rolePhenotype columnRole = "a phenotype"
	roleAttribute columnRole = "an attribute"
	roleLeftOut   columnRole = "left out"
)

// perturbationColumns are the columns of a perturbation set, with the roles found so far.
type perturbationColumns struct {
	path  string
	names []string
	kind  func(column int) table.Kind
	at    map[string]int // by name
	roles []columnRole
	types []AttributeType // of attributes
	asked []bool          // a filter names the column
}

func newPerturbationColumns(path string, names []string, kind func(column int) table.Kind) *perturbationColumns {
	c := &perturbationColumns{path: path, names: names, kind: kind,
		at: make(map[string]int), roles: make([]columnRole, len(names)), types: make([]AttributeType, len(names)),
		asked: make([]bool, len(names))}
	for i, name := range names {
		c.at[name] = i
	}
	return c
}

// filterOnly reports whether a column is no part of the samples, and read for a filter.
func (c *perturbationColumns) filterOnly(column int) bool {
	return c.asked[column] && (c.roles[column] == roleOpen || c.roles[column] == roleLeftOut)
}

// takeNamed gives the columns that the options name their roles.
func (c *perturbationColumns) takeNamed(options PerturbationOptions) error {
	for _, name := range options.FilterColumns {
		if column, ok := c.at[name]; ok {
			c.asked[column] = true
		}
	}
	if err := c.take(options.Phenotypes, "--phenotypes", rolePhenotype); err != nil {
		return err
	}
	if err := c.take(options.Attributes, "--attributes", roleAttribute); err != nil {
		return err
	}
	return c.take(options.NotPhenotypes, "--not-phenotypes", roleLeftOut)
}

// layOut lists the phenotypes and attributes: those that the options name in their order, others in
// that of the columns.
func (c *perturbationColumns) layOut(layout *perturbationLayout, options PerturbationOptions) error {
	for _, name := range options.Phenotypes {
		layout.phenotypes = append(layout.phenotypes, c.at[name])
	}
	for _, name := range options.Attributes {
		layout.attributes = append(layout.attributes, c.at[name])
	}
	for column, name := range c.names {
		switch role := c.roles[column]; {
		case role == rolePhenotype && options.Phenotypes == nil:
			layout.phenotypes = append(layout.phenotypes, column)
		case role == roleAttribute && options.Attributes == nil:
			layout.attributes = append(layout.attributes, column)
		case role == roleOpen, role == roleLeftOut:
			layout.ignored = append(layout.ignored, name)
		}
	}
	for _, column := range layout.phenotypes {
		layout.columns.Phenotypes = append(layout.columns.Phenotypes, Phenotype{Name: c.names[column]})
	}
	for _, column := range layout.attributes {
		layout.columns.Attributes = append(layout.columns.Attributes, Attribute{Name: c.names[column], Type: c.types[column]})
	}
	if err := layout.columns.Check(c.path); err != nil {
		return err
	}
	for column, name := range c.names {
		if !c.filterOnly(column) {
			continue
		}
		if err := c.checkKind(column, "--where", roleAttribute); err != nil {
			return err
		}
		layout.attributes = append(layout.attributes, column)
		layout.columns.Attributes = append(layout.columns.Attributes, Attribute{Name: name, Type: c.types[column]})
		layout.columns.FilterOnly++
	}
	return nil
}

// find returns the number of a required column.
func (c *perturbationColumns) find(what, name string) (int, error) {
	if column, ok := c.at[name]; ok {
		return column, nil
	}
	hint := "rename the column, or name an existing one"
	if len(c.names) == 1 && strings.ContainsAny(c.names[0], " |") {
		return -1, fault.New(fault.Input, `separate columns by tabs in .tsv and .txt (in R: sep = "\t"), by commas in .csv; tcbuild ingest has delimiter=`,
			"read perturbations %s: found one column, %q, expected %s column %s", c.path, c.names[0], what, fault.Quote(name))
	}
	if nearest := fault.Nearest(name, c.names); name == defaultGenesColumn {
		hint = "rename the column of genes to genes, or name it by --genes-columns of tcbuild ingest perturbations"
	} else if nearest != "" {
		hint = "did you mean " + fault.Quote(nearest) + "?"
	}
	return -1, fault.New(fault.Input, hint, "read perturbations %s: found columns %s, expected %s column %s",
		c.path, fault.List(c.names), what, fault.Quote(name))
}

func (c *perturbationColumns) findGenes(layout *perturbationLayout, names []string) error {
	for _, name := range names {
		column, err := c.find("genes", name)
		if err != nil {
			return err
		}
		kind := c.kind(column)
		layout.list = kind == table.List
		if kind == table.Number || kind == table.Other || kind == table.List && len(names) > 1 {
			return fault.New(fault.Input, "store a list of texts, or one text with a delimiter between the genes",
				"read perturbations %s: genes column %s has type %s", c.path, fault.Quote(name), kind)
		}
		layout.genes = append(layout.genes, column)
		c.roles[column] = roleGenes
	}
	return nil
}

// findID finds the column of sample ids, by its name or the default name. It may be a genes column.
func (c *perturbationColumns) findID(layout *perturbationLayout, name string) error {
	column, ok := c.at[defaultIDColumn]
	if name != "" {
		var err error
		if column, err = c.find("sample id", name); err != nil {
			return err
		}
		ok = true
	}
	if !ok {
		layout.id = -1
		return nil
	}
	if kind := c.kind(column); kind == table.List || kind == table.Other {
		return fault.New(fault.Input, "store the sample ids as text or integers",
			"read perturbations %s: column %s: found type %s, expected text or integers", c.path, fault.Quote(c.names[column]), kind)
	}
	layout.id = column
	if c.roles[column] == roleOpen {
		c.roles[column] = roleID
	}
	return nil
}

// expectedOf are the values that a column needs for a role, namedFor is what messages call it.
var (
	expectedOf = map[columnRole]string{rolePhenotype: "numbers", roleAttribute: "texts or numbers"}
	namedFor   = map[columnRole]string{rolePhenotype: "phenotype", roleAttribute: "attribute", roleLeftOut: "phenotype"}
)

// take gives a role to the columns that a flag names. They must not have a role yet, but for genes
// columns, which may be attributes too.
func (c *perturbationColumns) take(names []string, flag string, role columnRole) error {
	for _, name := range names {
		column, err := c.find(namedFor[role], name)
		if err != nil {
			return err
		}
		strain := c.roles[column] == roleGenes && role == roleAttribute // it says more than its genes
		if taken := c.roles[column]; taken != roleOpen && !strain {
			return fault.New(fault.Usage, fmt.Sprintf("name the column once, or leave it out of %s", flag),
				"read %s: column %s of %s is already %s", flag, fault.Quote(name), c.path, taken)
		}
		if err := c.checkKind(column, flag, role); err != nil {
			return err
		}
		c.roles[column] = role
	}
	return nil
}

// checkKind returns an error for a column of a type that cannot have the role for which a flag names
// it.
func (c *perturbationColumns) checkKind(column int, flag string, role columnRole) error {
	if kind := c.kind(column); role != roleLeftOut && (kind == table.List || kind == table.Other) {
		return fault.New(fault.Input, "store the column as "+expectedOf[role]+", or leave it out of "+flag,
			"read perturbations %s: column %s: found type %s, expected %s", c.path, fault.Quote(c.names[column]), kind, expectedOf[role])
	}
	return nil
}

// findContents gives roles to the columns without one, if phenotypes or attributes are not named,
// and types to the attributes and to what a filter reads: by the column's type if the format has
// types, otherwise by all their values.
func (c *perturbationColumns) findContents(r *table.Reader, phenotypes, attributes bool) error {
	var untyped []untypedColumn
	for column, role := range c.roles {
		asked := c.filterOnly(column)
		if role != roleOpen && role != roleAttribute && !asked {
			continue
		}
		switch kind := c.kind(column); {
		case kind == table.Unknown && (role == roleAttribute || phenotypes || attributes || asked):
			untyped = append(untyped, untypedColumn{column: column, mixed: role != roleOpen || !phenotypes})
		case kind == table.Number:
			c.found(column, NumberAttribute, phenotypes, attributes)
		case kind == table.Text:
			c.found(column, TextAttribute, phenotypes, attributes)
		}
	}
	if err := readUntyped(c.path, r, untyped); err != nil {
		return err
	}
	for _, u := range untyped {
		if u.number != "" && u.text != "" && c.roles[u.column] == roleOpen {
			c.types[u.column] = TextAttribute
			continue // left out: phenotypes are named, and it is not among them
		}
		c.found(u.column, u.attributeType(), phenotypes, attributes)
	}
	return nil
}

// found gives a column its type and, if it has none, its role.
func (c *perturbationColumns) found(column int, values AttributeType, phenotypes, attributes bool) {
	c.types[column] = values
	switch {
	case c.roles[column] != roleOpen:
	case values == NumberAttribute && phenotypes:
		c.roles[column] = rolePhenotype
	case values == TextAttribute && attributes:
		c.roles[column] = roleAttribute
	}
}
