package ingest

import (
	"fmt"
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
// fault.Input that names the first such text, and so is a number there in another notation, such as
// 0,5. Without columns it reads nothing.
func readUntyped(path string, r *table.Reader, columns []untypedColumn) error {
	if len(columns) == 0 {
		return nil
	}
	for b, err := range r.Batches() {
		if err != nil {
			return err
		}
		for i := range columns {
			u := &columns[i]
			odd := u.add(r, b)
			if u.mixed || !odd && (u.number == "" || u.text == "") {
				continue
			}
			expected, fix := table.PlainNumber, "save the table with such numbers"
			if !odd {
				expected = "as in line " + strings.TrimPrefix(u.number, path+":")
				fix = "correct the value, empty the field if it is missing"
			}
			name := r.Columns()[u.column]
			column := fault.List([]string{name})
			hint := fmt.Sprintf("%s, exclude the column with --not-phenotypes %s, or keep it as text with --attributes %s", fix, column, column)
			return fault.New(fault.Input, hint, "read perturbations %s: column %s: found %s, expected a number %s",
				u.text, fault.Quote(name), u.found, expected)
		}
	}
	return nil
}

// add records the column's fields in a batch. odd says that text is a number in another notation.
func (u *untypedColumn) add(r *table.Reader, b *table.Batch) (odd bool) {
	number, oddNumber, text := b.Contents(u.column)
	odd = oddNumber >= 0
	if odd {
		text = oddNumber
	}
	if u.number == "" && number >= 0 {
		u.number = r.Where(b.First + int64(number))
	}
	if text >= 0 && (odd || u.text == "") {
		u.text, u.found = r.Where(b.First+int64(text)), fault.Quote(b.Text(u.column, text))
	}
	for i := 0; u.mixed && !u.coded && i < b.Len; i++ {
		digits := strings.TrimLeft(string(b.Text(u.column, i)), "+-")
		u.coded = len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9'
	}
	return odd
}

// leaveOutHint is the hint for a bad value of a phenotype.
func leaveOutHint(phenotype string) string {
	return "correct the value, empty the field if it is missing, or exclude the column with --not-phenotypes " + fault.List([]string{phenotype})
}
