package table

import (
	"encoding/csv"
	"reflect"
	"strings"
	"testing"
)

// FuzzText compares the reader of text with encoding/csv, which reads the whole text at once.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"x\ty\n1\t2\n",
		"x\n\n",
		"\xef\xbb\xbfx\r\n1\r\n\r\n",
		"\r0",
		"x\t\t\n1\t\n2\n",
		"\xff\xfex\x00",
		"\x01\t\"\"",
		"x\ty\n\"5 prime\t1\ny\"\t2\n",
		"x\ty\n5'-\"a\"\t1\n",
		"\"x\"\t\"y\"\n\"say \"\"a\"\"\"\tNA\n",
		"x\ty\n\"a\"b\t1\n",
		"x\ty\n\"a\n,\"\t1\n",
		"x\ty\n\"\"\t\"1\t2\"\r\n3\t4",
	} {
		f.Add(text, false)
		f.Add(strings.ReplaceAll(text, "\t", ","), true)
	}
	f.Fuzz(func(t *testing.T, text string, commas bool) {
		name, delimiter := "a.tsv", '\t'
		if commas {
			name, delimiter = "a.csv", ','
		}
		columns, rows, _, err := readTexts(write(t, name, []byte(text)))
		wantColumns, wantRows, ok := slowText(text, delimiter)
		if (err == nil) != ok {
			t.Fatalf("error %v, expected one: %v", err, !ok)
		}
		if ok && (!reflect.DeepEqual(columns, wantColumns) || !reflect.DeepEqual(rows, wantRows)) {
			t.Fatalf("got  %q %q\nwant %q %q", columns, rows, wantColumns, wantRows)
		}
	})
}

// slowText is the obvious reader. ok is false if a record takes other than one line.
func slowText(text string, delimiter rune) (columns []string, rows [][]string, ok bool) {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return nil, nil, false // UTF-16
	}
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	lines := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		lines++
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord = delimiter, -1
	records, err := r.ReadAll()
	if err != nil || len(records) == 0 || len(records) != lines {
		return nil, nil, false
	}
	width := len(records[0])
	for columns = records[0]; len(columns) > 1 && columns[len(columns)-1] == ""; {
		columns = columns[:len(columns)-1]
	}
	for _, row := range records[1:] {
		if len(row) < len(columns) || len(row) > width ||
			strings.TrimSpace(strings.Join(row[len(columns):], "")) != "" {
			return nil, nil, false
		}
		rows = append(rows, row[:len(columns)])
	}
	oneColumn := len(columns) == 1 && strings.ContainsAny(columns[0], "\t;,")
	return columns, rows, checkNames("", columns) == nil && !oneColumn &&
		!strings.Contains(strings.Join(columns, ""), "\r")
}
