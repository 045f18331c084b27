package table

import (
	"strings"
	"testing"

	"tcbuild/fault"
)

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
