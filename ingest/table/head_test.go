package table

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
)

func TestHead(t *testing.T) {
	for _, test := range []struct {
		name, text string
		options    TextOptions
		want       string
	}{
		{"a.tsv", "\ufeffa\tb\n1\t2\t3\nx\n", TextOptions{}, `[["a" "b"] ["1" "2" "3"]]`},
		{"a.csv", "\"a,b\",c\n", TextOptions{}, `[["a,b" "c"]]`},
		{"a.txt", "a  b \n", TextOptions{Delimiter: ' '}, `[["a" "b"]]`},
	} {
		path := filepath.Join(t.TempDir(), test.name)
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		rows, err := Head(open(t, path), 2, test.options)
		if got := fmt.Sprintf("%q", rows); err != nil || got != test.want {
			t.Errorf("Head(%q) = %s, %v; want %s", test.text, got, err, test.want)
		}
	}
	if _, err := Head(open(t, "testdata/types-plain.arrow"), 1, TextOptions{}); fault.KindOf(err) != fault.Input {
		t.Errorf("Head of an Arrow file: %v", err)
	}
}

func open(t testing.TB, path string) *inputfile.File {
	t.Helper()
	file, err := inputfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}
