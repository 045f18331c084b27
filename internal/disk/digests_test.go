package disk

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A digest is trusted as long as nothing about the file has changed, unless the file was so new
// that it could have changed again at the same time of the clock.
func TestDigests(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	known := make(Digests)
	digest := func(wantRead bool) string {
		t.Helper()
		file, read, err := known.Of("name", path)
		if err != nil || read != wantRead || file.Bytes != 3 {
			t.Fatalf("got %v, read %v, %v; want read %v", file, read, err, wantRead)
		}
		return file.SHA256
	}
	write("one")
	first := digest(true)
	if len(known) != 0 {
		t.Error("a file that has just changed is known")
	}
	time.Sleep(settled + 100*time.Millisecond)
	digest(true)
	if digest(false) != first {
		t.Error("another digest")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write("two")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if digest(true) == first {
		t.Error("a change with the old time is not noticed")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := known.Of("name", path); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}
