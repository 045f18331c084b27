package table

import (
	"encoding/csv"
	"reflect"
	"strings"
	"testing"
)

// FuzzCSV reads back what encoding/csv writes, with commas or tabs, and must not crash on raw
// input.
func FuzzCSV(f *testing.F) {
	f.Add("a", "b,\"c\"", "line\nbreak", "", false, false)
	f.Add("x", "y", "x,y\n\"1\n\",\"\"\"\"\n", "\"", true, false)
	f.Add("a\t", "b,\"c\"", "line\nbreak", "", false, true)
	f.Fuzz(func(t *testing.T, a, b, c, d string, raw, tabs bool) {
		name, delimiter, header := "a.csv", ',', "x,y\n"
		if tabs {
			name, delimiter, header = "a.tsv", '\t', "\"x\"\ty\n"
		}
		if raw {
			readDamaged(t, name, []byte(c))
			return
		}
		rows := [][]string{{a, b}, {c, d}}
		if strings.Contains(a+b+c+d, "\r") { // encoding/csv rewrites these
			return
		}
		var text strings.Builder
		text.WriteString(header)
		w := csv.NewWriter(&text)
		w.Comma = delimiter
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		_, got, _, err := readTexts(write(t, name, []byte(text.String())), TextOptions{})
		if err != nil || !reflect.DeepEqual(got, rows) {
			t.Errorf("wrote %q, read %q, %v", rows, got, err)
		}
	})
}
