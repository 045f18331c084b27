package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
)

func TestStage(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 20, 4, 2)
	f.build(t)
	dataset, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "local/copy")
	stage := func(want bool) {
		t.Helper()
		if copied, err := dataset.Stage(t.Context(), dir); err != nil || copied != want {
			t.Errorf("got %v, %v, want %v", copied, err, want)
		}
		(&fixture{graph: f.graph, samples: f.samples, manifest: f.manifest, out: dir}).check(t)
		if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
			t.Errorf("got %v, want the copy alone", entries)
		}
	}
	stage(true)
	stage(false)

	shard, err := dataset.Manifest.file("shard-00001-of-00002/data.mdb")
	if err != nil {
		t.Fatal(err)
	}
	flip(t, filepath.Join(dir, shard.Name)) // its size does not reveal it
	stage(true)
	if err := os.WriteFile(filepath.Join(dir, graphName, "other"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	stage(true)
	if err := os.Remove(filepath.Join(dir, shard.Name)); err != nil {
		t.Fatal(err)
	}

	t.Run("readers go on", func(t *testing.T) {
		open, err := os.Open(filepath.Join(dir, manifestName))
		if err != nil {
			t.Fatal(err)
		}
		defer open.Close()
		stage(true)
		if info, err := open.Stat(); err != nil || info.Size() == 0 || info.Sys().(*syscall.Stat_t).Nlink != 0 {
			t.Errorf("the old manifest was changed: %v", err)
		}
	})
	t.Run("one was killed after the copy", func(t *testing.T) {
		left := filepath.Join(filepath.Dir(dir), ".copy.tcbuild-ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		if err := os.Mkdir(left, 0o777); err != nil {
			t.Fatal(err)
		}
		stage(false)
	})
	t.Run("several at once", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "copy")
		var group sync.WaitGroup
		results := make([]bool, 4)
		for i := range results {
			group.Go(func() {
				var err error
				if results[i], err = dataset.Stage(t.Context(), dir); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		slices.SortFunc(results, func(a, b bool) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		if !slices.Equal(results, []bool{false, false, false, true}) {
			t.Errorf("got %v, want one to copy", results)
		}
	})
	t.Run("something else is there", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := dataset.Stage(t.Context(), dir)
		wantFault(t, err, fault.Usage, "thesis.tex")
	})
	t.Run("a dataset that was built is there", func(t *testing.T) {
		other := newFixture(t, Indices, "delta", 24, 4, 2)
		other.build(t)
		before := treeOf(t, other.out)
		_, err := dataset.Stage(t.Context(), other.out)
		wantFault(t, err, fault.Usage, "which 'tcbuild stage' did not copy there")
		if !maps.Equal(treeOf(t, other.out), before) {
			t.Error("it was changed")
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		dir := filepath.Join(t.TempDir(), "copy")
		if _, err := dataset.Stage(ctx, dir); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		empty(t, filepath.Dir(dir))
	})
	t.Run("interrupted", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "copy")
		_, err := dataset.Stage(&expiring{Context: t.Context(), at: 8}, dir)
		wantFault(t, err, fault.Busy, "stopped")
		empty(t, filepath.Dir(dir))
	})
	t.Run("removed meanwhile", func(t *testing.T) {
		moved := f.out + ".moved"
		ctx := &calling{Context: t.Context(), at: 8, call: func() { _ = os.Rename(f.out, moved) }}
		dir := filepath.Join(t.TempDir(), "copy")
		_, err := dataset.Stage(ctx, dir)
		wantFault(t, err, fault.Busy, "the dataset "+f.out+" was removed while it was copied")
		if err := os.Rename(moved, f.out); err != nil {
			t.Fatal(err)
		}
		empty(t, filepath.Dir(dir))
	})
	t.Run("damaged source", func(t *testing.T) {
		flip(t, filepath.Join(f.out, shard.Name))
		dir := filepath.Join(t.TempDir(), "copy")
		_, err := dataset.Stage(t.Context(), dir)
		wantFault(t, err, fault.Damaged, shard.Name, "sha256")
		empty(t, filepath.Dir(dir))
	})
}

// calling is a context that calls a function when it is asked for its error for the nth time.
type calling struct {
	context.Context
	at, calls int
	call      func()
}

func (c *calling) Err() error {
	if c.calls++; c.calls == c.at {
		c.call()
	}
	return c.Context.Err()
}

// expiring is a context that is done when it is asked for its error for the nth time.
type expiring struct {
	context.Context
	at, calls int
}

func (e *expiring) Err() error {
	if e.calls++; e.calls >= e.at {
		return fault.New(fault.Busy, "", "stopped")
	}
	return nil
}

// swapping is a context that exchanges two folders at given calls of Err: between any two reads of
// a copy.
type swapping struct {
	context.Context
	t     *testing.T
	paths [2]string
	at    []int
	calls int
}

func (s *swapping) Err() error {
	if s.calls++; slices.Contains(s.at, s.calls) {
		if err := unix.Renameat2(unix.AT_FDCWD, s.paths[0], unix.AT_FDCWD, s.paths[1], unix.RENAME_EXCHANGE); err != nil {
			s.t.Error(err)
		}
	}
	return s.Context.Err()
}

// A dataset that is replaced by another of its name while it is copied, and put back or not,
// becomes a copy of the one that was opened, to the byte, or an error; over an older copy of
// either.
func TestStageWhileReplaced(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 20, 4, 2)
	f.build(t)
	other := newFixture(t, Indices, "delta", 24, 4, 2)
	other.build(t)
	built := treeOf(t, f.out)
	want := maps.Clone(built)
	want["/"+stagedName] = stagedText
	last := 0 // call of Err in an undisturbed copy
	for _, first := range []int{0, 1, 3, 7} {
		for _, back := range []int{0, 4, 8} {
			for _, earlier := range []string{"", f.out, other.out} {
				dir := filepath.Join(t.TempDir(), "copy")
				if earlier != "" {
					dataset, err := Open(earlier)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := dataset.Stage(t.Context(), dir); err != nil {
						t.Fatal(err)
					}
				}
				dataset, err := Open(f.out)
				if err != nil {
					t.Fatal(err)
				}
				before := treeOf(t, dir)
				ctx := &swapping{Context: t.Context(), t: t, paths: [2]string{f.out, other.out}, at: []int{first, back}}
				_, err = dataset.Stage(ctx, dir)
				last = max(last, ctx.calls)
				what := fmt.Sprintf("replaced at %d and %d of %d, over %q", first, back, ctx.calls, earlier)
				if got := treeOf(t, dir); err == nil && !maps.Equal(got, want) || err != nil && !maps.Equal(got, before) {
					t.Errorf("%s: the copy has other bytes (%v)", what, err)
				}
				// put back, nothing tells that it was away
				if damaged := fault.KindOf(err) == fault.Damaged && back != 0; err != nil && !damaged {
					wantFault(t, err, fault.Busy, f.out, "replaced")
				}
				if !maps.Equal(treeOf(t, f.out), built) { // once more, for the next
					ctx.at, ctx.calls = []int{1}, 0
					_ = ctx.Err()
				}
			}
		}
	}
	if last < 8 {
		t.Errorf("a copy asked for the context %d times, want 8 or more", last)
	}
}

// treeOf is the content of all files below a folder, by name.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(text)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

// flip changes one byte of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
