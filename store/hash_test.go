package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/encode"
)

func TestFilesHashedTogetherHaveTheirOwnDigests(t *testing.T) {
	dir := t.TempDir()
	window := hashWindow
	for _, sizes := range [][2]int{{0, 0}, {0, 5}, {127, 129}, {window, window}, {window - 1, 2*window + 77}, {window, 64}} {
		var files [2]File
		for i, size := range sizes {
			content := bytes.Repeat([]byte(fmt.Sprintf("file %d of %v;", i, sizes)), size/16+1)[:size]
			name := fmt.Sprintf("%d.bin", i)
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				t.Fatal(err)
			}
			digest := sha256.Sum256(content)
			files[i] = File{Name: name, Bytes: int64(size), SHA256: hex.EncodeToString(digest[:])}
			if alone, err := hashFile(dir, name); err != nil || alone != files[i] {
				t.Errorf("file of %d bytes: %v, %v (expected %v)", size, alone, err, files[i])
			}
		}
		a, b, err := hashTwoFiles(dir, "0.bin", "1.bin")
		if err != nil || [2]File{a, b} != files {
			t.Errorf("files of %v bytes: %v, %v, %v (expected %v)", sizes, a, b, err, files)
		}
	}
	if _, _, err := hashTwoFiles(dir, "0.bin", "missing.bin"); err == nil {
		t.Error("a missing file has no digest, but there was no error")
	}
}

// A page that is behind a mapped file's end ends the process where it is read, as one does that the disk does not give.
func TestHashOfAFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shrinking.bin"), make([]byte, hashWindow), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := openHashed(dir, "shrinking.bin")
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if err := os.Truncate(f.file.Name(), hashWindow/2); err != nil {
		t.Fatal(err)
	}
	if err := f.moveOn(); !errors.Is(err, encode.ErrDamaged) || !strings.Contains(err.Error(), "shrinking.bin") {
		t.Errorf("got error %v, expected damage of the named file", err)
	}
}
