package ingest

import (
	"fmt"
	"io"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/table"
)

// untypedColumn is a column of a text table, with what its fields hold.
type untypedColumn struct {
	column int
	mixed  bool   // both numbers and other text are allowed
	number string // where the first number is; "" for none
	text   string // where the first other text is; "" for none
	found  string // that text
	coded  bool   // a number is written as codes are, such as 007, and would not come back as it was
}

// attributeType is the type of the column's values. A column without values has numbers.
func (u *untypedColumn) attributeType() AttributeType {
	if u.text != "" || u.coded {
		return TextAttribute
	}
	return NumberAttribute
}

// readUntyped reads a text table to its end, to find out what columns hold. Missing values (see
// table.Batch.Number) are neither numbers nor text. Both in a column that must not be mixed is a
// fault.Input that names the first such text. Without columns it reads nothing.
func readUntyped(path string, r *table.Reader, columns []untypedColumn) error {
	for len(columns) > 0 {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		for i := range columns {
			u := &columns[i]
			if u.add(r, b); u.number != "" && u.text != "" && !u.mixed {
				name := r.Columns()[u.column]
				return fault.New(fault.Input, mixedHint(name),
					"read perturbations %s: column %s: found %s, expected a number as in line %s",
					u.text, fault.Quote(name), u.found, strings.TrimPrefix(u.number, path+":"))
			}
		}
	}
	return nil
}

// add records the column's fields in a batch.
func (u *untypedColumn) add(r *table.Reader, b *table.Batch) {
	number, text := b.Contents(u.column)
	if u.number == "" && number >= 0 {
		u.number = r.Where(b.First + int64(number))
	}
	if u.text == "" && text >= 0 {
		u.text, u.found = r.Where(b.First+int64(text)), fault.Quote(b.Text(u.column, text))
	}
	for i := 0; u.mixed && !u.coded && i < b.Len; i++ {
		digits := strings.TrimLeft(string(b.Text(u.column, i)), "+-")
		u.coded = len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9'
	}
}

// mixedHint is the hint for a column with both numbers and other text.
func mixedHint(column string) string {
	name := fault.List([]string{column})
	return fmt.Sprintf("correct the value, empty the field if it is missing, exclude the column with --not-phenotypes %s, "+
		"or keep it as text with --attributes %s", name, name)
}

// leaveOutHint is the hint for a bad value of a phenotype.
func leaveOutHint(phenotype string) string {
	return "correct the value, empty the field if it is missing, or exclude the column with --not-phenotypes " + fault.List([]string{phenotype})
}
