package ingest

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest/table"
)

// maxPhenotypes bounds the memory of a batch, and the size of a sample's record.
const maxPhenotypes = 1 << 16

// perturbationLayout records which columns of a table hold what.
type perturbationLayout struct {
	genes          []int
	list           bool // the genes column holds lists; then it is the only one
	id             int  // -1: samples are named by their row
	phenotypes     []int
	phenotypeNames []string
	ignored        []string
}

// findPerturbationLayout finds out what the columns of a table hold. It reads a text table to its
// end, unless the options name the phenotypes.
func findPerturbationLayout(path string, r *table.Reader, options PerturbationOptions) (perturbationLayout, error) {
	c := newPerturbationColumns(path, r)
	layout := perturbationLayout{}
	if err := c.findGenes(&layout, options.GenesColumns); err != nil {
		return layout, err
	}
	if err := c.findID(&layout, options.IDColumn); err != nil {
		return layout, err
	}
	if err := c.take(options.Phenotypes, "--phenotypes", rolePhenotype); err != nil {
		return layout, err
	}
	if err := c.take(options.NotPhenotypes, "--not-phenotypes", roleLeftOut); err != nil {
		return layout, err
	}
	for _, name := range options.Phenotypes {
		layout.phenotypes = append(layout.phenotypes, c.at[name])
	}
	if options.Phenotypes == nil {
		if err := c.findPhenotypes(); err != nil {
			return layout, err
		}
	}
	for column, name := range r.Columns() {
		switch role := c.roles[column]; {
		case role == rolePhenotype && options.Phenotypes == nil:
			layout.phenotypes = append(layout.phenotypes, column)
		case role == roleOpen, role == roleLeftOut:
			layout.ignored = append(layout.ignored, name)
		}
	}
	if found := len(layout.phenotypes); found > maxPhenotypes {
		return layout, fault.New(fault.Input, "select columns with --phenotypes",
			"read perturbations %s: found %s phenotypes, expected at most %s",
			path, humanize.Comma(int64(found)), humanize.Comma(maxPhenotypes))
	}
	for _, column := range layout.phenotypes {
		layout.phenotypeNames = append(layout.phenotypeNames, r.Columns()[column])
	}
	return layout, nil
}

// columnRole is the use of a column.
type columnRole string

const (
	roleOpen      columnRole = "" // not yet known; in the end, not part of the samples
	roleGenes     columnRole = "a genes column"
	roleID        columnRole = "the column of sample ids"
	rolePhenotype columnRole = "a phenotype"
	roleLeftOut   columnRole = "left out"
)

// perturbationColumns are the columns of a table, with the roles found so far.
type perturbationColumns struct {
	path  string
	r     *table.Reader
	at    map[string]int // by name
	roles []columnRole
}

func newPerturbationColumns(path string, r *table.Reader) *perturbationColumns {
	c := &perturbationColumns{path: path, r: r, at: make(map[string]int), roles: make([]columnRole, len(r.Columns()))}
	for i, name := range r.Columns() {
		c.at[name] = i
	}
	return c
}

// find returns the number of a required column.
func (c *perturbationColumns) find(what, name string) (int, error) {
	if column, ok := c.at[name]; ok {
		return column, nil
	}
	hint := "rename the column, or name an existing one"
	if nearest := conf.Nearest(name, c.r.Columns()); nearest != "" {
		hint = "did you mean " + fault.Quote(nearest) + "?"
	}
	return -1, fault.New(fault.Input, hint, "read perturbations %s: found columns %s, expected %s column %s",
		c.path, fault.List(c.r.Columns()), what, fault.Quote(name))
}

func (c *perturbationColumns) findGenes(layout *perturbationLayout, names []string) error {
	for _, name := range names {
		column, err := c.find("genes", name)
		if err != nil {
			return err
		}
		kind := c.r.Kind(column)
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
	if kind := c.r.Kind(column); kind == table.List || kind == table.Other {
		return fault.New(fault.Input, "store the sample ids as text or integers",
			"read perturbations %s: column %s: found type %s, expected text or integers", c.path, fault.Quote(c.r.Columns()[column]), kind)
	}
	layout.id = column
	if c.roles[column] == roleOpen {
		c.roles[column] = roleID
	}
	return nil
}

// take gives a role to the columns that a flag names. They must not have a role yet.
func (c *perturbationColumns) take(names []string, flag string, role columnRole) error {
	for _, name := range names {
		column, err := c.find("phenotype", name)
		if err != nil {
			return err
		}
		if taken := c.roles[column]; taken != roleOpen {
			return fault.New(fault.Usage, fmt.Sprintf("name the column once, or leave it out of %s", flag),
				"read %s: column %s of %s is already %s", flag, fault.Quote(name), c.path, taken)
		}
		if kind := c.r.Kind(column); role == rolePhenotype && (kind == table.List || kind == table.Other) {
			return fault.New(fault.Input, "store the column as numbers, or leave it out of "+flag,
				"read perturbations %s: phenotype %s: found type %s, expected numbers", c.path, fault.Quote(name), kind)
		}
		c.roles[column] = role
	}
	return nil
}

// findPhenotypes finds the phenotypes among the columns without a role: by type if the format has
// types, otherwise by all their values.
func (c *perturbationColumns) findPhenotypes() error {
	var untyped []int
	for column, role := range c.roles {
		switch kind := c.r.Kind(column); {
		case role != roleOpen:
		case kind == table.Number:
			c.roles[column] = rolePhenotype
		case kind == table.Unknown:
			untyped = append(untyped, column)
		}
	}
	attributes, err := findAttributes(c.path, c.r, untyped)
	if err != nil {
		return err
	}
	for i, column := range untyped {
		if !attributes[i] {
			c.roles[column] = rolePhenotype
		}
	}
	return nil
}
