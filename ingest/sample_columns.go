package ingest

import (
	"slices"
	"strings"

	"tcbuild/fault"
)

// Columns are what a perturbation set knows of each sample besides its id and deleted genes.
type Columns struct {
	Phenotypes []Phenotype
	Attributes []Attribute
	// Genes are the columns with the deleted genes, and ID that of sample ids, "" for none; of a
	// store they are empty.
	Genes []string `json:"-"`
	ID    string   `json:"-"`
	// Ignored are the names of the columns that are not part of the samples, in the order of the
	// file.
	Ignored []string `json:"-"`
	// Guessed names the columns that are phenotypes only because they hold numbers: neither the
	// options nor the file say that they were measured.
	Guessed []string `json:"-"`
	// ByName names the columns of numbers that are attributes because of their name.
	ByName []string `json:"-"`
	// Kinds is the attribute that says of what kind perturbations are (see KindsAttribute); "":
	// none.
	Kinds string `json:"-"`
	// KindsApart says that samples whose kinds differ have different genotypes.
	KindsApart bool `json:"-"`
}

// Phenotype is a measured number.
type Phenotype struct {
	Name        string `json:"name"`
	Unit        string `json:"unit,omitempty"` // "" if the source does not say
	Description string `json:"description,omitempty"`
	// StatisticOf is the phenotype whose statistic this one is, such as its standard error; "" for
	// a measurement.
	StatisticOf string `json:"statistic_of,omitempty"`
}

// Attribute is something noted of a sample that is not measured, such as its medium.
type Attribute struct {
	Name string        `json:"name"`
	Type AttributeType `json:"type"`
}

// AttributeType is the type of an attribute's values.
type AttributeType string

const (
	TextAttribute   AttributeType = "text"
	NumberAttribute AttributeType = "number"
)

// PhenotypeNames are the names of the phenotypes, in order.
func (c Columns) PhenotypeNames() []string {
	names := make([]string, len(c.Phenotypes))
	for i, phenotype := range c.Phenotypes {
		names[i] = phenotype.Name
	}
	return names
}

// maxColumns bounds the memory of a batch.
const maxColumns = 1 << 16

// Check returns an error for columns that a table of samples cannot have.
func (c Columns) Check(path string) error {
	if found := len(c.Phenotypes) + len(c.Attributes); found > maxColumns {
		return fault.New(fault.Input, "select columns with --phenotypes and --attributes",
			"read perturbations %s: found %s phenotypes and attributes, expected at most %s",
			path, Grouped(found), Grouped(maxColumns))
	}
	for _, name := range append(c.PhenotypeNames(), c.AttributeNames()...) {
		if strings.TrimSpace(name) != name {
			return fault.New(fault.Input, "remove the spaces from the header",
				"read perturbations %s: found column %s, expected a name without spaces around it",
				path, fault.Quote(name))
		}
		if name == "sample_id" || name == "genes" || name == "perturbation_indices" {
			return fault.New(fault.Input,
				"rename the column, or leave it out with --phenotypes and --attributes",
				"read perturbations %s: found a phenotype or attribute named %s, "+
					"a name reserved for a column of tcbuild", path, name)
		}
	}
	return nil
}

// AttributeNames are the names of the attributes, in order.
func (c Columns) AttributeNames() []string {
	names := make([]string, len(c.Attributes))
	for i, attribute := range c.Attributes {
		names[i] = attribute.Name
	}
	return names
}

// NamedPhenotypes are phenotypes known only by name.
func NamedPhenotypes(names ...string) []Phenotype {
	phenotypes := make([]Phenotype, len(names))
	for i, name := range names {
		phenotypes[i].Name = name
	}
	return phenotypes
}

// Use is what some columns of a table are, such as phenotypes.
type Use struct {
	What    string
	Columns []string
}

// Uses says what the columns of a table are; by_name has those of ByName, which are attributes.
func (c Columns) Uses() []Use {
	isByName := func(name string) bool { return slices.Contains(c.ByName, name) }
	uses := []Use{{"genes", c.Genes}, {"sample_id", []string{c.ID}},
		{"phenotypes", c.PhenotypeNames()},
		{"attributes", slices.DeleteFunc(c.AttributeNames(), isByName)},
		{"by_name", c.ByName}, {"left_out", c.Ignored}}
	return slices.DeleteFunc(uses, func(u Use) bool {
		return len(u.Columns) == 0 || u.Columns[0] == ""
	})
}
