package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"tcbuild/fault"
)

func TestHashFile(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{0, 1, hashBuffer - 1, hashBuffer, 2*hashBuffer + 77} {
		content := bytes.Repeat([]byte("content "), size/8+1)[:size]
		if err := os.WriteFile(filepath.Join(dir, "file"), content, 0o644); err != nil {
			t.Fatal(err)
		}
		digest := sha256.Sum256(content)
		want := File{Name: "file", Bytes: int64(size), SHA256: hex.EncodeToString(digest[:])}
		if got, err := HashFile(dir, "file"); err != nil || got != want {
			t.Errorf("file of %d bytes: %v, %v, expected %v", size, got, err, want)
		}
	}
	if _, err := HashFile(dir, "missing"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

// Anything else in place of a data file is damage, reported at once: a pipe does not block, an
// endless device is not read. No part of the dataset gives other masks.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(path string) error{
		"nothing":   func(string) error { return nil },
		"a folder":  func(path string) error { return os.Mkdir(path, 0o755) },
		"a pipe":    func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"a device":  func(path string) error { return os.Symlink("/dev/zero", path) },
		"a loop":    func(path string) error { return os.Symlink(filepath.Base(path), path) },
		"no target": func(path string) error { return os.Symlink("nowhere", path) },
	} {
		for _, variant := range []Variant{Incidence, Indices} {
			f := newFixture(t, variant, map[Variant]string{Indices: "zstd"}[variant], 8, 4, 2)
			f.build(t)
			d, err := Open(f.out)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range append(d.Manifest.Files, File{Name: manifestName}) {
				path := filepath.Join(f.out, file.Name)
				away := filepath.Join(t.TempDir(), "away")
				if err := os.Rename(path, away); err != nil {
					t.Fatal(err)
				}
				if err := replace(path); err != nil {
					t.Fatal(err)
				}
				if file.Name == manifestName {
					if _, err := Open(f.out); name != "nothing" && name != "no target" {
						wantFault(t, err, fault.Damaged, path)
					}
				} else {
					wantFault(t, d.CheckFile(file), fault.Damaged, path)
					f.readDamaged(t, file.Name)
				}
				os.Remove(path)
				if err := os.Rename(away, path); err != nil {
					t.Fatal(err)
				}
			}
			f.check(t)
		}
	}
}

// A link to a file is read, as one to a store of large files.
func TestLinkToAFile(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 8, 4, 1)
	f.build(t)
	path := filepath.Join(f.out, f.manifest.Shards[0].Name, dataName)
	away := filepath.Join(t.TempDir(), "away")
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(away, path); err != nil {
		t.Fatal(err)
	}
	f.check(t)
}
