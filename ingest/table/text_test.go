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
func readTexts(
	path string, options TextOptions,
) (columns []string, rows [][]string, places []string, err error) {
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
			return nil, nil, nil, fmt.Errorf("batch of %d rows starts at %d, expected %d", b.Len,
				b.First, len(rows))
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
		{
			name:    "plain",
			file:    "a.tsv",
			content: "x\ty\n1\t2\n3\t4\n",
			want:    "x,y; a.tsv:2 1,2; a.tsv:3 3,4",
		},
		{
			name:    "columns without names and values",
			file:    "a.tsv",
			content: "x\ty\t\t\n1\t2\t\t\n3\t4\n5\t6\t \n",
			want:    "x,y; a.tsv:2 1,2; a.tsv:3 3,4; a.tsv:4 5,6",
		},
		{
			name:    "CSV columns without names and values",
			file:    "a.csv",
			content: "x,y,,\n1,,,\n\"\",2,\"\",\n",
			want:    "x,y; a.csv:2 1,; a.csv:3 ,2",
		},
		{
			name:    "UTF-16",
			file:    "a.txt",
			content: "\xff\xfex\x00\t\x00\xe9\x00\n\x00\x01\xd8\x37\xdc\t\x00\x41\x26\r\x00\n\x00",
			want:    "x,é; a.txt:2 \U00010437,♁",
		},
		{
			name:    "big-endian UTF-16",
			file:    "a.csv",
			content: "\xfe\xff\x00x\x00,\x00y\x00\n\x001\x00,\x002",
			want:    "x,y; a.csv:2 1,2",
		},
		{name: "no last newline", file: "a.tsv", content: "x\ty\n1\t2", want: "x,y; a.tsv:2 1,2"},
		{name: "header only", file: "a.tsv", content: "x\ty\n", want: "x,y"},
		{name: "header only, no newline", file: "a.tsv", content: "x", want: "x"},
		{
			name:    "empty fields",
			file:    "a.tsv",
			content: "x\ty\n\t\n1\t\n\t2\n",
			want:    "x,y; a.tsv:2 ,; a.tsv:3 1,; a.tsv:4 ,2",
		},
		{
			name:    "CRLF",
			file:    "a.tsv",
			content: "x\ty\r\n1\t2\r\n3\t4\r\n",
			want:    "x,y; a.tsv:2 1,2; a.tsv:3 3,4",
		},
		{
			name:    "byte order mark",
			file:    "a.tsv",
			content: "\xef\xbb\xbfx\ty\n1\t2\n",
			want:    "x,y; a.tsv:2 1,2",
		},
		{
			name:    "byte order mark without header",
			file:    "a.tsv",
			content: "\xef\xbb\xbf1\n",
			options: TextOptions{Columns: []string{"x"}},
			want:    "x; a.tsv:1 1",
		},
		{
			name:    "an empty field in its only column",
			file:    "a.csv",
			content: "x\n1\n\"\"\n",
			want:    "x; a.csv:2 1; a.csv:3 ",
		},
		{
			name:    "TSV of R",
			file:    "a.tsv",
			content: "\"x\"\t\"y\"\n\"1\t2\"\t3\n\"say \"\"a\"\"\"\tNA\n4\t5\n",
			want:    "x,y; a.tsv:2 1\t2,3; a.tsv:3 say \"a\",NA; a.tsv:4 4,5",
		},
		{
			name:    "TSV of R without header",
			file:    "a.tsv",
			content: "\"1\"\t2\n",
			options: TextOptions{Columns: []string{"x", "y"}},
			want:    "x,y; a.tsv:1 1,2",
		},
		{
			name:    "TSV of R with one column",
			file:    "a.tsv",
			content: "\"x\"\r\n\"1\"\r\n",
			want:    "x; a.tsv:2 1",
		},
		{
			name:    "spaces of R",
			file:    "a.txt",
			content: "\"x\" \"y z\"\n\"1  2\"   3\n4 5 \n",
			options: TextOptions{Delimiter: ' '},
			want:    "x,y z; a.txt:2 1  2,3; a.txt:3 4,5",
		},
		{
			name:    "a quote that starts text",
			file:    "a.tsv",
			content: "\"x\" of\ty\n\"1\" a\t2\n",
			want:    "\"x\" of,y; a.tsv:2 \"1\" a,2",
		},
		{
			name:    "a bare header",
			file:    "a.tsv",
			content: "x\ty\n\"1\"\t\"2\"\n\"3\"\t\"4\"\n",
			want:    "x,y; a.tsv:2 1,2; a.tsv:3 3,4",
		},
		{
			name:    "a bare header above one column of text",
			file:    "a.tsv",
			content: "x\ty\r\n1\tNA\r\n2\t\"b \"\"c\"\"\"\r\n",
			want:    `x,y; a.tsv:2 1,NA; a.tsv:3 2,b "c"`,
		},
		{
			name:    "a bare header of one column",
			file:    "a.tsv",
			content: "#\nx\n#\n\"1\"\n#\n\"\"\n",
			options: TextOptions{Comment: "#"},
			want:    "x; a.tsv:4 1; a.tsv:6 ",
		},
		{
			name:    "a bare header and spaces",
			file:    "a.txt",
			content: "x y\n1  \"2\"\n3\t\"4\" \n",
			options: TextOptions{Delimiter: ' '},
			want:    "x,y; a.txt:2 1,2; a.txt:3 3,4",
		},
		{
			name:    "text of R without header",
			file:    "a.tsv",
			content: "1\t\"a\"\n",
			options: TextOptions{Columns: []string{"x", "y"}},
			want:    "x,y; a.tsv:1 1,a",
		},
		{
			name: "quotes of Excel",
			file: "a.tsv",
			content: "x\t\"y,z\"\n\"s,1\"\t5'-\"x\"\n\"\"\"\"\t\"say \"\"a\"\"\"\nb\t\"1\"\r\n" +
				"c\t\"a\",\"b\"\n\"5,0\"\t\"A, \"\"B\"\"\"",
			want: `x,y,z; a.tsv:2 s,1,5'-"x"; a.tsv:3 ",say "a"; a.tsv:4 b,"1"; a.tsv:5 ` +
				`c,"a","b"; a.tsv:6 5,0,A, "B"`,
		},
		{
			name:    "quotes of a column beside others",
			file:    "a.tsv",
			content: "x\ty\n\"s,1\"\t5'-\"x\"\n\"s 2\"\t5\"\n\"s\"\ty\"\"z\"\n",
			want:    "x,y; a.tsv:2 s,1,5'-\"x\"; a.tsv:3 s 2,5\"; a.tsv:4 s,y\"\"z\"",
		},
		{
			name:    "quotes of some fields",
			file:    "a.tsv",
			content: "x\n\"1\"\nb\n",
			want:    `x; a.tsv:2 "1"; a.tsv:3 b`,
		},
		{
			name:    "quotes inside text",
			file:    "a.tsv",
			content: "x\n\"1\" or \"2\"\n",
			want:    `x; a.tsv:2 "1" or "2"`,
		},
		{
			name:    "a single column with spaces",
			file:    "a.csv",
			content: "x y|z\n1 2\n",
			want:    "x y|z; a.csv:2 1 2",
		},
		{
			name:    "a single column with a comma, as said",
			file:    "a.txt",
			content: "x,y\n1\n",
			options: TextOptions{Delimiter: '\t'},
			want:    "x,y; a.txt:2 1",
		},
		{
			name:    "no quoting in TSV",
			file:    "a.tsv",
			content: "x\ty\n\"1\t2\"\n",
			want:    `x,y; a.tsv:2 "1,2"`,
		},
		{
			name:    "no header",
			file:    "a.tsv",
			content: "1\t2\n",
			options: TextOptions{Columns: []string{"x", "y"}},
			want:    "x,y; a.tsv:1 1,2",
		},
		{
			name:    "header replaced",
			file:    "a.tsv",
			content: "p\tq\n1\t2\n",
			options: TextOptions{Columns: []string{"x", "y"}, Header: true},
			want:    "x,y; a.tsv:2 1,2",
		},
		{
			name:    "runs of spaces",
			file:    "a.txt",
			content: " x  y \n1 \t 2\n  3 4  \n",
			options: TextOptions{Delimiter: ' '},
			want:    "x,y; a.txt:2 1,2; a.txt:3 3,4",
		},
		{
			name:    "semicolons",
			file:    "a.txt",
			content: "x;y\n1;\"2;3\"\n",
			options: TextOptions{Delimiter: ';'},
			want:    "x,y; a.txt:2 1,2;3",
		},
		{name: "CSV", file: "a.csv", content: "x,y\n1,2\n", want: "x,y; a.csv:2 1,2"},
		{
			name:    "CSV quotes",
			file:    "a.csv",
			content: "x,\"y\"\n\"1,5\",\"say \"\"a\"\"\"\n\"\",\"2\"\r\n",
			want:    `x,y; a.csv:2 1,5,say "a"; a.csv:3 ,2`,
		},
		{
			name:    "CSV line breaks in quotes",
			file:    "a.csv",
			content: "x,y\n\"1\n\n\",2\n3,4\n\"5\r\n\",\"\n\"\n6,7",
			want:    "x,y; a.csv:2 1\n\n,2; a.csv:5 3,4; a.csv:6 5\r\n,\n; a.csv:9 6,7",
		},
		{
			name:    "CSV line break in header",
			file:    "a.csv",
			content: "\"x\n\",y\n1,2\n",
			want:    "x\n,y; a.csv:3 1,2",
		},
		{
			name:    "CSV quote at the end without newline",
			file:    "a.csv",
			content: "x,y\n1,\"2\n3\"",
			want:    "x,y; a.csv:2 1,2\n3",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			columns, rows, places, err := readTexts(write(t, test.file, []byte(test.content)),
				test.options)
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
		{[]string{"a.csv", "b.csv"}, "",
			"found no name of a file in it, expected one of a.csv, b.csv"},
		{[]string{"a.csv", "b.csv"}, "c.csv",
			`found no file "c.csv", expected one of a.csv, b.csv`},
		{[]string{"a.xlsx"}, "", `a.zip/a.xlsx: found ending ".xlsx", expected a text table`},
		{nil, "", "found no name of a file in it"},
	} {
		content := archive(test.members...)
		_, rows, places, err := readTexts(write(t, "a.zip", content),
			TextOptions{Member: test.member})
		switch {
		case err != nil &&
			(fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), test.want)):
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
		if err != nil {
			if fault.KindOf(err) != fault.Input {
				t.Fatalf("bit %d: %v", bit, err)
			}
			continue
		}
		if len(rows) != 1 || rows[0][1] != "2" || !strings.HasSuffix(rows[0][0], "csv") {
			t.Fatalf("bit %d: rows %q", bit, rows)
		}
	}
}

