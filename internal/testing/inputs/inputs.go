// Package inputs writes and opens the input files of tests.
package inputs

import (
	"os"
	"path/filepath"
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

// Opened are files that are closed at the end of a test.
func Opened(t testing.TB) *inputfile.Files {
	var files inputfile.Files
	t.Cleanup(func() { files.Close() })
	return &files
}
