package samples

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// columnTable says what each column of a table or a store is. Roles come from the spec first, then
// from types and contents:
//
//	name     kind    contents         role
//	genes    text                     a genes column
//	fitness  number  a number         a phenotype because it holds numbers
//	medium   text    another text     an attribute
type columnTable struct {
	path string
	spec *reading
	all  []column
	at   map[string]int // by name
	keyColumns
}

// column is a column and its use.
type column struct {
	name    string
	kind    table.Kind
	isIndex bool // pandas stored an unnamed index in it
	role    columnRole
	columnContents
}

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

// columnRole is the use of a column.
type columnRole string

// Roles that the spec can name. Errors call them so.
const (
	roleOpen      columnRole = "" // not named
	roleGenes     columnRole = "a genes column"
	roleID        columnRole = "the column of sample ids"
	roleKinds     columnRole = "the column of kinds"
	rolePhenotype columnRole = "a phenotype"
	roleAttribute columnRole = "an attribute"
	roleLeftOut   columnRole = "left out"
)

// Roles that follow from a column's contents.
const (
	roleGuessed  columnRole = "a phenotype because it holds numbers" // see ingest.Columns.Guessed
	roleByName   columnRole = "an attribute because of its name"     // see ingest.Columns.ByName
	roleFiltered columnRole = "left out, but read for a filter"
	roleCompared columnRole = "left out, but compared" // merged samples must have the same value
)

// notedNames are names, in lower case, of columns of numbers that say how an experiment was done.
// They are attributes unless the options name them as phenotypes.
var notedNames = []string{"temperature", "dose", "concentration", "time", "ph", "ploidy", "copies",
	"replicate", "batch", "plate", "day", "generation", "od"}

// isNoted reports whether numbers in a column of this name are an attribute by default.
func isNoted(name string) bool {
	return slices.Contains(notedNames, strings.ToLower(name))
}

// unnamedIndex is the name that pandas gives to an unnamed index in a text table that it reads.
const unnamedIndex = "Unnamed: 0"

func newColumnTable(
	path string, spec *reading, names []string, kind func(column int) table.Kind,
) *columnTable {
	t := &columnTable{path: path, spec: spec, at: make(map[string]int)}
	t.kindsName = ingest.KindsAttribute
	for i, name := range names {
		t.at[name] = i
		t.all = append(t.all, column{name: name, kind: kind(i)})
	}
	return t
}

// decide decides on the role of a column whose contents are known.
func (t *columnTable) decide(c *column) {
	wasUnnamed := c.name == unnamedIndex && c.attributeType() == ingest.NumberAttribute
	c.isIndex = c.isIndex || wasUnnamed
	if c.role == roleOpen && !c.isIndex {
		c.role = t.roleOfContents(c)
	}
	if c.role == roleOpen || c.role == roleLeftOut {
		c.role = t.leftOutRole(c)
	}
}

// roleOfContents returns the role of a column that the spec does not name, roleOpen for none. A
// column without values has numbers. One with both numbers and texts is no attribute, and no
// phenotype in the end: it is an error, or left out where phenotypes are named.
func (t *columnTable) roleOfContents(c *column) columnRole {
	isMixed := c.number != "" && c.text != ""
	textOnly := c.number == "" && c.text != ""
	isText := c.attributeType() == ingest.TextAttribute && !isMixed
	fileSays := c.noted || c.measured
	byName := isNoted(c.name) && !fileSays && !textOnly
	isDeclared := c.noted || slices.Contains(t.spec.Ignore, c.name)
	isAttribute := isText || byName || isDeclared
	canBeRead := c.number != "" || c.text != "" || c.other == ""
	switch {
	case !canBeRead,
		isAttribute && t.spec.Attributes != nil,
		!isAttribute && t.spec.Phenotypes != nil:
		return roleOpen
	case byName:
		return roleByName
	case isAttribute:
		return roleAttribute
	case c.measured:
		return rolePhenotype
	}
	return roleGuessed
}

// leftOutRole returns the role of a column that is no part of the samples.
func (t *columnTable) leftOutRole(c *column) columnRole {
	mayDiffer := c.isIndex || slices.Contains(t.spec.Ignore, c.name)
	switch {
	case slices.Contains(t.spec.filterColumns, c.name):
		return roleFiltered
	case t.spec.Merges() && !mayDiffer:
		return roleCompared
	}
	return roleLeftOut
}

// nameRoles sets the roles of the columns that the spec names. A column has one role, but genes
// columns may be attributes too: a strain says more than its genes.
func (t *columnTable) nameRoles() error {
	for _, flag := range []struct {
		name    string
		columns []string
		what    string
		role    columnRole
	}{
		{"--phenotypes", t.spec.Phenotypes, "phenotype", rolePhenotype},
		{"--attributes", t.spec.Attributes, "attribute", roleAttribute},
		{"--not-phenotypes", t.spec.NotPhenotypes, "phenotype", roleLeftOut},
	} {
		for _, name := range flag.columns {
			at, err := t.find(flag.what, name)
			if err != nil {
				return err
			}
			c := &t.all[at]
			if flag.role == roleAttribute && c.role == roleKinds {
				continue
			}
			isStrain := flag.role == roleAttribute && c.role == roleGenes
			if c.role != roleOpen && !isStrain {
				hint := "name the column once, or leave it out of " + flag.name
				return fault.New(fault.Usage, hint, "read %s: column %s of %s is already %s",
					flag.name, fault.Quote(name), t.path, c.role)
			}
			if err := t.checkKind(c, flag.name, flag.role); err != nil {
				return err
			}
			c.role = flag.role
		}
	}
	return nil
}

