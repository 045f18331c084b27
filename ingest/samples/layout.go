package samples

import (
	"fmt"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// layout says where a reader finds what samples have.
type layout struct {
	keyColumns
	phenotypes []int
	attributes []source
	columns    ingest.Columns // names and types of phenotypes and attributes
}

// A source says what an attribute is.
type source struct {
	origin origin
	column int // of a value
}

type origin uint8

const (
	fromColumn origin = iota
	fromKinds         // the kinds of the perturbations
)

// layOutTable finds out what the columns of a table hold. It reads a text table to its end, unless
// the spec names both phenotypes and attributes.
func layOutTable(r *table.Reader, spec *Spec) (*layout, error) {
	t := newColumnTable(r.Path(), spec, r.Columns(), r.Kind)
	indexes := r.Indexes()
	for i := range t.all {
		c := &t.all[i]
		if c.isIndex = indexes[c.name]; c.kind == table.Other && r.Type(i) != nil {
			c.stored = r.Type(i).String()
		}
	}
	if err := t.findKeys(); err != nil {
		return nil, err
	}
	if err := t.nameRoles(); err != nil {
		return nil, err
	}
	if err := t.readContents(r); err != nil {
		return nil, err
	}
	for i := range t.all {
		if err := t.checkIdentifier(&t.all[i]); err != nil {
			return nil, err
		}
		t.decide(&t.all[i])
	}
	return t.layOut()
}

// columnsWith returns the columns that have one of the roles. If names are given, it returns only
// these columns, in the order of the names.
func (t *columnTable) columnsWith(named []string, roles ...columnRole) (columns []int) {
	for _, name := range named {
		if at := t.at[name]; slices.Contains(roles, t.all[at].role) {
			columns = append(columns, at)
		}
	}
	for at := range t.all {
		if named == nil && slices.Contains(roles, t.all[at].role) {
			columns = append(columns, at)
		}
	}
	return columns
}

func (t *columnTable) names(columns []int) (names []string) {
	for _, at := range columns {
		names = append(names, t.all[at].name)
	}
	return names
}

// layOut lists the phenotypes and attributes: those that the spec names in its order, others in
// the columns' order.
func (t *columnTable) layOut() (*layout, error) {
	l := &layout{keyColumns: t.keyColumns}
	columns := &l.columns
	addAttribute := func(from source, attribute ingest.Attribute) {
		l.attributes = append(l.attributes, from)
		columns.Attributes = append(columns.Attributes, attribute)
	}
	l.phenotypes = t.columnsWith(t.spec.Phenotypes, rolePhenotype, roleGuessed)
	columns.Phenotypes = ingest.NamedPhenotypes(t.names(l.phenotypes)...)
	for _, at := range t.columnsWith(t.spec.Attributes, roleAttribute, roleByName) {
		c := &t.all[at]
		addAttribute(source{fromColumn, at},
			ingest.Attribute{Name: c.name, Type: c.attributeType()})
	}
	columns.Genes = t.names(t.genes)
	if t.hasID {
		columns.ID = t.all[t.id].name
	}
	columns.Guessed = t.names(t.columnsWith(nil, roleGuessed))
	columns.ByName = t.names(t.columnsWith(nil, roleByName))
	columns.Ignored = t.names(t.columnsWith(nil, roleLeftOut))
	if t.hasKinds {
		addAttribute(source{origin: fromKinds},
			ingest.Attribute{Name: t.kindsName, Type: ingest.TextAttribute})
		columns.Kinds, columns.KindsApart = t.kindsName, true
	}
	return l, columns.Check(t.path)
}

// roleKey is the key under which an Arrow file's schema says whether a column of numbers is an
// attribute, such as a row number, or was measured.
const roleKey, noted, measured = "tcbuild", "attribute", "phenotype"

// columnContents is what a column holds: values of its type if the format has types, otherwise
// those that were found.
type columnContents struct {
	// where the first number is, other text, and anything else; "" for none
	number, text, other string
	noted, measured     bool // the file says that the numbers are an attribute, or a phenotype

	// Of a column of a text table:
	column int
	mixed  bool   // both numbers and other text are allowed
	codes  bool   // look for codes, such as 007
	found  string // the first other text
	// a number is written as codes are, such as 007, and would not come back as it was
	coded bool
}

// attributeType is the type of the values if the column is an attribute.
func (c columnContents) attributeType() ingest.AttributeType {
	if c.text != "" || c.coded {
		return ingest.TextAttribute
	}
	return ingest.NumberAttribute
}

// readContents finds out what the columns of a table hold, by their types or by all their values.
// It reads no values of columns of a text table whose roles do not depend on them.
func (t *columnTable) readContents(r *table.Reader) error {
	var untyped []*columnContents
	for at := range t.all {
		c := &t.all[at]
		switch c.kind {
		case table.Number:
			said := r.Metadata(at, roleKey)
			c.number, c.noted, c.measured = "its type", said == noted, said == measured
		case table.Text:
			c.text = "its type"
		case table.List, table.Other:
			c.other = "its type"
		default:
			c.column = at
			c.mixed = c.role != roleOpen || t.spec.Phenotypes != nil
			c.codes = c.mixed || isNoted(c.name)
			decides := c.role == roleOpen && (t.spec.Phenotypes == nil || t.spec.Attributes == nil)
			if decides || c.role == roleAttribute {
				untyped = append(untyped, &c.columnContents)
			}
		}
	}
	if len(untyped) == 0 {
		return nil
	}
	for b, err := range r.Batches() {
		if err != nil {
			return err
		}
		for _, holds := range untyped {
			if err := holds.add(t, r, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// isCode reports whether a number is written as codes are: with a zero before another digit.
func isCode(number string) bool {
	rest, isZero := strings.CutPrefix(strings.TrimLeft(number, "+-"), "0")
	return isZero && strings.IndexAny(rest, "0123456789") == 0
}

// add records the column's fields in a batch. Missing values (see table.Batch.Number) are neither
// numbers nor text. Both in a column that must not be mixed is a fault.Input that names the first
// such text, and so is a number there in another notation, such as 0,5.
func (c *columnContents) add(t *columnTable, r *table.Reader, b *table.Batch) error {
	number, odd, text := b.Contents(c.column)
	if c.number == "" && number >= 0 {
		c.number = r.Where(b.First + int64(number))
	}
	if odd >= 0 {
		text = odd
	}
	if text >= 0 && (odd >= 0 || c.text == "") {
		c.text, c.found = r.Where(b.First+int64(text)), fault.Quote(b.Text(c.column, text))
	}
	for i := 0; c.codes && !c.coded && i < b.Len; i++ {
		c.coded = isCode(string(b.Text(c.column, i)))
	}
	isMixed := c.number != "" && c.text != ""
	if c.mixed || odd < 0 && !isMixed {
		return nil
	}
	expected, fix := table.PlainNumber, table.PlainNumberHint
	if odd < 0 {
		expected = "as in line " + strings.TrimPrefix(c.number, t.path+":")
		fix = "correct the value, or empty the field if it is missing"
	}
	name := t.all[c.column].name
	hint := fmt.Sprintf("%s; or name the columns that are phenotypes with --phenotypes, "+
		"or keep this one as text with --attributes=%s", fix, fault.Quote(name))
	return fault.New(fault.Input, hint,
		"read perturbations %s: column %s: found %s, expected a number %s",
		c.text, fault.Quote(name), c.found, expected)
}
