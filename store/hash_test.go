package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestFilesHashedTogetherHaveTheirOwnDigests(t *testing.T) {
	dir := t.TempDir()
	buffer := 256 << 10
	for _, sizes := range [][]int{{0}, {1}, {buffer}, {0, 0}, {0, 5}, {127, 129}, {buffer, buffer}, {buffer - 1, 2*buffer + 77}, {3 * buffer, 64, buffer + 1}} {
		var names []string
		var want []File
		for i, size := range sizes {
			content := bytes.Repeat([]byte(fmt.Sprintf("file %d of %v;", i, sizes)), size/16+1)[:size]
			name := fmt.Sprintf("%d.bin", i)
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				t.Fatal(err)
			}
			digest := sha256.Sum256(content)
			names = append(names, name)
			want = append(want, File{Name: name, Bytes: int64(size), SHA256: hex.EncodeToString(digest[:])})
		}
		got, err := hashFiles(dir, names...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("files of %v bytes: %v (expected %v)", sizes, got[i], want[i])
			}
		}
	}
	if _, err := hashFiles(dir, "0.bin", "missing.bin"); err == nil {
		t.Error("a missing file has no digest, but there was no error")
	}
}

func BenchmarkHashFiles(b *testing.B) {
	dir := b.TempDir()
	names := []string{"a", "b"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 16<<20), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for files := 1; files <= len(names); files++ {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			b.SetBytes(int64(files) * 16 << 20)
			for b.Loop() {
				if _, err := hashFiles(dir, names[:files]...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
