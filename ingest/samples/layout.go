package samples

import (
	"fmt"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// perturbationLayout records which columns of a table hold what.
type perturbationLayout struct {
	keyColumns
	kindsAt    int // the attribute that the kinds are, whose column is none
	phenotypes []int
	attributes []int
	columns    ingest.Columns // names and types of phenotypes and attributes
}

// findPerturbationLayout finds out what the columns of a table hold. It reads a text table to its
// end, unless the options name both phenotypes and attributes.
func findPerturbationLayout(
	path string, r *table.Reader, spec reading,
) (layout perturbationLayout, err error) {
	h := newHeader(path, r.Columns(), r.Kind)
	h.indexes = r.Indexes()
	keys, err := h.findKeys(spec)
	if err != nil {
		return layout, err
	}
	roles, err := h.namedRoles(keys, spec)
	if err != nil {
		return layout, err
	}
	contents, err := h.readContents(r, roles, spec)
	if err != nil {
		return layout, err
	}
	for column, named := range roles {
		roles[column] = h.finalRole(column, named, contents[column], spec)
	}
	return h.layOut(keys, roles, contents, spec)
}

// rowColumn stands for ingest.RowAttribute in a layout.
const rowColumn = -2

// layOut lists the phenotypes and attributes: those that the spec names in its order, others in
// the columns' order.
func (h *header) layOut(
	keys keyColumns, roles []columnRole, contents []columnContents, spec reading,
) (perturbationLayout, error) {
	layout := perturbationLayout{keyColumns: keys, kindsAt: none}
	columns := &layout.columns
	addPhenotype := func(column int) {
		layout.phenotypes = append(layout.phenotypes, column)
		columns.Phenotypes = append(columns.Phenotypes, ingest.Phenotype{Name: h.names[column]})
	}
	addAttribute := func(column int, attribute ingest.Attribute) {
		layout.attributes = append(layout.attributes, column)
		columns.Attributes = append(columns.Attributes, attribute)
	}
	attributeOf := func(column int) ingest.Attribute {
		return ingest.Attribute{Name: h.names[column], Type: contents[column].attributeType()}
	}
	for _, name := range spec.Phenotypes {
		addPhenotype(h.at[name])
	}
	for _, name := range spec.Attributes {
		if column := h.at[name]; roles[column] != roleKinds { // which follows
			addAttribute(column, attributeOf(column))
		}
	}
	var hidden []int
	for column, name := range h.names {
		switch role := roles[column]; role {
		case rolePhenotype, roleGuessed:
			if spec.Phenotypes == nil {
				addPhenotype(column)
			}
			if role == roleGuessed {
				columns.Guessed = append(columns.Guessed, name)
			}
		case roleAttribute, roleByName:
			if spec.Attributes == nil {
				addAttribute(column, attributeOf(column))
			}
			if role == roleByName {
				columns.ByName = append(columns.ByName, name)
			}
		case roleFiltered, roleCompared:
			hidden = append(hidden, column)
			columns.Ignored = append(columns.Ignored, name)
		case roleLeftOut:
			columns.Ignored = append(columns.Ignored, name)
		}
	}
	if keys.kinds >= 0 {
		layout.kindsAt = len(layout.attributes)
		addAttribute(none, ingest.Attribute{Name: keys.kindsName, Type: ingest.TextAttribute})
		columns.Kinds, columns.KindsApart = keys.kindsName, true
	}
	if err := columns.Check(h.path); err != nil {
		return layout, err
	}
	for _, column := range hidden {
		if err := h.checkHidden(column, roles[column]); err != nil {
			return layout, err
		}
		addAttribute(column, attributeOf(column))
	}
	if !spec.Merges() {
		columns.FilterOnly = len(hidden)
		return layout, nil
	}
	addAttribute(rowColumn, ingest.RowAttribute)
	columns.Compared = len(hidden) + 1
	return layout, nil
}

// checkHidden returns an error for a column that can be neither filtered nor compared.
func (h *header) checkHidden(column int, role columnRole) error {
	kind := h.kinds[column]
	switch {
	case role == roleFiltered:
		return h.checkKind(column, "--where", roleAttribute)
	case hasNoValues(kind):
		return fault.New(fault.Input,
			"name it in --ignore if it may differ, or store it as text or numbers",
			"compare samples of %s: column %s: found type %s, expected texts or numbers",
			h.path, fault.Quote(h.names[column]), kind)
	}
	return nil
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
func (h *header) readContents(
	r *table.Reader, roles []columnRole, spec reading,
) ([]columnContents, error) {
	all, untyped := make([]columnContents, len(h.names)), []*columnContents(nil)
	for column, role := range roles {
		holds := &all[column]
		switch h.kinds[column] {
		case table.Number:
			said := r.Metadata(column, roleKey)
			holds.number, holds.noted, holds.measured = "its type", said == noted, said == measured
		case table.Text:
			holds.text = "its type"
		case table.List, table.Other:
			holds.other = "its type"
		default:
			name := h.names[column]
			holds.column = column
			holds.mixed = role != roleOpen || spec.Phenotypes != nil
			holds.codes = holds.mixed || isNoted(name)
			decides := role == roleOpen && (spec.Phenotypes == nil || spec.Attributes == nil)
			leftOut := role == roleOpen || role == roleLeftOut
			hidden := leftOut && leftOutRole(name, h.indexes[name], spec) != roleLeftOut
			if decides || hidden || role == roleAttribute {
				untyped = append(untyped, holds)
			}
		}
	}
	if len(untyped) == 0 {
		return all, nil
	}
	for b, err := range r.Batches() {
		if err != nil {
			return nil, err
		}
		for _, holds := range untyped {
			if err := holds.add(h, r, b); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// isCode reports whether a number is written as codes are: with a zero before another digit.
func isCode(number string) bool {
	rest, isZero := strings.CutPrefix(strings.TrimLeft(number, "+-"), "0")
	return isZero && strings.IndexAny(rest, "0123456789") == 0
}

// add records the column's fields in a batch. Missing values (see table.Batch.Number) are neither
// numbers nor text. Both in a column that must not be mixed is a fault.Input that names the first
// such text, and so is a number there in another notation, such as 0,5.
func (c *columnContents) add(h *header, r *table.Reader, b *table.Batch) error {
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
		expected = "as in line " + strings.TrimPrefix(c.number, h.path+":")
		fix = "correct the value, or empty the field if it is missing"
	}
	name := h.names[c.column]
	quoted := fault.List([]string{name})
	hint := fmt.Sprintf("%s; or exclude the column with --not-phenotypes %s, "+
		"or keep it as text with --attributes %s", fix, quoted, quoted)
	return fault.New(fault.Input, hint,
		"read perturbations %s: column %s: found %s, expected a number %s",
		c.text, fault.Quote(name), c.found, expected)
}
