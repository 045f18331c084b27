package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"tcbuild/internal/fault"
)

func TestStage(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 20, 4, 2)
	f.build(t)
	dataset, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "local/copy")
	stage := func(copied, reused int64) {
		t.Helper()
		staged, err := dataset.Stage(t.Context(), dir)
		if err != nil || staged.Copied != copied || staged.Reused != reused {
			t.Errorf("got %+v, %v, want %d bytes copied, %d reused", staged, err, copied, reused)
		}
		(&fixture{graph: f.graph, samples: f.samples, manifest: f.manifest, out: dir}).check(t)
		if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
			t.Errorf("got %v, want the copy alone", entries)
		}
	}
	all := dataset.Manifest.DataBytes()
	stage(all, 0)
	stage(0, all)

	shard, err := dataset.Manifest.file("shard-00001-of-00002/data.mdb")
	if err != nil {
		t.Fatal(err)
	}
	flip(t, filepath.Join(dir, shard.Name)) // one that cannot be told by its size
	stage(shard.Bytes, all-shard.Bytes)
	if err := os.Remove(filepath.Join(dir, shard.Name)); err != nil {
		t.Fatal(err)
	}
	stage(shard.Bytes, all-shard.Bytes)

	t.Run("readers go on", func(t *testing.T) {
		open, err := os.Open(filepath.Join(dir, manifestName))
		if err != nil {
			t.Fatal(err)
		}
		defer open.Close()
		stage(0, all)
		if info, err := open.Stat(); err != nil || info.Size() == 0 || info.Sys().(*syscall.Stat_t).Nlink != 0 {
			t.Errorf("the old manifest was changed: %v", err)
		}
	})
	t.Run("several at once", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "copy")
		var group sync.WaitGroup
		results := make([]Staged, 4)
		for i := range results {
			group.Go(func() {
				var err error
				if results[i], err = dataset.Stage(t.Context(), dir); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		copied := int64(0)
		for _, staged := range results {
			copied += staged.Copied
		}
		if copied != all {
			t.Errorf("%d bytes were copied, want %d, once", copied, all)
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
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		dir := filepath.Join(t.TempDir(), "copy")
		if _, err := dataset.Stage(ctx, dir); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
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
