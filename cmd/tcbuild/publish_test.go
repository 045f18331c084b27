package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tcbuild/fault"
	"tcbuild/internal/testing/seed"
)

// A killed command leaves nothing that the same command, run again, does not remove.
func TestKilledRunsLeaveNothing(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f, r := newFixture(t, 2000, 3000), seed.Rand(t)
	must(t, f.dir, f.dataset("indices", "zstd", "dataset")...)
	for _, c := range []struct{ run, made string }{
		{"synth --out new/made --samples 3000", "new/made"},
		{"verify dataset --json new/report.json", "new/report.json"},
	} {
		t.Run(c.run, func(t *testing.T) {
			dir := filepath.Join(f.dir, "new")
			args := strings.Fields(c.run)
			fresh := func() {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			fresh()
			start := time.Now()
			must(t, f.dir, args...)
			took := time.Since(start)
			for range 8 {
				fresh()
				cmd := begin(t, f.dir, args...)
				time.Sleep(time.Duration(r.Int64N(int64(took))))
				kill(t, cmd)
				if o := execute(t, f.dir, args...); o.code != 0 && !strings.Contains(o.stderr, "already exists") {
					t.Fatalf("after a kill: got exit code %d, stderr:\n%s", o.code, o.stderr)
				}
				if entries, _ := os.ReadDir(dir); len(entries) != 1 {
					t.Errorf("got %v, want %s alone", entries, c.made)
				}
			}
		})
	}
}

// kill ends a process as the kernel does when memory is short.
func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestPublish(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, path := range map[string]string{"plain": "a", "in new folders": "b/c/d", "trailing slash": "e/"} {
		t.Run(name, func(t *testing.T) {
			path := dir + "/" + path
			err := publish(path, func(temporary string) error {
				if got, want := filepath.Base(temporary), filepath.Base(path); got != want {
					t.Errorf("got base name %s, want %s", got, want)
				}
				if _, err := os.Lstat(path); err == nil {
					t.Error("the final name exists during the build")
				}
				return os.WriteFile(filepath.Join(temporary, "file"), []byte("x"), 0o644)
			})
			if err != nil {
				t.Fatal(err)
			}
			if entries, _ := os.ReadDir(filepath.Dir(filepath.Clean(path))); entries[0].Name()[0] == '.' {
				t.Errorf("%v was left behind", entries)
			}
			if text, err := os.ReadFile(filepath.Join(path, "file")); string(text) != "x" {
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
	dir := filepath.Join(t.TempDir(), "empty")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	err := publish(dir, func(temporary string) error {
		return os.WriteFile(filepath.Join(temporary, "file"), nil, 0o644)
	})
	if err == nil || fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
		t.Errorf("got %v, want a fault.Usage with a hint", err)
	}
	if got := glob(t, filepath.Dir(dir), "*/*"); len(got) != 0 || len(glob(t, filepath.Dir(dir), ".*")) != 0 {
		t.Errorf("found %v in the folder that was there, or something beside it", got)
	}
}
