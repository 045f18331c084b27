package table

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
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
	path string,
) (columns []string, rows [][]string, places []string, err error) {
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, nil, nil, err
	}
	defer file.Close()
	r, err := OpenFile(file)
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
			name:    "TSV of R with one column",
			file:    "a.tsv",
			content: "\"x\"\r\n\"1\"\r\n",
			want:    "x; a.tsv:2 1",
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
			name:    "quotes of some fields",
			file:    "a.tsv",
			content: "x\n\"1\"\nb\n",
			want:    `x; a.tsv:2 1; a.tsv:3 b`,
		},
		{
			name:    "a single column with spaces",
			file:    "a.csv",
			content: "x y|z\n1 2\n",
			want:    "x y|z; a.csv:2 1 2",
		},
		{name: "CSV", file: "a.csv", content: "x,y\n1,2\n", want: "x,y; a.csv:2 1,2"},
		{
			name:    "CSV quotes",
			file:    "a.csv",
			content: "x,\"y\"\n\"1,5\",\"say \"\"a\"\"\"\n\"\",\"2\"\r\n",
			want:    `x,y; a.csv:2 1,5,say "a"; a.csv:3 ,2`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			columns, rows, places, err := readTexts(write(t, test.file, []byte(test.content)))
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

func TestRowsBeforeABadRowAreRead(t *testing.T) {
	_, rows, _, err := readTexts(write(t, "a.tsv", []byte("x\ty\n1\t2\n3\t4\nbad\n")))
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
			if random.IntN(3) == 0 {
				row[0] = strings.ReplaceAll(row[0], "aaaaa", "a"+delimiter+"\"a")
				text.WriteString(`"` + strings.ReplaceAll(row[0], `"`, `""`) + `"` + delimiter + row[1] + "\n")
				continue
			}
			text.WriteString(row[0] + delimiter + row[1] + "\n")
		}
		name := map[string]string{"\t": "a.tsv", ",": "a.csv"}[delimiter]
		for _, compression := range []string{"", ".gz", ".zst"} {
			path := write(t, name+compression, compress(t, []byte(text.String()), compression))
			_, rows, places, err := readTexts(path)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(rows, want) {
				t.Errorf("%s%s: %d rows differ from what was written", name, compression, len(rows))
			}
			line := 2
			for i := range want {
				expected := fmt.Sprintf("%s%s:%d", name, compression, line)
				if places[i] != expected {
					t.Fatalf("row %d is at %s, expected %s", i, places[i], expected)
				}
				line++
			}
		}
	}
}
