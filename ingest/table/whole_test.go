package table

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
)

// TestReadWhole reads a compressed file, and refuses one that unpacks to more than any model has.
func TestReadWhole(t *testing.T) {
	defer func(most int64) { maxWhole = most }(maxWhole)
	maxWhole = 1 << 20
	for _, c := range []struct {
		size int
		want string // in the error
	}{
		{0, ""},
		{1 << 20, ""},
		{1<<20 + 1, "found more than 1 MiB"},
		{1 << 24, "found more than 1 MiB"},
	} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(make([]byte, c.size)); err != nil {
			t.Fatal(err)
		}
		w.Close()
		path := filepath.Join(t.TempDir(), "model.yml.gz")
		if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		var files inputfile.Files
		text, err := ReadWhole(&files, path)
		files.Close()
		switch {
		case c.want == "" && (err != nil || len(text) != c.size):
			t.Errorf("%d bytes: got %d, %v", c.size, len(text), err)
		case c.want != "" &&
			(fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%d bytes: got %v, want %q", c.size, err, c.want)
		}
	}
}