func TestTextErrors(t *testing.T) {
	for _, test := range []struct {
		name, file, content string
		options             TextOptions
		want                string
	}{
		{
			name: "empty",
			file: "a.tsv",
			want: "open table a.tsv: the file is empty, expected a table",
		},
		{
			name:    "empty but for a mark",
			file:    "a.tsv",
			content: "\xef\xbb\xbf",
			want:    "read a.tsv: the file is empty, expected a header line",
		},
		{
			name:    "empty but for lines",
			file:    "a.tsv",
			content: "\n\n",
			want:    "read a.tsv:1: found an empty line, expected a row",
		},
		{
			name:    "too few fields",
			file:    "a.tsv",
			content: "x\ty\n1\t2\n3\n",
			want:    "read a.tsv:3: found 1 field, expected 2",
		},
		{
			name:    "too many fields",
			file:    "a.tsv",
			content: "x\ty\n1\t2\t\n",
			want:    "read a.tsv:2: found 3 fields, expected 2",
		},
		{
			name:    "too few fields in the last line",
			file:    "a.tsv",
			content: "x\ty\n1\t2\n3",
			want:    "read a.tsv:3: found 1 field, expected 2",
		},
		{
			name:    "too few columns given",
			file:    "a.tsv",
			content: "1\t2\n",
			options: TextOptions{Columns: []string{"x"}},
			want:    "read a.tsv:1: found 2 fields, expected 1",
		},
		{
			name:    "a value without a name",
			file:    "a.tsv",
			content: "x\ty\t\t\n1\t2\t\t3\n",
			want:    `read a.tsv:2: found "3" in column 4, which has no name`,
		},
		{
			name:    "fewer fields than names",
			file:    "a.tsv",
			content: "x\ty\t\n1\n",
			want:    "read a.tsv:2: found 1 field, expected 3",
		},
		{
			name:    "more fields than columns",
			file:    "a.tsv",
			content: "x\ty\t\n1\t2\t\t\n",
			want:    "read a.tsv:2: found 4 fields, expected 3",
		},
		{
			name:    "no names",
			file:    "a.tsv",
			content: "\t\n1\t2\n",
			want:    "read header of a.tsv: found no name for column 1 of 1",
		},
		{
			name:    "half a character of UTF-16",
			file:    "a.tsv",
			content: "\xff\xfex\x00\n\x00\x01\xd8\n\x00",
			want: "read a.tsv: the file is truncated or damaged after line 1: found half of a " +
				"character of UTF-16",
		},
		{
			name:    "half of UTF-16",
			file:    "a.tsv",
			content: "\xff\xfex\x00\n\x001",
			want:    "read a.tsv: the file is truncated or damaged after line 1: unexpected EOF",
		},
		{
			name:    "empty line",
			file:    "a.tsv",
			content: "x\n1\n\n\n2\n",
			want:    "read a.tsv:3: found an empty line, expected a row",
		},
		{
			name:    "empty line at the end",
			file:    "a.tsv",
			content: "x\ty\n1\t2\n\n",
			want:    "read a.tsv:3: found an empty line, expected a row",
		},
		{
			name:    "empty line at the end of one column",
			file:    "a.tsv",
			content: "x\n1\n2\n\n",
			want:    "read a.tsv:4: found an empty line, expected a row",
		},
		{
			name:    "empty line with CRLF at the end",
			file:    "a.tsv",
			content: "x\r\n1\r\n\r\n",
			want:    "read a.tsv:3: found an empty line, expected a row",
		},
		{
			name:    "line of spaces at the end",
			file:    "a.txt",
			content: "x y\n1 2\n  \n",
			options: TextOptions{Delimiter: ' '},
			want:    "read a.txt:3: found an empty line, expected a row",
		},
		{
			name:    "empty line at the end of CSV",
			file:    "a.csv",
			content: "x,y\n\"1\",2\n\n",
			want:    "read a.csv:3: found an empty line, expected a row",
		},
		{
			name:    "empty line before the header",
			file:    "a.tsv",
			content: "\nx\n",
			want:    "read a.tsv:1: found an empty line, expected a row",
		},
		{
			name:    "header not UTF-8",
			file:    "a.tsv",
			content: "x\t\xff\n",
			want:    `read header of a.tsv: name "\xff" of column 2 is not valid UTF-8`,
		},
		{
			name:    "line ends of old Macs",
			file:    "a.tsv",
			content: "x\ty\r1\t2\r",
			want: `read header of a.tsv: found a carriage return in "y\r1", expected lines ` +
				`that end with a line feed`,
		},
		{
			name:    "no name",
			file:    "a.tsv",
			content: "x\t\ty\n",
			want:    "read header of a.tsv: found no name for column 2 of 3",
		},
		{
			name:    "two names",
			file:    "a.tsv",
			content: "x\ty\tx\n",
			want: `read header of a.tsv: columns 1 and 3 are both named "x", expected unique ` +
				`names`,
		},
		{
			name:    "open quote",
			file:    "a.csv",
			content: "x,y\n1,2\n\"3,4\n5,6\n",
			want:    "read a.csv:3: found an unclosed quote",
		},
		{
			name:    "bare quote",
			file:    "a.csv",
			content: "x,y\n1,2\"\"\n",
			want:    "read a.csv:2: found a quote inside an unquoted field",
		},
		{
			name:    "text after a quote",
			file:    "a.csv",
			content: "x,y\n\"1\"2,3\n",
			want:    "read a.csv:2: found '2' after a closing quote, expected the delimiter ','",
		},
		{
			name:    "row after a line break in quotes",
			file:    "a.csv",
			content: "x,y\n\"1\n\",2\n3\n",
			want:    "read a.csv:4: found 1 field, expected 2",
		},
		{
			name:    "commas in TSV",
			file:    "a.tsv",
			content: "x,y\n1,2\n",
			want: `read header of a.tsv: found one column, "x,y", expected columns separated ` +
				`by '\t', not by ','`,
		},
		{
			name:    "semicolons in CSV",
			file:    "a.csv",
			content: "x;y\n1;2\n",
			want: `read header of a.csv: found one column, "x;y", expected columns separated ` +
				`by ',', not by ';'`,
		},
		{
			name:    "tabs in CSV",
			file:    "a.csv",
			content: "x\ty\n1\t2\n",
			want: `read header of a.csv: found one column, "x\ty", expected columns separated ` +
				`by ',', not by '\t'`,
		},
		{
			name:    "row names of R",
			file:    "a.tsv",
			content: "\"x\"\t\"y\"\n\"1\"\t2\t3\n",
			want:    "read a.tsv:2: found 3 fields, expected 2",
		},
		{
			name:    "write.csv2 of R",
			file:    "a.csv",
			content: "\"x\";\"y\"\n\"1\";2,5\n",
			want:    "read a.csv:1: found ';' after a closing quote, expected the delimiter ','",
		},
		{
			name:    "R's escaped quote",
			file:    "a.tsv",
			content: "\"x\"\t\"y\"\n\"say \\\"a\\\"\"\t2\n",
			want:    `read a.tsv:2: found 'a' after a closing quote, expected the delimiter '\t'`,
		},
		{
			name:    "unknown ending",
			file:    "a.ods",
			content: "x\n",
			want:    `open table a.ods: found ending ".ods", expected ` + Formats + ", or .zip",
		},
		{
			name:    "compressed Parquet",
			file:    "a.parquet.gz",
			content: "x\n",
			want: `open table a.parquet.gz: found ending ".parquet.gz", expected ` + Formats +
				", or .zip",
		},
		{
			name:    "another ending with a zero byte",
			file:    "a.ods",
			content: "PK\x00\n",
			options: TextOptions{Delimiter: ','},
			want:    "open table a.ods: found a zero byte, expected text",
		},
		{
			name:    "too few lines",
			file:    "a.tsv",
			content: "x\ty\n1\t2",
			options: TextOptions{SkipLines: 2},
			want:    "read a.tsv: found 2 lines, expected a table after the lines to skip",
		},
		{
			name:    "nothing but comments",
			file:    "a.tsv",
			content: "#x\n#y",
			options: TextOptions{Comment: "#"},
			want:    "read a.tsv: the file is empty, expected a header line",
		},
		{
			name:    "row after comments",
			file:    "a.tsv",
			content: "#\nx\ty\n#\n1\t2\n#\n#\n3\n",
			options: TextOptions{Comment: "#"},
			want:    "read a.tsv:7: found 1 field, expected 2",
		},
		{
			name:    "row after comments, no header",
			file:    "a.tsv",
			content: "#\n1\t2\n#\n#\n3\n",
			options: TextOptions{Comment: "#", Columns: []string{"x", "y"}},
			want:    "read a.tsv:5: found 1 field, expected 2",
		},
		{
			name:    "row after skipped lines",
			file:    "a.tsv",
			content: "\nreleased in 2004\nx\ty\n1\t2\n3\n",
			options: TextOptions{SkipLines: 2},
			want:    "read a.tsv:5: found 1 field, expected 2",
		},
		{
			name:    "no gzip",
			file:    "a.tsv.gz",
			content: "some x\tsome y\n1\t2\n",
			want: "read a.tsv.gz: the file is not gzip-compressed, although its name ends " +
				"in .gz",
		},
		{
			name:    "zstd named gzip",
			file:    "a.tsv.gz",
			content: "\x28\xb5\x2f\xfd",
			want: "read a.tsv.gz: the file is not gzip-compressed, although its name ends " +
				"in .gz",
		},
		{
			name:    "start of gzip",
			file:    "a.tsv.gz",
			content: "\x1f",
			want:    "read a.tsv.gz: the file is truncated or damaged at its start: unexpected EOF",
		},
		{
			name:    "damaged gzip",
			file:    "a.tsv.gz",
			content: "\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00",
			want: "read a.tsv.gz: the file is truncated or damaged at its start: gzip: " +
				"invalid header",
		},
		{
			name:    "no zstd",
			file:    "a.tsv.zst",
			content: "x\ty\n1\t2\n",
			want: "read a.tsv.zst: the file is not zstd-compressed, although its name ends in " +
				".zst",
		},
		{
			name:    "no zip",
			file:    "a.zip",
			content: "x\ty\n1\t2\n",
			want:    "read a.zip: the file is not a zip file, although its name ends in .zip",
		},
		{
			name:    "damaged zip",
			file:    "a.zip",
			content: "PK\x03\x04",
			want: "read a.zip: the file is truncated or damaged at its end: zip: not a valid " +
				"zip file",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, test.file, []byte(test.content))
			_, _, _, err := readTexts(path, test.options)
			checkInputError(t, err, path, test.want)
		})
	}
	t.Run("folder", func(t *testing.T) {
		_, err := Open(t.TempDir())
		if fault.KindOf(err) != fault.Input ||
			!strings.Contains(err.Error(), "found a folder, expected a file") {
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
		t.Errorf("kind %d with hint %q, expected bad input with a hint", fault.KindOf(err),
			fault.HintOf(err))
	}
}

// TestCommentsAndPreambles reads tables whose lines are not all rows, in buffers of every size.
func TestCommentsAndPreambles(t *testing.T) {
	for _, test := range []struct {
		file, content string
		options       TextOptions
		want          string
	}{
		{
			file:    "a.tsv",
			content: "!version 2.2\n!\nx\ty\n! one\n1\t2\n!two\n! three\n3\t!4\n!",
			options: TextOptions{Comment: "!"},
			want:    "[x y] [1 2] [3 !4]",
		},
		{
			file:    "a.tsv",
			content: "## y\nx\ty\n#1\t2\n",
			options: TextOptions{Comment: "##"},
			want:    "[x y] [#1 2]",
		},
		{
			file:    "a.gaf.gz",
			content: "!\n1\t2\n",
			options: TextOptions{Comment: "!", Delimiter: '\t', Columns: []string{"x", "y"}},
			want:    "[x y] [1 2]",
		},
		{
			file:    "a.sgd",
			content: "x;y\r\n1;2\r\n",
			options: TextOptions{Delimiter: ';'},
			want:    "[x y] [1 2]",
		},
		{
			file:    "noending",
			content: "x y\n1  2\n",
			options: TextOptions{Delimiter: ' '},
			want:    "[x y] [1 2]",
		},
		{
			file:    "a.tsv",
			content: "\xef\xbb\xbfp-value\tratio\n\nx\ty\n1\t2\n",
			options: TextOptions{SkipLines: 2},
			want:    "[x y] [1 2]",
		},
		{
			file:    "a.tsv",
			content: "p-value\tratio\n#c\nx\ty\n1\t2\n",
			options: TextOptions{SkipLines: 1, Comment: "#"},
			want:    "[x y] [1 2]",
		},
	} {
		_, compression := Format(test.file)
		columns, rows, _, err := readTexts(write(t, test.file,
			compress(t, []byte(test.content), compression)),
			test.options)
		got := strings.Trim(fmt.Sprint(append([][]string{columns}, rows...)), "[]")
		if err != nil || "["+got+"]" != test.want {
			t.Errorf("%q: got [%s], %v, want %s", test.content, got, err, test.want)
		}
	}
}

func TestRowsBeforeABadRowAreRead(t *testing.T) {
	_, rows, _, err := readTexts(write(t, "a.tsv", []byte("x\ty\n1\t2\n3\t4\nbad\n")),
		TextOptions{})
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
			row := []string{
				strings.Repeat("a", random.IntN(300)), strings.Repeat("b", 1+random.IntN(20)),
			}
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
				expected := fmt.Sprintf("%s%s:%d", name, compression, line)
				if places[i] != expected {
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
	path := write(t, "a.csv",
		append([]byte("x\n\""), bytes.Repeat([]byte("ab\n"), maxRecord/3+textBuffer)...))
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
				t.Fatalf("%s cut to %d of %d bytes: %v, expected bad input", compression, length,
					len(whole), err)
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
	return columns, rows, checkNames("", columns) == nil && !oneColumn &&
		!strings.Contains(strings.Join(columns, ""), "\r")
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
