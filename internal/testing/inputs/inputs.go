// Package inputs writes and opens the input files of tests.
package inputs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/ingest/inputfile"
)

// Write writes a file into a fresh folder and returns its path.
func Write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// WriteSGD writes a file like SGD's list of features: its rows are "TYPE ID NAME ALIASES", - for
// none.
func WriteSGD(t testing.TB, rows ...string) string {
	t.Helper()
	var text strings.Builder
	for i, row := range rows {
		f := strings.Split(row, " ")
		fmt.Fprintf(&text, "S%09d\t%s\tVerified\t%s\t%s\t%s%s\n", i+1, f[0], f[1], f[2], f[3],
			strings.Repeat("\t", 10))
	}
	return Write(t, "SGD_features.tab", strings.ReplaceAll(text.String(), "-\t", "\t"))
}

// Opened are files that are closed at the end of a test.
func Opened(t testing.TB) *inputfile.Files {
	var files inputfile.Files
	t.Cleanup(func() { files.Close() })
	return &files
}
