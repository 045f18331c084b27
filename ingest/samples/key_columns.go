package samples

import (
	"regexp"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// The reserved names of a table's columns, beside kindsNames; see ingest.FindReserved.
const (
	defaultGenesColumn = "genes"
	defaultIDColumn    = "sample_id"
)

// keyColumns are the columns of genes, sample ids and kinds of perturbations.
type keyColumns struct {
	genes     []int
	list      bool // the genes column holds lists; then it is the only one
	id        int
	hasID     bool // otherwise samples are named by their row
	kinds     int
	hasKinds  bool
	kindsName string // of the attribute that the kinds are
}

// findKeys finds the columns of genes, sample ids and kinds.
func (t *columnTable) findKeys() error {
	if err := t.findGenes(); err != nil {
		return err
	}
	if err := t.findID(); err != nil {
		return err
	}
	if err := t.findKinds(); err != nil {
		return err
	}
	isDelimited := len(t.genes) == 1 && !t.list || t.hasKinds
	if !isDelimited && t.spec.GeneDelimiter != defaultDelimiter {
		return fault.New(fault.Usage,
			"omit gene_delimiter, or name one column of texts with genes_columns",
			"read perturbations %s: found gene_delimiter %s, "+
				"but no column whose texts it separates: genes are in %s",
			t.path, fault.Quote(t.spec.GeneDelimiter), fault.List(t.names(t.genes)))
	}
	return nil
}

func (t *columnTable) findGenes() error {
	names := t.spec.GenesColumns
	if names == nil {
		var err error
		if names, err = findGenesColumn(t.columns(), t.path); err != nil {
			return err
		}
	}
	for _, name := range names {
		at, err := t.find("genes", name)
		if err != nil {
			return err
		}
		c := &t.all[at]
		t.list = c.kind == table.List
		isOnlyList := t.list && len(names) == 1
		if isText := c.kind == table.Text || c.kind == table.Unknown; !isText && !isOnlyList {
			return t.notTexts("genes", c)
		}
		c.role, t.genes = roleGenes, append(t.genes, at)
	}
	return nil
}

// notTexts is the error for a column of genes or kinds that holds something else.
func (t *columnTable) notTexts(what string, c *column) error {
	hint := "store a list of texts, or one text with a delimiter between the " + what
	if c.kind == table.Number {
		hint = `store texts: in pandas, astype(str) makes them of integers, and ` +
			`astype("Int64").astype(str) of integers that missing values made floats`
	}
	return fault.New(fault.Input, hint,
		"read perturbations %s: %s column %s has type %s", t.path, what, fault.Quote(c.name),
		c.typeName())
}

// furtherGene matches the name of a column that may hold the second gene of each sample, such as
// gene2 or gene_b.
var furtherGene = regexp.MustCompile(`(?i)^genes?[ _.-]*(name[ _.-]*)?([0-9]|[a-d])$`)

// findReserved finds the column of a table that has a reserved name.
func findReserved(path string, columns []string, name string) (at int, found bool, err error) {
	if at, found, err = ingest.FindReserved(columns, name); err != nil {
		err = fault.New(fault.Input, fault.HintOf(err), "read perturbations %s: %w", path, err)
	}
	return at, found, err
}

// findGenesColumn finds the column of genes by its name: genes, or else gene. A column that may
// hold their second genes is an error.
func findGenesColumn(columns []string, path string) ([]string, error) {
	at, found, err := findReserved(path, columns, defaultGenesColumn)
	if err == nil && !found {
		at, found, err = findReserved(path, columns, "gene")
	}
	if err != nil || !found {
		return []string{defaultGenesColumn}, err
	}
	genes := []string{columns[at]}
	for _, name := range columns {
		if furtherGene.MatchString(name) {
			genes = append(genes, name)
		}
	}
	if len(genes) > 1 {
		err = fault.New(fault.Input, "name them with genes_columns",
			"read perturbations %s: found columns %s, expected one of genes",
			path, fault.List(genes))
	}
	return genes, err
}

// findID finds the column of sample ids, by its name or the default name.
func (t *columnTable) findID() (err error) {
	if name := t.spec.IDColumn; name != "" {
		t.id, err = t.find("sample id", name)
		t.hasID = err == nil
	} else {
		t.id, t.hasID, err = findReserved(t.path, t.columns(), defaultIDColumn)
	}
	if err != nil || !t.hasID {
		return err
	}
	c := &t.all[t.id]
	if c.hasNoValues() {
		return t.wrongType(c, "store the sample ids as text or integers", "text or integers")
	}
	if c.role == roleOpen { // genes columns may have the ids too
		c.role = roleID
	}
	return nil
}

// kindsNames are the default names of the column of kinds; earlier ones take precedence. A set that
// was made from a store may have the first two.
var kindsNames = []string{ingest.KindsAttribute, typesAttribute, "kind"}

// findKinds finds the column of kinds. The attribute is called kinds, or perturbation_type if the
// column is, as in a table made from a store.
func (t *columnTable) findKinds() error {
	at, found, err := t.kindsColumn()
	if err != nil || !found {
		return err
	}
	c := &t.all[at]
	if c.kind == table.Number || c.kind == table.Other {
		return t.notTexts("kinds", c)
	}
	if other, has := t.at[t.kindsName]; has && other != at {
		return fault.New(fault.Input, "rename it, or omit the setting kinds_column",
			"read perturbations %s: found a column kinds beside the kinds column %s",
			t.path, fault.Quote(c.name))
	}
	c.role, t.kinds, t.hasKinds = roleKinds, at, true
	return nil
}

// kindsColumn returns the column of kinds that the spec names, or one of a default name among
// columns that have no other use.
func (t *columnTable) kindsColumn() (at int, found bool, err error) {
	switch name := t.spec.KindsColumn; name {
	case IgnoreKindsColumn:
		return 0, false, nil
	case "":
	default:
		at, err = t.find("kinds", name)
		return at, err == nil, err
	}
	for _, name := range kindsNames {
		at, found, err = findReserved(t.path, t.columns(), name)
		if err != nil {
			return 0, false, err
		}
		if found && t.all[at].role == roleOpen && !t.isNamedNumber(&t.all[at]) {
			if name == typesAttribute {
				t.kindsName = name
			}
			return at, true, nil
		}
	}
	return 0, false, nil
}

// isNamedNumber reports whether the spec names a column of numbers as something else than kinds.
func (t *columnTable) isNamedNumber(c *column) bool {
	named := slices.Concat(t.spec.Phenotypes, t.spec.Attributes)
	return c.kind == table.Number && slices.Contains(named, c.name)
}
