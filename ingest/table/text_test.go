package table

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/testing/testrun"
)

// These tests change no file while it is read.
func init() { inputfile.ClockTick = 0 }

// write writes a file into a fresh folder and returns its path.
func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// readTexts reads a whole table: its columns, and the text and location of every field.
func readTexts(path string, options TextOptions) (columns []string, rows [][]string, places []string, err error) {
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, nil, nil, err
	}
	defer file.Close()
	r, err := OpenFile(file, options)
	if err != nil {
		return nil, nil, nil, err
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if err == io.EOF {
			return r.Columns(), rows, places, nil
		}
		if err != nil {
			return r.Columns(), rows, places, err
		}
		if b.Len == 0 || b.First != int64(len(rows)) {
			return nil, nil, nil, fmt.Errorf("batch of %d rows starts at %d, expected %d", b.Len, b.First, len(rows))
		}
		for i := range b.Len {
			var row []string
			for column := range r.Columns() {
				row = append(row, string(b.Text(column, i)))
			}
			rows = append(rows, row)
			places = append(places, filepath.Base(r.Where(b.First+int64(i))))
		}
	}
}

func TestText(t *testing.T) {
	for _, test := range []struct {
		name, file, content string
		options             TextOptions
		want                string // columns, then rows with their locations
	}{
		{"plain", "a.tsv", "x\ty\n1\t2\n3\t4\n", TextOptions{}, "x,y; a.tsv:2 1,2; a.tsv:3 3,4"},
		{"columns without names and values", "a.tsv", "x\ty\t\t\n1\t2\t\t\n3\t4\n5\t6\t \n", TextOptions{}, "x,y; a.tsv:2 1,2; a.tsv:3 3,4; a.tsv:4 5,6"},
		{"CSV columns without names and values", "a.csv", "x,y,,\n1,,,\n\"\",2,\"\",\n", TextOptions{}, "x,y; a.csv:2 1,; a.csv:3 ,2"},
		{"UTF-16", "a.txt", "\xff\xfex\x00\t\x00\xe9\x00\n\x00\x01\xd8\x37\xdc\t\x00\x41\x26\r\x00\n\x00", TextOptions{}, "x,é; a.txt:2 \U00010437,♁"},
		{"big-endian UTF-16", "a.csv", "\xfe\xff\x00x\x00,\x00y\x00\n\x001\x00,\x002", TextOptions{}, "x,y; a.csv:2 1,2"},
		{"no last newline", "a.tsv", "x\ty\n1\t2", TextOptions{}, "x,y; a.tsv:2 1,2"},
		{"header only", "a.tsv", "x\ty\n", TextOptions{}, "x,y"},
		{"header only, no newline", "a.tsv", "x", TextOptions{}, "x"},
		{"empty fields", "a.tsv", "x\ty\n\t\n1\t\n\t2\n", TextOptions{}, "x,y; a.tsv:2 ,; a.tsv:3 1,; a.tsv:4 ,2"},
		{"CRLF", "a.tsv", "x\ty\r\n1\t2\r\n3\t4\r\n", TextOptions{}, "x,y; a.tsv:2 1,2; a.tsv:3 3,4"},
		{"byte order mark", "a.tsv", "\xef\xbb\xbfx\ty\n1\t2\n", TextOptions{}, "x,y; a.tsv:2 1,2"},
		{"byte order mark without header", "a.tsv", "\xef\xbb\xbf1\n", TextOptions{Columns: []string{"x"}}, "x; a.tsv:1 1"},
		{"an empty field in its only column", "a.csv", "x\n1\n\"\"\n", TextOptions{}, "x; a.csv:2 1; a.csv:3 "},
		{"TSV of R", "a.tsv", "\"x\"\t\"y\"\n\"1\t2\"\t3\n\"say \"\"a\"\"\"\tNA\n4\t5\n", TextOptions{}, "x,y; a.tsv:2 1\t2,3; a.tsv:3 say \"a\",NA; a.tsv:4 4,5"},
		{"TSV of R without header", "a.tsv", "\"1\"\t2\n", TextOptions{Columns: []string{"x", "y"}}, "x,y; a.tsv:1 1,2"},
		{"TSV of R with one column", "a.tsv", "\"x\"\r\n\"1\"\r\n", TextOptions{}, "x; a.tsv:2 1"},
		{"spaces of R", "a.txt", "\"x\" \"y z\"\n\"1  2\"   3\n4 5 \n", TextOptions{Delimiter: ' '}, "x,y z; a.txt:2 1  2,3; a.txt:3 4,5"},
		{"a quote that starts text", "a.tsv", "\"x\" of\ty\n\"1\" a\t2\n", TextOptions{}, "\"x\" of,y; a.tsv:2 \"1\" a,2"},
		{"a bare header", "a.tsv", "x\ty\n\"1\"\t\"2\"\n\"3\"\t\"4\"\n", TextOptions{}, "x,y; a.tsv:2 1,2; a.tsv:3 3,4"},
		{"a bare header above one column of text", "a.tsv", "x\ty\r\n1\tNA\r\n2\t\"b \"\"c\"\"\"\r\n", TextOptions{}, `x,y; a.tsv:2 1,NA; a.tsv:3 2,b "c"`},
		{"a bare header of one column", "a.tsv", "#\nx\n#\n\"1\"\n#\n\"\"\n", TextOptions{Comment: "#"}, "x; a.tsv:4 1; a.tsv:6 "},
		{"a bare header and spaces", "a.txt", "x y\n1  \"2\"\n3\t\"4\" \n", TextOptions{Delimiter: ' '}, "x,y; a.txt:2 1,2; a.txt:3 3,4"},
		{"text of R without header", "a.tsv", "1\t\"a\"\n", TextOptions{Columns: []string{"x", "y"}}, "x,y; a.tsv:1 1,a"},
		{"quotes of Excel", "a.tsv", "x\t\"y,z\"\n\"s,1\"\t5'-\"x\"\n\"\"\"\"\t\"say \"\"a\"\"\"\nb\t\"1\"\r\nc\t\"a\",\"b\"\n\"5,0\"\t\"A, \"\"B\"\"\"", TextOptions{},
			`x,y,z; a.tsv:2 s,1,5'-"x"; a.tsv:3 ",say "a"; a.tsv:4 b,"1"; a.tsv:5 c,"a","b"; a.tsv:6 5,0,A, "B"`},
		{"quotes of a column beside others", "a.tsv", "x\ty\n\"s,1\"\t5'-\"x\"\n\"s 2\"\t5\"\n\"s\"\ty\"\"z\"\n", TextOptions{}, "x,y; a.tsv:2 s,1,5'-\"x\"; a.tsv:3 s 2,5\"; a.tsv:4 s,y\"\"z\""},
		{"quotes of some fields", "a.tsv", "x\n\"1\"\nb\n", TextOptions{}, `x; a.tsv:2 "1"; a.tsv:3 b`},
		{"quotes inside text", "a.tsv", "x\n\"1\" or \"2\"\n", TextOptions{}, `x; a.tsv:2 "1" or "2"`},
		{"a single column with spaces", "a.csv", "x y|z\n1 2\n", TextOptions{}, "x y|z; a.csv:2 1 2"},
		{"a single column with a comma, as said", "a.txt", "x,y\n1\n", TextOptions{Delimiter: '\t'}, "x,y; a.txt:2 1"},
		{"no quoting in TSV", "a.tsv", "x\ty\n\"1\t2\"\n", TextOptions{}, `x,y; a.tsv:2 "1,2"`},
		{"no header", "a.tsv", "1\t2\n", TextOptions{Columns: []string{"x", "y"}}, "x,y; a.tsv:1 1,2"},
		{"header replaced", "a.tsv", "p\tq\n1\t2\n", TextOptions{Columns: []string{"x", "y"}, Header: true}, "x,y; a.tsv:2 1,2"},
		{"runs of spaces", "a.txt", " x  y \n1 \t 2\n  3 4  \n", TextOptions{Delimiter: ' '}, "x,y; a.txt:2 1,2; a.txt:3 3,4"},
		{"semicolons", "a.txt", "x;y\n1;\"2;3\"\n", TextOptions{Delimiter: ';'}, "x,y; a.txt:2 1,2;3"},
		{"CSV", "a.csv", "x,y\n1,2\n", TextOptions{}, "x,y; a.csv:2 1,2"},
		{"CSV quotes", "a.csv", "x,\"y\"\n\"1,5\",\"say \"\"a\"\"\"\n\"\",\"2\"\r\n", TextOptions{}, `x,y; a.csv:2 1,5,say "a"; a.csv:3 ,2`},
		{"CSV line breaks in quotes", "a.csv", "x,y\n\"1\n\n\",2\n3,4\n\"5\r\n\",\"\n\"\n6,7", TextOptions{}, "x,y; a.csv:2 1\n\n,2; a.csv:5 3,4; a.csv:6 5\r\n,\n; a.csv:9 6,7"},
		{"CSV line break in header", "a.csv", "\"x\n\",y\n1,2\n", TextOptions{}, "x\n,y; a.csv:3 1,2"},
		{"CSV quote at the end without newline", "a.csv", "x,y\n1,\"2\n3\"", TextOptions{}, "x,y; a.csv:2 1,2\n3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			columns, rows, places, err := readTexts(write(t, test.file, []byte(test.content)), test.options)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(columns, ",")
			for i, row := range rows {
				got += "; " + places[i] + " " + strings.Join(row, ",")
			}
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// A text table in a .zip is read as it is outside.
func TestZip(t *testing.T) {
	archive := func(members ...string) []byte {
		var content bytes.Buffer
		w := zip.NewWriter(&content)
		for _, name := range members {
			member, err := w.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(name, "/") {
				fmt.Fprintf(member, "x,y\n%s,2\n", name)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return content.Bytes()
	}
	for _, test := range []struct {
		members []string
		member  string
		want    string // the first field, or the error
	}{
		{[]string{"a.csv"}, "", "a.csv"},
		{[]string{"folder/", "folder/a.csv"}, "", "folder/a.csv"},
		{[]string{"a.csv", "b.csv"}, "b.csv", "b.csv"},
		{[]string{"a.csv", "b.csv"}, "", "found no name of a file in it, expected one of a.csv, b.csv"},
		{[]string{"a.csv", "b.csv"}, "c.csv", `found no file "c.csv", expected one of a.csv, b.csv`},
		{[]string{"a.xlsx"}, "", `a.zip/a.xlsx: found ending ".xlsx", expected a text table`},
		{nil, "", "found no name of a file in it"},
	} {
		content := archive(test.members...)
		_, rows, places, err := readTexts(write(t, "a.zip", content), TextOptions{Member: test.member})
		switch {
		case err != nil && (fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%q: %v", test.members, err)
		case err == nil && (rows[0][0] != test.want || places[0] != path.Base(test.want)+":2"):
			t.Errorf("%q: row %q at %s, want %s", test.members, rows[0], places[0], test.want)
		}
	}
	content := archive("a.csv") // every flipped bit is an error, or does not matter
	for bit := range 8 * len(content) {
		damaged := bytes.Clone(content)
		damaged[bit/8] ^= 1 << (bit % 8)
		_, rows, _, err := readTexts(write(t, "a.zip", damaged), TextOptions{})
		if err != nil && fault.KindOf(err) != fault.Input || err == nil && (len(rows) != 1 || rows[0][1] != "2" || !strings.HasSuffix(rows[0][0], "csv")) {
			t.Fatalf("bit %d: rows %q, %v", bit, rows, err)
		}
	}
}

func TestTextErrors(t *testing.T) {
	for _, test := range []struct {
		name, file, content string
		options             TextOptions
		want                string
	}{
		{"empty", "a.tsv", "", TextOptions{}, "open table a.tsv: the file is empty, expected a table"},
		{"empty but for a mark", "a.tsv", "\xef\xbb\xbf", TextOptions{}, "read a.tsv: the file is empty, expected a header line"},
		{"empty but for lines", "a.tsv", "\n\n", TextOptions{}, "read a.tsv:1: found an empty line, expected a row"},
		{"too few fields", "a.tsv", "x\ty\n1\t2\n3\n", TextOptions{}, "read a.tsv:3: found 1 field, expected 2"},
		{"too many fields", "a.tsv", "x\ty\n1\t2\t\n", TextOptions{}, "read a.tsv:2: found 3 fields, expected 2"},
		{"too few fields in the last line", "a.tsv", "x\ty\n1\t2\n3", TextOptions{}, "read a.tsv:3: found 1 field, expected 2"},
		{"too few columns given", "a.tsv", "1\t2\n", TextOptions{Columns: []string{"x"}}, "read a.tsv:1: found 2 fields, expected 1"},
		{"a value without a name", "a.tsv", "x\ty\t\t\n1\t2\t\t3\n", TextOptions{}, `read a.tsv:2: found "3" in column 4, which has no name`},
		{"fewer fields than names", "a.tsv", "x\ty\t\n1\n", TextOptions{}, "read a.tsv:2: found 1 field, expected 3"},
		{"more fields than columns", "a.tsv", "x\ty\t\n1\t2\t\t\n", TextOptions{}, "read a.tsv:2: found 4 fields, expected 3"},
		{"no names", "a.tsv", "\t\n1\t2\n", TextOptions{}, "read header of a.tsv: found no name for column 1 of 1"},
		{"half a character of UTF-16", "a.tsv", "\xff\xfex\x00\n\x00\x01\xd8\n\x00", TextOptions{}, "read a.tsv: the file is truncated or damaged after line 1: found half of a character of UTF-16"},
		{"half of UTF-16", "a.tsv", "\xff\xfex\x00\n\x001", TextOptions{}, "read a.tsv: the file is truncated or damaged after line 1: unexpected EOF"},
		{"empty line", "a.tsv", "x\n1\n\n\n2\n", TextOptions{}, "read a.tsv:3: found an empty line, expected a row"},
		{"empty line at the end", "a.tsv", "x\ty\n1\t2\n\n", TextOptions{}, "read a.tsv:3: found an empty line, expected a row"},
		{"empty line at the end of one column", "a.tsv", "x\n1\n2\n\n", TextOptions{}, "read a.tsv:4: found an empty line, expected a row"},
		{"empty line with CRLF at the end", "a.tsv", "x\r\n1\r\n\r\n", TextOptions{}, "read a.tsv:3: found an empty line, expected a row"},
		{"line of spaces at the end", "a.txt", "x y\n1 2\n  \n", TextOptions{Delimiter: ' '}, "read a.txt:3: found an empty line, expected a row"},
		{"empty line at the end of CSV", "a.csv", "x,y\n\"1\",2\n\n", TextOptions{}, "read a.csv:3: found an empty line, expected a row"},
		{"empty line before the header", "a.tsv", "\nx\n", TextOptions{}, "read a.tsv:1: found an empty line, expected a row"},
		{"header not UTF-8", "a.tsv", "x\t\xff\n", TextOptions{}, `read header of a.tsv: name "\xff" of column 2 is not valid UTF-8`},
		{"line ends of old Macs", "a.tsv", "x\ty\r1\t2\r", TextOptions{}, `read header of a.tsv: found a carriage return in "y\r1", expected lines that end with a line feed`},
		{"no name", "a.tsv", "x\t\ty\n", TextOptions{}, "read header of a.tsv: found no name for column 2 of 3"},
		{"two names", "a.tsv", "x\ty\tx\n", TextOptions{}, `read header of a.tsv: columns 1 and 3 are both named "x", expected unique names`},
		{"open quote", "a.csv", "x,y\n1,2\n\"3,4\n5,6\n", TextOptions{}, "read a.csv:3: found an unclosed quote"},
		{"bare quote", "a.csv", "x,y\n1,2\"\"\n", TextOptions{}, "read a.csv:2: found a quote inside an unquoted field"},
		{"text after a quote", "a.csv", "x,y\n\"1\"2,3\n", TextOptions{}, "read a.csv:2: found '2' after a closing quote, expected the delimiter ','"},
		{"row after a line break in quotes", "a.csv", "x,y\n\"1\n\",2\n3\n", TextOptions{}, "read a.csv:4: found 1 field, expected 2"},
		{"commas in TSV", "a.tsv", "x,y\n1,2\n", TextOptions{}, `read header of a.tsv: found one column, "x,y", expected columns separated by '\t', not by ','`},
		{"semicolons in CSV", "a.csv", "x;y\n1;2\n", TextOptions{}, `read header of a.csv: found one column, "x;y", expected columns separated by ',', not by ';'`},
		{"tabs in CSV", "a.csv", "x\ty\n1\t2\n", TextOptions{}, `read header of a.csv: found one column, "x\ty", expected columns separated by ',', not by '\t'`},
		{"row names of R", "a.tsv", "\"x\"\t\"y\"\n\"1\"\t2\t3\n", TextOptions{}, "read a.tsv:2: found 3 fields, expected 2"},
		{"write.csv2 of R", "a.csv", "\"x\";\"y\"\n\"1\";2,5\n", TextOptions{}, "read a.csv:1: found ';' after a closing quote, expected the delimiter ','"},
		{"R's escaped quote", "a.tsv", "\"x\"\t\"y\"\n\"say \\\"a\\\"\"\t2\n", TextOptions{}, `read a.tsv:2: found 'a' after a closing quote, expected the delimiter '\t'`},
		{"unknown ending", "a.ods", "x\n", TextOptions{}, `open table a.ods: found ending ".ods", expected ` + Formats + ", or .zip"},
		{"compressed Parquet", "a.parquet.gz", "x\n", TextOptions{}, `open table a.parquet.gz: found ending ".parquet.gz", expected ` + Formats + ", or .zip"},
		{"another ending with a zero byte", "a.ods", "PK\x00\n", TextOptions{Delimiter: ','}, "open table a.ods: found a zero byte, expected text"},
		{"too few lines", "a.tsv", "x\ty\n1\t2", TextOptions{SkipLines: 2}, "read a.tsv: found 2 lines, expected a table after the lines to skip"},
		{"nothing but comments", "a.tsv", "#x\n#y", TextOptions{Comment: "#"}, "read a.tsv: the file is empty, expected a header line"},
		{"row after comments", "a.tsv", "#\nx\ty\n#\n1\t2\n#\n#\n3\n", TextOptions{Comment: "#"}, "read a.tsv:7: found 1 field, expected 2"},
		{"row after comments, no header", "a.tsv", "#\n1\t2\n#\n#\n3\n", TextOptions{Comment: "#", Columns: []string{"x", "y"}}, "read a.tsv:5: found 1 field, expected 2"},
		{"row after skipped lines", "a.tsv", "\nreleased in 2004\nx\ty\n1\t2\n3\n", TextOptions{SkipLines: 2}, "read a.tsv:5: found 1 field, expected 2"},
		{"no gzip", "a.tsv.gz", "some x\tsome y\n1\t2\n", TextOptions{}, "read a.tsv.gz: the file is not gzip-compressed, although its name ends in .gz"},
		{"zstd named gzip", "a.tsv.gz", "\x28\xb5\x2f\xfd", TextOptions{}, "read a.tsv.gz: the file is not gzip-compressed, although its name ends in .gz"},
		{"start of gzip", "a.tsv.gz", "\x1f", TextOptions{}, "read a.tsv.gz: the file is truncated or damaged at its start: unexpected EOF"},
		{"damaged gzip", "a.tsv.gz", "\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00", TextOptions{}, "read a.tsv.gz: the file is truncated or damaged at its start: gzip: invalid header"},
		{"no zstd", "a.tsv.zst", "x\ty\n1\t2\n", TextOptions{}, "read a.tsv.zst: the file is not zstd-compressed, although its name ends in .zst"},
		{"no zip", "a.zip", "x\ty\n1\t2\n", TextOptions{}, "read a.zip: the file is not a zip file, although its name ends in .zip"},
		{"damaged zip", "a.zip", "PK\x03\x04", TextOptions{}, "read a.zip: the file is truncated or damaged at its end: zip: not a valid zip file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, test.file, []byte(test.content))
			_, _, _, err := readTexts(path, test.options)
			checkInputError(t, err, path, test.want)
		})
	}
	t.Run("folder", func(t *testing.T) {
		_, err := Open(t.TempDir())
		if fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), "found a folder, expected a file") {
			t.Errorf("got %v", err)
		}
	})
}

// checkInputError checks an error's kind, its hint and its text, in which the path is its base
// name.
func checkInputError(t *testing.T, err error, path, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, expected %q", want)
	}
	if got := strings.ReplaceAll(err.Error(), path, filepath.Base(path)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if fault.KindOf(err) != fault.Input || fault.HintOf(err) == "" {
		t.Errorf("kind %d with hint %q, expected bad input with a hint", fault.KindOf(err), fault.HintOf(err))
	}
}

// TestCommentsAndPreambles reads tables whose lines are not all rows, in buffers of every size.
func TestCommentsAndPreambles(t *testing.T) {
	for _, test := range []struct {
		file, content string
		options       TextOptions
		want          string
	}{
		{"a.tsv", "!version 2.2\n!\nx\ty\n! one\n1\t2\n!two\n! three\n3\t!4\n!", TextOptions{Comment: "!"}, "[x y] [1 2] [3 !4]"},
		{"a.tsv", "## y\nx\ty\n#1\t2\n", TextOptions{Comment: "##"}, "[x y] [#1 2]"},
		{"a.gaf.gz", "!\n1\t2\n", TextOptions{Comment: "!", Delimiter: '\t', Columns: []string{"x", "y"}}, "[x y] [1 2]"},
		{"a.sgd", "x;y\r\n1;2\r\n", TextOptions{Delimiter: ';'}, "[x y] [1 2]"},
		{"noending", "x y\n1  2\n", TextOptions{Delimiter: ' '}, "[x y] [1 2]"},
		{"a.tsv", "\xef\xbb\xbfp-value\tratio\n\nx\ty\n1\t2\n", TextOptions{SkipLines: 2}, "[x y] [1 2]"},
		{"a.tsv", "p-value\tratio\n#c\nx\ty\n1\t2\n", TextOptions{SkipLines: 1, Comment: "#"}, "[x y] [1 2]"},
	} {
		_, compression := Format(test.file)
		columns, rows, _, err := readTexts(write(t, test.file, compress(t, []byte(test.content), compression)), test.options)
		if got := strings.Trim(fmt.Sprint(append([][]string{columns}, rows...)), "[]"); err != nil || "["+got+"]" != test.want {
			t.Errorf("%q: got [%s], %v, want %s", test.content, got, err, test.want)
		}
	}
}

func TestRowsBeforeABadRowAreRead(t *testing.T) {
	_, rows, _, err := readTexts(write(t, "a.tsv", []byte("x\ty\n1\t2\n3\t4\nbad\n")), TextOptions{})
	if err == nil || len(rows) != 2 {
		t.Errorf("found %d rows and error %v, expected 2 rows and an error", len(rows), err)
	}
}

// TestLongText makes rows of random and of huge length cross the end of the buffer at every kind of
// location.
func TestLongText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, delimiter := range []string{"\t", ","} {
		var text strings.Builder
		text.WriteString("x" + delimiter + "y\n")
		var want [][]string
		for range 3000 {
			row := []string{strings.Repeat("a", random.IntN(300)), strings.Repeat("b", 1+random.IntN(20))}
			switch random.IntN(300) {
			case 0:
				row[0] = strings.Repeat("c", textBuffer+random.IntN(2*textBuffer))
			}
			want = append(want, row)
			if delimiter == "," && random.IntN(3) == 0 {
				row[0] = strings.ReplaceAll(row[0], "aaaaa", "a\n,\"a")
				text.WriteString(`"` + strings.ReplaceAll(row[0], `"`, `""`) + `",` + row[1] + "\n")
				continue
			}
			text.WriteString(row[0] + delimiter + row[1] + "\n")
		}
		name := map[string]string{"\t": "a.tsv", ",": "a.csv"}[delimiter]
		for _, compression := range []string{"", ".gz", ".zst"} {
			path := write(t, name+compression, compress(t, []byte(text.String()), compression))
			_, rows, places, err := readTexts(path, TextOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(rows, want) {
				t.Errorf("%s%s: %d rows differ from what was written", name, compression, len(rows))
			}
			line := 2
			for i, row := range want {
				if expected := fmt.Sprintf("%s%s:%d", name, compression, line); places[i] != expected {
					t.Fatalf("row %d is at %s, expected %s", i, places[i], expected)
				}
				line += 1 + strings.Count(row[0], "\n")
			}
		}
	}
}

func TestEndlessRow(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it writes 64 MiB")
	}
	path := write(t, "a.csv", append([]byte("x\n\""), bytes.Repeat([]byte("ab\n"), maxRecord/3+textBuffer)...))
	_, _, _, err := readTexts(path, TextOptions{})
	checkInputError(t, err, path, "read a.csv:2: found a row of more than 64 MiB")
}

func compress(t testing.TB, content []byte, compression string) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch compression {
	case ".gz":
		w = gzip.NewWriter(&out)
	case ".zst":
		var err error
		if w, err = zstd.NewWriter(&out); err != nil {
			t.Fatal(err)
		}
	default:
		return content
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestTornCompression truncates compressed files and flips their bytes everywhere: the result is an
// error, never fewer or other rows.
func TestTornCompression(t *testing.T) {
	text := []byte("id\tvalue\n")
	for i := range 60 {
		text = fmt.Appendf(text, "gene%d\t%d\n", i*i, i)
	}
	for _, compression := range []string{".gz", ".zst"} {
		whole := compress(t, text, compression)
		for length := 0; length < len(whole); length += testrun.Cases(1, 5) {
			path := write(t, "a.tsv"+compression, whole[:length])
			_, _, _, err := readTexts(path, TextOptions{})
			if fault.KindOf(err) != fault.Input {
				t.Fatalf("%s cut to %d of %d bytes: %v, expected bad input", compression, length, len(whole), err)
			}
			if length > 20 && !strings.Contains(err.Error(), "is truncated or damaged") {
				t.Fatalf("%s cut to %d of %d bytes: %v", compression, length, len(whole), err)
			}
		}
		_, want, _, err := readTexts(write(t, "a.tsv"+compression, whole), TextOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); at += testrun.Cases(1, 5) {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 1 << (at % 8)
			_, rows, _, err := readTexts(write(t, "a.tsv"+compression, damaged), TextOptions{})
			if err == nil && !reflect.DeepEqual(rows, want) {
				t.Fatalf("%s with byte %d flipped: other rows and no error", compression, at)
			}
		}
	}
}

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
	return columns, rows, checkNames("", columns) == nil && !oneColumn && !strings.Contains(strings.Join(columns, ""), "\r")
}

// A huge file in a wrong format is reported before it is digested, which would take hours.
func TestWrongFormatIsNotDigested(t *testing.T) {
	for _, name := range []string{"a.tsv", "a.arrow", "a.parquet", "a.tsv.gz", "a.zip"} {
		path := filepath.Join(t.TempDir(), name)
		check(t, os.WriteFile(path, nil, 0o666))
		check(t, os.Truncate(path, 1<<42))
		r, err := Open(path)
		if err == nil {
			_, err = r.Next()
		}
		if fault.KindOf(err) != fault.Input {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
