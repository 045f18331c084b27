package table

import (
	"encoding/csv"
	"reflect"
	"strings"
	"testing"
)

// FuzzCSV reads back what encoding/csv writes, and must not crash on raw input.
func FuzzCSV(f *testing.F) {
	f.Add("a", "b,\"c\"", "line\nbreak", "", false)
	f.Add("x", "y", "x,y\n\"1\n\",\"\"\"\"\n", "\"", true)
	f.Fuzz(func(t *testing.T, a, b, c, d string, raw bool) {
		if raw {
			readDamaged(t, "a.csv", []byte(c))
			return
		}
		rows := [][]string{{a, b}, {c, d}}
		if strings.Contains(a+b+c+d, "\r") { // encoding/csv rewrites these
			return
		}
		var text strings.Builder
		w := csv.NewWriter(&text)
		w.Write([]string{"x", "y"})
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		_, got, _, err := readTexts(write(t, "a.csv", []byte(text.String())), TextOptions{})
		if err != nil || !reflect.DeepEqual(got, rows) {
			t.Errorf("wrote %q, read %q, %v", rows, got, err)
		}
	})
}
