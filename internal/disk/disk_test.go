package disk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "name.json")
	for _, text := range []string{"first", "second, longer", ""} {
		if err := WriteWhole(path, ".tmp-", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("got %q, %v (expected %q)", got, err, text)
		}
	}
	if err := WriteWhole(dir, ".tmp-", nil); err == nil {
		t.Error("a folder was replaced")
	}
	missing := filepath.Join(dir, "missing", "name.json")
	if err := WriteWhole(missing, ".tmp-", nil); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v (expected an error that names %s)", err, missing)
	}
	for _, folder := range []string{dir, filepath.Dir(dir)} {
		if left, _ := filepath.Glob(filepath.Join(folder, ".tmp-*")); len(left) > 0 {
			t.Errorf("%v was left behind", left)
		}
	}
}

func TestSyncTree(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := SyncTree(dir); err != nil {
		t.Error(err)
	}
	if err := SyncTree(filepath.Join(dir, "missing")); err == nil {
		t.Error("a folder that is not there was synced")
	}
}
