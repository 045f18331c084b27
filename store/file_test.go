package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

// Files of absurd sizes, as sparse files can have, are damage that is found without reading them.
func TestSizesAreBounded(t *testing.T) {
	t.Parallel()
	const sparse = 1 << 40
	f := newFixture(t, Indices, "zstd", 8, 4, 1)
	f.build(t)
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	grow := func(name string, size int64) string {
		path := filepath.Join(f.out, name)
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(file.Truncate(size), file.Close()); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := grow("graph/nodes/another.arrow", sparse)
	_, err = d.readGraph()
	wantFault(t, err, fault.Damaged, path+": the manifest does not list it")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"graph/nodes/gene.arrow", "graph/edges/gene__physical__gene.arrow"} {
		info, err := os.Stat(filepath.Join(f.out, name))
		if err != nil {
			t.Fatal(err)
		}
		path := grow(name, sparse)
		_, err = d.readGraph()
		wantFault(t, err, fault.Damaged, path+": it has 1099511627776 bytes (manifest: ")
		grow(name, info.Size())
	}
	f.check(t)

	path = grow(runName, 1<<28)
	_, err = d.Stage(t.Context(), filepath.Join(t.TempDir(), "copy"))
	wantFault(t, err, fault.Damaged, path+": the file is too large")
	path = grow(manifestName, 1<<28)
	_, err = Open(f.out)
	wantFault(t, err, fault.Damaged, path+": the file is too large")
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
