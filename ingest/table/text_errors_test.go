package table

import (
	"strings"
	"testing"

	"tcbuild/fault"
)

func TestTextErrors(t *testing.T) {
	for _, test := range []struct {
		name, file, content string
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
			want:    "read a.csv:3: found a quote that is not closed in this line, or text after a closing quote",
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
			want:    "read a.csv:2: found a quote that is not closed in this line, or text after a closing quote",
		},
		{
			name:    "row after a line break in quotes",
			file:    "a.csv",
			content: "x,y\n\"1\n\",2\n3\n",
			want:    "read a.csv:2: found a quote that is not closed in this line, or text after a closing quote",
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
			want:    "read a.csv:1: found a quote that is not closed in this line, or text after a closing quote",
		},
		{
			name:    "R's escaped quote",
			file:    "a.tsv",
			content: "\"x\"\t\"y\"\n\"say \\\"a\\\"\"\t2\n",
			want:    `read a.tsv:2: found a quote that is not closed in this line, or text after a closing quote`,
		},
		{
			name:    "unknown ending",
			file:    "a.ods",
			content: "x\n",
			want:    `open table a.ods: found ending ".ods", expected ` + Expected,
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
			name:    "a quote that starts text, and one in a later row",
			file:    "a.tsv",
			content: "x\ty\n\"5 prime\t1\ny\"\t2\n",
			want:    "read a.tsv:2: found a quote that is not closed in this line, or text after a closing quote",
		},
		{
			name:    "a quote inside text",
			file:    "a.tsv",
			content: "x\ty\n5'-\"a\"\t1\n",
			want:    "read a.tsv:2: found a quote inside an unquoted field",
		},
		{
			name:    "a line break inside quotes",
			file:    "a.csv",
			content: "x,y\n\"1\n\",2\n",
			want:    "read a.csv:2: found a quote that is not closed in this line, or text after a closing quote",
		},
		{
			name:    "UTF-16",
			file:    "a.tsv",
			content: "\xff\xfex\x00\n\x00",
			want:    "read a.tsv: found UTF-16, expected UTF-8",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, test.file, []byte(test.content))
			_, _, _, err := readTexts(path)
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
