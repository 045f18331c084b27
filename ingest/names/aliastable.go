package names

import (
	"regexp"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// AliasTable is a table of genes and other names of theirs. Names of a gene that is not in the
// graph match no other gene.
type AliasTable struct {
	// public source, such as sgd_features; the other keys override its settings
	Source         conf.SourceName `yaml:"source" section:"aliases"`
	table.TextSpec `yaml:",inline" required:"file"`
	where.RowsSpec `yaml:",inline"`

	ID string `yaml:"id" required:"yes"` // column of gene ids or other known names (required)
	// columns of other names, in order of precedence (required)
	Names       []string `yaml:"names" required:"yes"`
	Split       string   `yaml:"split"`        // separator between names in a field
	StripPrefix string   `yaml:"strip_prefix"` // prefix to remove from names that have it
	// labels in the report for the ids and for each column of names, in order of precedence
	// (default: one label for all)
	Kinds []string `yaml:"kinds"`
}

// NameColumn returns the number, from 1, of the column that has the names by which genes are
// called, such as symbol or standard name; 0: all are further names.
func (t *AliasTable) NameColumn() int {
	for k, column := range t.Names {
		if t.Kinds != nil {
			column = t.Kinds[1+k]
		}
		if called.MatchString(column) && !formerly.MatchString(column) {
			return 1 + k
		}
	}
	return 0
}

var (
	called   = regexp.MustCompile(`(?i)name|symbol|^gene$`)
	formerly = regexp.MustCompile(`(?i)prev|old|former|alias|synonym|other`)
)

// Check returns an error for labels that do not fit the columns.
func (t *AliasTable) Check() error {
	if t.Kinds != nil && len(t.Kinds) != 1+len(t.Names) {
		return fault.New(fault.Usage, "",
			"kinds: found %d, expected one for id and each of names", len(t.Kinds))
	}
	return nil
}
