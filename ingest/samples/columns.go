package samples

import (
	"cmp"
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
	spec *Spec
	all  []column
	at   map[string]int // by name
	keyColumns
}

// column is a column and its use.
type column struct {
	name    string
	kind    table.Kind
	stored  string // the type in the file, if it is none that is read
	isIndex bool   // pandas stored an unnamed index in it
	role    columnRole
	columnContents
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
	roleGuessed columnRole = "a phenotype because it holds numbers" // see ingest.Columns.Guessed
	roleByName  columnRole = "an attribute because of its name"     // see ingest.Columns.ByName
)

// notedNames are plain names (see ingest.PlainName) of columns of numbers that say how an
// experiment was done. They are attributes unless the options name them as phenotypes.
var notedNames = []string{"temperature", "dose", "concentration", "time", "ph", "ploidy", "copies",
	"replicate", "batch", "plate", "day", "generation", "od"}

// isNoted reports whether numbers in a column of this name are an attribute by default.
func isNoted(name string) bool {
	return slices.Contains(notedNames, ingest.PlainName(name))
}

// identifier matches plain names of columns that say which sample or gene a row is of. pandas calls
// an index without a name Unnamed: 0 or index.
var identifier = regexp.MustCompile(`^(id|(sample|strain|genes?|barcode)(id|name)?|` +
	`unnamed:[0-9]+|index)$`)

func newColumnTable(
	path string, spec *Spec, names []string, kind func(column int) table.Kind,
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
	if c.role == roleOpen && !c.isIndex {
		c.role = t.roleOfContents(c)
	}
	if c.role == roleOpen {
		c.role = roleLeftOut
	}
}

// checkIdentifier returns an error for a column of identifiers that the spec does not name: numbers
// would become a phenotype, and the texts of an unnamed index would be lost.
func (t *columnTable) checkIdentifier(c *column) error {
	found, expected, hint := "", "", ""
	quoted := fault.List([]string{c.name})
	switch {
	case c.role != roleOpen:
		return nil
	case c.isIndex && c.text != "":
		found, expected = "an unnamed index of texts", "a column with a name"
		hint = fmt.Sprintf("give the index a name, as in df.reset_index(names=\"sample_id\"), "+
			"or set id_column=%s", quoted)
	case c.isIndex || !identifier.MatchString(ingest.PlainName(c.name)),
		t.roleOfContents(c) != roleGuessed:
		return nil
	default:
		found, expected = "numbers under the name of an identifier", "measured values"
		hint = fmt.Sprintf("if it names the samples, set id_column=%s; otherwise name it in "+
			"--attributes or --phenotypes", quoted)
	}
	return fault.New(fault.Input, hint, "read perturbations %s: column %s: found %s, expected %s",
		t.path, fault.Quote(c.name), found, expected)
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
	isAttribute := isText || byName || c.noted
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
	if !c.hasNoValues() {
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
		t.path, fault.Quote(c.name), c.typeName(), expected)
}

// typeName is the type of the column's values for messages.
func (c *column) typeName() string { return cmp.Or(c.stored, c.kind.String()) }

// hasNoValues reports whether a field of the column is neither a text nor a number.
func (c *column) hasNoValues() bool { return c.kind == table.List || c.kind == table.Other }

// columns returns the names of all columns.
func (t *columnTable) columns() (names []string) {
	for _, c := range t.all {
		names = append(names, c.name)
	}
	return names
}

// find returns the number of a required column.
func (t *columnTable) find(what, name string) (int, error) {
	if at, ok := t.at[name]; ok {
		return at, nil
	}
	names := t.columns()
	if len(names) == 1 && strings.ContainsAny(names[0], " |") {
		return 0, fault.New(fault.Input,
			`separate columns by tabs in .tsv (in R: sep = "\t"), by commas in .csv; `+
				"in pandas, sheet_name= reads another sheet",
			"read perturbations %s: found one column, %q, expected %s column %s",
			t.path, names[0], what, fault.Quote(name))
	}
	hint := "rename the column, or name an existing one"
	if nearest := fault.Nearest(name, names); name == defaultGenesColumn {
		hint = "name the columns of genes with --genes-columns; in Python, tcbuild.screens reads " +
			"tables of strains and wide tables"
	} else if nearest != "" {
		hint = "did you mean " + fault.Quote(nearest) + "?"
	}
	return 0, fault.New(fault.Input, hint,
		"read perturbations %s: found columns %s, expected %s column %s",
		t.path, fault.List(names), what, fault.Quote(name))
}
