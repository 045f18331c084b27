package ingest

import (
	"io"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/table"
)

// columnContents records where a text column has its first number and its first other text.
type columnContents struct {
	number string // "" before the first
	text   string // "" before the first
	found  string // that text
}

// findAttributes reads a text table to its end and reports which of the given columns hold text and
// no numbers. Missing values (see table.Batch.Number) are neither, so a column without values is
// not an attribute. A column with both numbers and other text is a fault.Input that names the first
// such text. Without columns it reads nothing.
func findAttributes(path string, r *table.Reader, columns []int) (attributes []bool, err error) {
	attributes = make([]bool, len(columns))
	contents := make([]columnContents, len(columns))
	for len(columns) > 0 {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, column := range columns {
			c := &contents[i]
			if c.add(r, b, column); c.number != "" && c.text != "" {
				name := r.Columns()[column]
				return nil, fault.New(fault.Input, leaveOutHint(name), "read perturbations %s: column %s: found %s, expected a number as in line %s",
					c.text, fault.Quote(name), c.found, strings.TrimPrefix(c.number, path+":"))
			}
		}
	}
	for i, c := range contents {
		attributes[i] = c.text != ""
	}
	return attributes, nil
}

// add records the column's fields in a batch.
func (c *columnContents) add(r *table.Reader, b *table.Batch, column int) {
	number, text := b.Contents(column)
	if c.number == "" && number >= 0 {
		c.number = r.Where(b.First + int64(number))
	}
	if c.text == "" && text >= 0 {
		c.text, c.found = r.Where(b.First+int64(text)), fault.Quote(b.Text(column, text))
	}
}

// leaveOutHint is the hint for a bad value of a phenotype.
func leaveOutHint(phenotype string) string {
	return "correct the value, empty the field if it is missing, or exclude the column with --not-phenotypes " + fault.List([]string{phenotype})
}