// checkKind returns an error for a column of a type that cannot have the role for which a flag
// names it.
func (t *columnTable) checkKind(c *column, flag string, role columnRole) error {
	if role == roleLeftOut || !c.hasNoValues() {
		return nil
	}
	expected := "texts or numbers"
	if role == rolePhenotype {
		expected = "numbers"
	}
	return t.wrongType(c,
		fmt.Sprintf("store the column as %s, or leave it out of %s", expected, flag),
		expected)
}

func (t *columnTable) wrongType(c *column, hint, expected string) error {
	return fault.New(fault.Input, hint,
		"read perturbations %s: column %s: found type %s, expected %s",
		t.path, fault.Quote(c.name), c.kind, expected)
}

// hasNoValues reports whether a field of the column is neither a text nor a number.
func (c *column) hasNoValues() bool { return c.kind == table.List || c.kind == table.Other }

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
	if !isDelimited && slices.Contains(t.spec.Given(), "gene_delimiter") {
		return fault.New(fault.Usage,
			"omit gene_delimiter, or name one column of texts with genes_columns",
			"read perturbations %s: found gene_delimiter %s, "+
				"but no column whose texts it separates: genes are in %s",
			t.path, fault.Quote(t.spec.GeneDelimiter), fault.List(t.spec.GenesColumns))
	}
	return nil
}

func (t *columnTable) findGenes() error {
	for _, name := range t.spec.GenesColumns {
		at, err := t.find("genes", name)
		if err != nil {
			return err
		}
		c := &t.all[at]
		t.list = c.kind == table.List
		isOnlyList := t.list && len(t.spec.GenesColumns) == 1
		if isText := c.kind == table.Text || c.kind == table.Unknown; !isText && !isOnlyList {
			return t.notTexts("genes", c)
		}
		c.role, t.genes = roleGenes, append(t.genes, at)
	}
	return nil
}

// notTexts is the error for a column of genes or kinds that holds something else.
func (t *columnTable) notTexts(what string, c *column) error {
	return fault.New(fault.Input,
		"store a list of texts, or one text with a delimiter between the "+what,
		"read perturbations %s: %s column %s has type %s", t.path, what, fault.Quote(c.name),
		c.kind)
}

// furtherGene matches the name of a column that may hold the second gene of each sample, such as
// gene2 or gene_b.
var furtherGene = regexp.MustCompile(`(?i)^genes?[ _.-]*(name[ _.-]*)?([0-9]|[a-d])$`)

// findGenesColumn finds the column of genes by its name: genes, or gene, in any case.
func findGenesColumn(columns []string, path string) ([]string, error) {
	var found, further []string
	for _, name := range columns {
		switch lower := strings.ToLower(name); {
		case name == defaultGenesColumn:
			return []string{name}, nil
		case lower == "genes", lower == "gene":
			found = append(found, name)
		case furtherGene.MatchString(name):
			further = append(further, name)
		}
	}
	if len(found) == 0 || len(found) == 1 && len(further) == 0 {
		return append(found, defaultGenesColumn)[:1], nil
	}
	return nil, fault.New(fault.Input, "name them with genes_columns",
		"read perturbations %s: found columns %s, expected one of genes",
		path, fault.List(append(found, further...)))
}

// findID finds the column of sample ids, by its name or the default name.
func (t *columnTable) findID() (err error) {
	t.id, t.hasID = t.at[defaultIDColumn]
	if name := t.spec.IDColumn; name != "" {
		if t.id, err = t.find("sample id", name); err != nil {
			return err
		}
		t.hasID = true
	}
	if !t.hasID {
		return nil
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

// findKinds finds the column of kinds, by its name or, among columns that are not taken, a default
// name. The attribute is called kinds, or perturbation_type if the column is, as in a table made
// from a store.
func (t *columnTable) findKinds() error {
	name := t.spec.KindsColumn
	for _, usual := range []string{ingest.KindsAttribute, typesAttribute} {
		at, ok := t.at[usual]
		isFree := ok && t.all[at].role == roleOpen && t.all[at].kind != table.Number
		if name == "" && isFree {
			name, t.kindsName = usual, usual
		}
	}
	if name == "" || name == IgnoreKindsColumn {
		return nil
	}
	at, err := t.find("kinds", name)
	if err != nil {
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

// find returns the number of a required column.
func (t *columnTable) find(what, name string) (int, error) {
	if at, ok := t.at[name]; ok {
		return at, nil
	}
	var names []string
	for _, c := range t.all {
		names = append(names, c.name)
	}
	if len(names) == 1 && strings.ContainsAny(names[0], " |") {
		return 0, fault.New(fault.Input,
			`separate columns by tabs in .tsv and .txt (in R: sep = "\t"), by commas in .csv, `+
				`or set delimiter=`,
			"read perturbations %s: found one column, %q, expected %s column %s",
			t.path, names[0], what, fault.Quote(name))
	}
	hint := "rename the column, or name an existing one"
	if nearest := fault.Nearest(name, names); name == defaultGenesColumn {
		hint = "name the columns of genes with --genes-columns"
	} else if nearest != "" {
		hint = "did you mean " + fault.Quote(nearest) + "?"
	}
	return 0, fault.New(fault.Input, hint,
		"read perturbations %s: found columns %s, expected %s column %s",
		t.path, fault.List(names), what, fault.Quote(name))
}
