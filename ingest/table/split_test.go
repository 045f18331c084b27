package table

import (
	"bytes"
	"reflect"
	"testing"

	"tcbuild/ingest/table/rows"
)

// FuzzSplit compares the fields of rows with those that package bytes finds.
func FuzzSplit(f *testing.F) {
	for _, row := range []string{"", "a", "\t", "a\tb", "1234567\t", "12345678\t", "1234567\t9", "\t\t\t\t\t\t\t\t", "a\x89b\tc\x8a", " a  b\t c", "        ", "1234567 9 ", "\x01\t\x00\x81 "} {
		f.Add([]byte(row))
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		const offset = 3
		texts := func(fields []rows.Span) (texts []string) {
			for _, field := range fields {
				texts = append(texts, string(row[field.Start-offset:field.End-offset]))
			}
			return texts
		}
		want := func(fields [][]byte) (texts []string) {
			for _, field := range fields {
				texts = append(texts, string(field))
			}
			return texts
		}
		if got, want := texts(split(nil, row, offset, '\t')), want(bytes.Split(row, []byte("\t"))); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, want %q", row, got, want)
		}
	})
}
