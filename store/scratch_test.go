package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tcbuild/internal/disk"
)

// Shards built on scratch have the bytes of those built in place.
func TestScratch(t *testing.T) {
	inPlace, f := newFixture(t, Indices, "zstd", 20, 4, 2), newFixture(t, Indices, "zstd", 20, 4, 2)
	inPlace.build(t)
	scratch := t.TempDir()
	b := f.beginOnScratch(t, scratch, AllShards)
	f.putOthers(t, b)
	f.putShard(t, b, 0)
	f.putShard(t, b, 1)
	publish(t, b, true)
	b.Close()
	empty(t, scratch)
	f.check(t)
	for _, shard := range f.manifest.Shards {
		got, err1 := os.ReadFile(filepath.Join(f.out, shard.Name, dataName))
		want, err2 := os.ReadFile(filepath.Join(inPlace.out, shard.Name, dataName))
		if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s has other bytes (%v, %v)", shard.Name, err1, err2)
		}
	}
}

// A shard that is interrupted on one machine's scratch starts again on another's.
func TestInterruptedOnScratch(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := newFixture(t, Indices, "zstd", 20, 4, 2)
	for i, shard := range f.manifest.Shards {
		scratch := t.TempDir()
		b := f.beginOnScratch(t, scratch, i)
		s, err := b.Shard(i)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Put(shard.First, f.value(t, shard.First)), s.Commit()); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(b.path(".build", ".*")); left != nil || b.complete(i) {
			t.Errorf("the shard is built in place: %v", left)
		}
		if err := s.Discard(); err != nil {
			t.Fatal(err)
		}
		b.Close()
		empty(t, scratch)

		scratch = t.TempDir()
		b = f.beginOnScratch(t, scratch, i)
		f.putShard(t, b, i)
		f.putOthers(t, b)
		publish(t, b, i == 1)
		b.Close()
		empty(t, scratch)
	}
	f.check(t)
}

func (f *fixture) beginOnScratch(t *testing.T, scratch string, shard int) *Building {
	t.Helper()
	b := f.begin(t, ResumeIfPossible, shard)
	b.UseScratch(scratch)
	return b
}

func empty(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v was left behind in %s (%v)", entries, dir, err)
	}
}

// The next build of the same shard removes what killed builds left on scratch, and clean finds it.
func TestKilledOnScratch(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 20, 4, 2)
	scratch := t.TempDir()
	left := filepath.Join(scratch, "."+f.manifest.Shards[0].Name+".tcbuild-"+strings.Repeat("A", 26))
	if err := os.MkdirAll(filepath.Join(left, "shard"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 2 { // side by side
		if _, err := f.beginOnScratch(t, scratch, i).Shard(i); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(scratch)
	if err != nil || len(entries) != 2 {
		t.Errorf("found %v, %v, want the folders of the two shards that are built", entries, err)
	}
	for i, entry := range entries {
		if !disk.TemporaryFor(entry.Name(), f.manifest.Shards[i].Name) {
			t.Errorf("%s would not be found by clean", entry.Name())
		}
	}
}

func TestStatus(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := newFixture(t, Indices, "zstd", 12, 2, 3)
	status := func(want ...ShardState) {
		t.Helper()
		got, err := Status(f.out)
		if err != nil || len(got) != len(want) {
			t.Fatalf("got %v, %v", got, err)
		}
		for i := range got {
			if got[i].State != want[i] || got[i].Name != f.manifest.Shards[i].Name {
				t.Errorf("shard %d: got %+v, want %+v", i, got[i], want[i])
			}
		}
	}
	if _, err := Status(f.out); err == nil {
		t.Error("there is nothing, but it has a status")
	}

	whole := f.begin(t, ResumeIfPossible, AllShards)
	status(ShardRunning, ShardWaiting, ShardWaiting)
	f.putShard(t, whole, 0)
	status(ShardDone, ShardRunning, ShardWaiting)
	whole.Close()
	status(ShardDone, ShardWaiting, ShardWaiting)

	second := f.begin(t, ResumeIfPossible, 1)
	shard, err := second.Shard(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(shard.Put(shard.First, f.value(t, shard.First)), shard.Commit()); err != nil {
		t.Fatal(err)
	}
	third := f.begin(t, ResumeIfPossible, 2)
	status(ShardDone, ShardRunning, ShardRunning)
	killTemporary(t, shard.folder)
	second.Close()
	status(ShardDone, ShardWaiting, ShardRunning)
	third.Close()
	status(ShardDone, ShardWaiting, ShardWaiting)

	rest := f.begin(t, ResumeIfPossible, AllShards)
	status(ShardDone, ShardRunning, ShardWaiting)
	f.putOthers(t, rest)
	f.putShard(t, rest, 1)
	f.putShard(t, rest, 2)
	publish(t, rest, true)
	status(ShardDone, ShardDone, ShardDone)
}
