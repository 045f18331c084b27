package store

import (
	"bytes"
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

// A shard that is interrupted on one machine's scratch is resumed on another's, after its last
// commit.
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
		for _, first := range []int{shard.First, shard.First + 4} {
			if err := s.Put(first, f.value(t, first)); err != nil {
				t.Fatal(err)
			}
			if first > shard.First {
				break // this one is not committed
			}
			if err := s.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(b.path(shard.Name)); err == nil {
			t.Error("the shard is built in place")
		}
		if err := s.Interrupt(); err != nil {
			t.Fatal(err)
		}
		b.Close()
		empty(t, scratch)

		b = f.beginOnScratch(t, t.TempDir(), i)
		if s, err = b.Shard(i); err != nil || s.Next != shard.First+4 {
			t.Fatalf("the shard goes on with sample %d, %v, want %d", s.Next, err, shard.First+4)
		}
		f.putShard(t, b, i)
		f.putOthers(t, b)
		publish(t, b, i == 1)
		b.Close()
	}
	f.check(t)
}

func (f *fixture) beginOnScratch(t *testing.T, scratch string, shard int) *Building {
	t.Helper()
	b := f.begin(t, ResumeIfPossible, shard)
	if err := b.UseScratch(scratch); err != nil {
		t.Fatal(err)
	}
	return b
}

func empty(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v was left behind in %s (%v)", entries, dir, err)
	}
}

// The next build of the same dataset removes what killed builds left on scratch, and clean finds
// it.
func TestKilledOnScratch(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 20, 4, 2)
	scratch := t.TempDir()
	left := filepath.Join(scratch, "."+filepath.Base(f.out)+".tcbuild-"+strings.Repeat("A", 26))
	if err := os.MkdirAll(filepath.Join(left, "shard"), 0o755); err != nil {
		t.Fatal(err)
	}
	first := f.beginOnScratch(t, scratch, 0)
	defer first.Close()
	second := f.beginOnScratch(t, scratch, 1)
	defer second.Close()
	entries, err := os.ReadDir(scratch)
	if err != nil || len(entries) != 2 {
		t.Errorf("found %v, %v, want the folders of the two builds that run", entries, err)
	}
	for _, entry := range entries {
		if !disk.TemporaryFor(entry.Name(), filepath.Base(f.out)) {
			t.Errorf("%s would not be found by clean", entry.Name())
		}
	}
}

func TestStatus(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := newFixture(t, Indices, "zstd", 12, 2, 3)
	status := func(want ...ShardStatus) {
		t.Helper()
		got, err := Status(f.out)
		if err != nil || len(got) != len(want) {
			t.Fatalf("got %v, %v", got, err)
		}
		for i := range got {
			if got[i].State != want[i].State || got[i].Written != want[i].Written || got[i].Name != f.manifest.Shards[i].Name {
				t.Errorf("shard %d: got %+v, want %+v", i, got[i], want[i])
			}
		}
	}
	state := func(state ShardState, written int) ShardStatus { return ShardStatus{State: state, Written: written} }
	if _, err := Status(f.out); err == nil {
		t.Error("there is nothing, but it has a status")
	}

	whole := f.begin(t, ResumeIfPossible, AllShards)
	for i := range 3 { // as a build does, before it writes
		if _, err := whole.Shard(i); err != nil {
			t.Fatal(err)
		}
	}
	status(state(ShardRunning, 0), state(ShardWaiting, 0), state(ShardWaiting, 0))
	f.putShard(t, whole, 0)
	status(state(ShardDone, 4), state(ShardRunning, 0), state(ShardWaiting, 0))
	whole.Close()
	status(state(ShardDone, 4), state(ShardWaiting, 0), state(ShardWaiting, 0))

	second := f.begin(t, ResumeIfPossible, 1)
	shard, err := second.Shard(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := shard.Put(shard.First, f.value(t, shard.First)); err != nil {
		t.Fatal(err)
	}
	if err := shard.Commit(); err != nil {
		t.Fatal(err)
	}
	third := f.begin(t, ResumeIfPossible, 2)
	status(state(ShardDone, 4), state(ShardRunning, 2), state(ShardRunning, 0))
	second.Close()
	status(state(ShardDone, 4), state(ShardFailed, 2), state(ShardRunning, 0))
	third.Close()
	status(state(ShardDone, 4), state(ShardFailed, 2), state(ShardWaiting, 0))

	rest := f.begin(t, ResumeIfPossible, AllShards)
	status(state(ShardDone, 4), state(ShardRunning, 2), state(ShardWaiting, 0))
	f.putOthers(t, rest)
	f.putShard(t, rest, 1)
	f.putShard(t, rest, 2)
	publish(t, rest, true)
	status(state(ShardDone, 4), state(ShardDone, 4), state(ShardDone, 4))
}
