package table

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// FuzzText compares the reader of plain TSV with strings.Split.
func FuzzText(f *testing.F) {
	f.Add("x\ty\n1\t2\n")
	f.Add("x\n\n")
	f.Add("\xef\xbb\xbfx\r\n1\r\n\r\n")
	f.Add("\r0")
	f.Add("x\t\t\n1\t\n2\n")
	f.Add("\xff\xfex\x00")
	f.Add("\x01\t\"\"")
	quoted := regexp.MustCompile(`^"|[\t\n]"[^\t\n]*"\r?([\t\n]|$)`) // a first field, or a column
	f.Fuzz(func(t *testing.T, text string) {
		if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
			readDamaged(t, "a.tsv", []byte(text)) // UTF-16
			return
		}
		if quoted.MatchString(strings.TrimPrefix(text, "\xef\xbb\xbf")) {
			return // FuzzCSV reads quotes
		}
		columns, rows, _, err := readTexts(write(t, "a.tsv", []byte(text)), TextOptions{})
		wantColumns, wantRows, ok := slowTSV(text)
		if (err == nil) != ok {
			t.Fatalf("error %v, expected one: %v", err, !ok)
		}
		if ok && (!reflect.DeepEqual(columns, wantColumns) || !reflect.DeepEqual(rows, wantRows)) {
			t.Fatalf("got  %q %q\nwant %q %q", columns, rows, wantColumns, wantRows)
		}
	})
}

// slowTSV is the obvious reader.
func slowTSV(text string) (columns []string, rows [][]string, ok bool) {
	lines := strings.Split(strings.TrimPrefix(text, "\xef\xbb\xbf"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	if len(lines) > 0 && lines[len(lines)-1] == "" && strings.HasSuffix(text, "\n") {
		lines = lines[:len(lines)-1] // the end of the last line
	}
	if len(lines) == 0 {
		return nil, nil, false
	}
	width := 0
	for i, line := range lines {
		row := strings.Split(line, "\t")
		switch {
		case line == "":
			return nil, nil, false
		case i == 0:
			width = len(row)
			for columns = row; len(columns) > 1 && columns[len(columns)-1] == ""; {
				columns = columns[:len(columns)-1]
			}
		case len(row) < len(columns) || len(row) > width:
			return nil, nil, false
		case strings.TrimSpace(strings.Join(row[len(columns):], "")) != "":
			return nil, nil, false
		default:
			row = row[:len(columns)]
			rows = append(rows, row)
		}
	}
	oneColumn := len(columns) == 1 && strings.ContainsAny(columns[0], ";,")
	return columns, rows, checkNames("", columns) == nil && !oneColumn &&
		!strings.Contains(strings.Join(columns, ""), "\r")
}
