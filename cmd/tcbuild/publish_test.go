package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tcbuild/fault"
)

func TestPublish(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, path := range map[string]string{"file": "a.arrow", "in new folders": "b/c/d.arrow", "trailing slash": "e/"} {
		t.Run(name, func(t *testing.T) {
			path := dir + "/" + path
			err := publish(path, func(temporary string) error {
				if got, want := filepath.Base(temporary), filepath.Base(path); got != want {
					t.Errorf("got base name %s, want %s", got, want)
				}
				if _, err := os.Lstat(path); err == nil {
					t.Error("the final name exists during the build")
				}
				return os.WriteFile(temporary, []byte("x"), 0o644)
			})
			if err != nil {
				t.Fatal(err)
			}
			if entries, _ := os.ReadDir(filepath.Dir(filepath.Clean(path))); entries[0].Name()[0] == '.' {
				t.Errorf("%v was left behind", entries)
			}
			if text, err := os.ReadFile(filepath.Clean(path)); string(text) != "x" {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
}

func TestPublishFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	failure := errors.New("disk full")
	err := publish(filepath.Join(dir, "out"), func(temporary string) error {
		if err := os.Mkdir(temporary, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(temporary, "half"), []byte("x"), 0o644); err != nil {
			return err
		}
		return failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("%v was left behind", entries)
	}
}

func TestPublishExisting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := publish(dir, func(string) error {
		t.Error("built nevertheless")
		return nil
	})
	if err == nil || fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
		t.Errorf("got %v, want a fault.Usage with a hint", err)
	}
}
