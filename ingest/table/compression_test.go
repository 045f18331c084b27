package table

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"tcbuild/fault"
	"tcbuild/internal/testing/testrun"
)

func TestEndlessRow(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it writes 64 MiB")
	}
	path := write(t, "a.csv",
		append([]byte("x\n"), bytes.Repeat([]byte("abc"), maxRecord/3+textBuffer)...))
	_, _, _, err := readTexts(path)
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
			_, _, _, err := readTexts(path)
			if fault.KindOf(err) != fault.Input {
				t.Fatalf("%s cut to %d of %d bytes: %v, expected bad input", compression, length,
					len(whole), err)
			}
			if length > 20 && !strings.Contains(err.Error(), "is truncated or damaged") {
				t.Fatalf("%s cut to %d of %d bytes: %v", compression, length, len(whole), err)
			}
		}
		_, want, _, err := readTexts(write(t, "a.tsv"+compression, whole))
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); at += testrun.Cases(1, 5) {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 1 << (at % 8)
			_, rows, _, err := readTexts(write(t, "a.tsv"+compression, damaged))
			if err == nil && !reflect.DeepEqual(rows, want) {
				t.Fatalf("%s with byte %d flipped: other rows and no error", compression, at)
			}
		}
	}
}

// A huge file in a wrong format is reported before it is digested, which would take hours.
func TestWrongFormatIsNotDigested(t *testing.T) {
	for _, name := range []string{"a.tsv", "a.arrow", "a.tsv.gz"} {
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
