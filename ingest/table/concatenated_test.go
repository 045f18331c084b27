package table

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/klauspost/compress/zstd"

	"tcbuild/fault"
)

// Two concatenated files are read as one where the format allows it, and are an error elsewhere.
// Readers that start at a footer would read only one of them.
func TestFilesInOne(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.arrow")
	for _, path := range paths {
		content, err := os.ReadFile(path)
		check(t, err)
		if readDamaged(t, filepath.Base(path), content) != nil {
			continue // a damaged seed
		}
		if err := readDamaged(t, "two-"+filepath.Base(path), append(bytes.Clone(content), content...)); err == nil {
			t.Errorf("%s twice: no error", path)
		}
	}
}

func TestCompressedInOne(t *testing.T) {
	gzipped := func(text string) []byte {
		var content bytes.Buffer
		w := gzip.NewWriter(&content)
		w.Write([]byte(text))
		w.Close()
		return content.Bytes()
	}
	encoder, _ := zstd.NewWriter(nil)
	zstandard := func(text string) []byte { return encoder.EncodeAll([]byte(text), nil) }
	for _, c := range []struct {
		file   string
		parts  [][]byte
		fields string // of the first column, or the error
	}{
		{"a.tsv.gz", [][]byte{gzipped("x\n1\n"), gzipped("2\n3"), gzipped("\n4\n")}, "1 2 3 4"},
		{"a.tsv.gz", [][]byte{gzipped("x\n1\n"), gzipped(""), gzipped("2\n")}, "1 2"},
		{"a.tsv.gz", [][]byte{gzipped("x\n1\n"), []byte("2\n")}, "truncated or damaged"},
		{"a.tsv.gz", [][]byte{gzipped("x\n1\n"), gzipped("2\n")[:12]}, "truncated or damaged"},
		{"a.tsv.zst", [][]byte{zstandard("x\n1\n"), zstandard("2\n3"), zstandard("\n4\n")}, "1 2 3 4"},
		{"a.tsv.zst", [][]byte{zstandard("x\n1\n"), []byte("2\n")}, "truncated or damaged"},
		{"a.tsv.zst", [][]byte{zstandard("x\n1\n"), zstandard("2\n3")[:8]}, "truncated or damaged"},
	} {
		_, rows, _, err := readTexts(write(t, c.file, bytes.Join(c.parts, nil)))
		var fields []string
		for _, row := range rows {
			fields = append(fields, row...)
		}
		found := strings.Join(fields, " ")
		if err != nil {
			found = err.Error()
		}
		if found != c.fields && (err == nil || !strings.Contains(found, c.fields)) {
			t.Errorf("%s of %d parts: got %s, want %s", c.file, len(c.parts), found, c.fields)
		}
	}
}

// An error names an Arrow stream as such, whatever its ending.
func TestArrowStream(t *testing.T) {
	values := array.NewFloat64Builder(memory.DefaultAllocator)
	values.Append(1)
	numbers := values.NewArray()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: numbers.DataType()}}, nil)
	var content bytes.Buffer
	w := ipc.NewWriter(&content, ipc.WithSchema(schema))
	check(t, w.Write(array.NewRecord(schema, []arrow.Array{numbers}, 1)))
	check(t, w.Close())
	for _, name := range []string{"a.arrow"} {
		err := readDamaged(t, name, content.Bytes())
		if err == nil || !strings.Contains(err.Error(), "found an Arrow stream, expected an Arrow file") || fault.HintOf(err) == "" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
