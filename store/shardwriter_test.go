package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"tcbuild/encode"
	"tcbuild/internal/disk"
)

// bigValue is a value of one sample, so long that a transaction takes two of them.
func bigValue(f *fixture, first int) []byte {
	return encode.AppendValue(nil, f.manifest.Seed(), first, 1,
		func(dst []byte, _ int) []byte { return append(dst, make([]byte, commitBytes*3/8)...) })
}

// write puts the samples of the shard up to end-1.
func write(t *testing.T, f *fixture, shard *Shard, end int) {
	t.Helper()
	for next := shard.First; next < end; next++ {
		if err := shard.Put(next, bigValue(f, next)); err != nil {
			t.Fatal(err)
		}
	}
}

// beginShard begins the first shard.
func beginShard(t *testing.T, b *Building) *Shard {
	t.Helper()
	shard, err := b.Shard(0)
	if err != nil {
		t.Fatal(err)
	}
	return shard
}

// A shard that was interrupted or killed anywhere starts again, and ends with the bytes of an
// undisturbed one. Nothing is left of the first attempt.
func TestInterruptedShardStartsAgain(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := newFixture(t, Indices, "raw", 5, 1, 1)
	b := f.begin(t, ResumeNever, AllShards)
	data := b.path(f.manifest.Shards[0].Name, dataName)
	whole := func(shard *Shard) []byte {
		t.Helper()
		write(t, f, shard, 5)
		if err := errors.Join(shard.Commit(), shard.Seal()); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(data)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	want := whole(beginShard(t, b))
	b.Close()
	for _, killed := range []bool{false, true} {
		for _, end := range []int{0, 2, 3, 5} { // samples put before; a transaction takes two
			b := f.begin(t, ResumeNever, AllShards)
			shard := beginShard(t, b)
			write(t, f, shard, end)
			if !killed {
				if err := shard.Discard(); err != nil {
					t.Fatal(err)
				}
				if left, _ := filepath.Glob(b.path(".build", ".shard*")); left != nil {
					t.Errorf("%v is left", left)
				}
			} else {
				shard.abort()
				killTemporary(t, shard.folder)
			}
			if b.WorthResuming() {
				t.Errorf("killed %v after %d: worth resuming", killed, end)
			}
			b.Close()
			b = f.begin(t, ResumeAlways, AllShards)
			if got := whole(beginShard(t, b)); !bytes.Equal(got, want) {
				t.Errorf("killed %v after %d: the shard has other bytes", killed, end)
			}
			if left, _ := filepath.Glob(b.path(".build", ".shard*")); left != nil {
				t.Errorf("%v is left", left)
			}
			b.Close()
		}
	}
	if values := byPages(t, data); len(values) != 5 {
		t.Errorf("%d values", len(values))
	}
}

// killTemporary leaves a temporary folder as a killed process does: without its lock.
func killTemporary(t *testing.T, folder *disk.Temporary) {
	t.Helper()
	dir := filepath.Dir(folder.Path)
	away := dir + ".away"
	if err := errors.Join(os.Rename(dir, away), folder.Discard(), os.Rename(away, dir)); err != nil {
		t.Fatal(err)
	}
}

// A shard whose process was killed between writing its digest and giving it its place is not
// complete.
func TestDigestWithoutShard(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 8, 4, 1)
	b := f.begin(t, ResumeNever, AllShards)
	f.putOthers(t, b)
	f.putShard(t, b, 0)
	if err := os.RemoveAll(b.path(f.manifest.Shards[0].Name)); err != nil {
		t.Fatal(err)
	}
	publish(t, b, false)
	if b.WorthResuming() || len(b.Unfinished()) != 1 {
		t.Error("the shard counts as complete")
	}
	f.putShard(t, b, 0)
	publish(t, b, true)
	f.check(t)
}
