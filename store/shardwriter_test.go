package store

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/testrun"
)

// bigValue is a value of one sample, so long that a transaction takes two of them.
func bigValue(f *fixture, first int) []byte {
	return encode.AppendValue(nil, f.manifest.Seed(), first, 1,
		func(dst []byte, _ int) []byte { return append(dst, make([]byte, commitBytes*3/8)...) })
}

// write puts the samples from shard.Next to end-1.
func write(t *testing.T, f *fixture, shard *Shard, end int) {
	t.Helper()
	for next := shard.Next; next < end; next++ {
		if err := shard.Put(next, bigValue(f, next)); err != nil {
			t.Fatal(err)
		}
	}
}

func openShard(t *testing.T, b *Building, next int) *Shard {
	t.Helper()
	shard, err := b.Shard(0)
	if err != nil {
		t.Fatal(err)
	}
	if shard.Next != next || shard.Complete {
		t.Fatalf("the shard goes on with sample %d, complete %v, want %d", shard.Next, shard.Complete, next)
	}
	return shard
}

// An interrupted shard is resumed after its last commit, and ends with the bytes of an
// uninterrupted one.
func TestResumedShardHasTheSameBytes(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := newFixture(t, Indices, "raw", 5, 1, 1)
	b := f.begin(t, ResumeNever, AllShards)
	data := b.path(f.manifest.Shards[0].Name, dataName)

	shard := openShard(t, b, 0)
	write(t, f, shard, 5)
	if err := shard.Commit(); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()

	for _, test := range []struct {
		name  string
		end   int // samples put before the interruption
		next  int // the first sample that is lost
		after func(t *testing.T)
	}{
		{"nothing put", 0, 0, nil},
		{"nothing committed", 2, 0, nil},
		{"one commit", 3, 2, nil},
		{"two commits", 5, 4, nil},
		{"first commit undone", 3, 0, func(t *testing.T) { undoCommit(t, data) }},
		{"second commit undone", 5, 2, func(t *testing.T) { undoCommit(t, data) }},
		{"pages behind the last commit", 3, 2, func(t *testing.T) {
			file, err := os.OpenFile(data, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if _, err := file.Write(make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		b := f.begin(t, ResumeNever, AllShards)
		shard := openShard(t, b, 0)
		write(t, f, shard, test.end)
		if err := shard.Interrupt(); err != nil {
			t.Fatal(err)
		}
		if test.after != nil {
			test.after(t)
		}
		if got := b.WorthResuming(); got != (test.next > 0) {
			t.Errorf("%s: worth resuming %v", test.name, got)
		}
		b.Close()
		b = f.begin(t, ResumeAlways, AllShards)
		if !b.Resumed {
			t.Errorf("%s: not resumed", test.name)
		}
		shard = openShard(t, b, test.next)
		write(t, f, shard, 5)
		if err := shard.Commit(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(data); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the resumed shard has other bytes than an undisturbed one, error %v", test.name, err)
		}
		b.Close()
	}
	if values := byPages(t, data); len(values) != 5 {
		t.Errorf("%d values", len(values))
	}
}

// undoCommit turns the first or second commit into one whose last write failed, as on a full disk:
// LMDB then restores the meta page's transaction and last page, but leaves the new trees in it.
func undoCommit(t *testing.T, data string) {
	t.Helper()
	content, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	const lastPageAt, transactionAt, pageSize = 136, 144, 4096
	number := 0
	if binary.LittleEndian.Uint64(content[pageSize+transactionAt:]) > binary.LittleEndian.Uint64(content[transactionAt:]) {
		number = 1
	}
	page := content[number*pageSize:]
	binary.LittleEndian.PutUint64(page[lastPageAt:], 1)
	binary.LittleEndian.PutUint64(page[transactionAt:], 0)
	if err := os.WriteFile(data, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// A shard whose last value does not match its checksums cannot be resumed.
func TestDamagedShardIsNotResumed(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 8, 4, 1)
	b := f.begin(t, ResumeNever, AllShards)
	shard := openShard(t, b, 0)
	if err := shard.Put(0, f.value(t, 0)); err != nil {
		t.Fatal(err)
	}
	if err := shard.Commit(); err != nil {
		t.Fatal(err)
	}
	data := b.path(f.manifest.Shards[0].Name, dataName)
	whole, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(whole)
	value := f.value(t, 0)
	damaged[bytes.Index(damaged, value)+len(value)-1] ^= 1
	if err := os.WriteFile(data, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = b.Shard(0)
	wantFault(t, err, fault.Damaged, "resume shard "+filepath.Dir(data), "checksum")
	if err := os.WriteFile(data, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	f.putOthers(t, b)
	f.putShard(t, b, 0)
	publish(t, b, true)
	f.check(t)
}

// After a power loss, data that was not synced may be missing: such a shard starts from the
// beginning.
func TestShardOfAnotherBoot(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 8, 4, 1)
	b := f.begin(t, ResumeNever, AllShards)
	shard := openShard(t, b, 0)
	if err := shard.Put(0, f.value(t, 0)); err != nil {
		t.Fatal(err)
	}
	if err := shard.Commit(); err != nil {
		t.Fatal(err)
	}
	openShard(t, b, 4)
	if err := b.writeState(0, shardState{BootID: "another boot"}); err != nil {
		t.Fatal(err)
	}
	openShard(t, b, 0)
	f.putOthers(t, b)
	f.putShard(t, b, 0)
	publish(t, b, true)
	f.check(t)
}

// A torn half of a shard is an error of damage, or is continued to the right values: LMDB's
// library, which would end the process on a damaged page, does not see it before every page has
// been checked.
func TestTornShardIsNotResumed(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := newFixture(t, Indices, "raw", 7, 1, 1)
	b := f.begin(t, ResumeNever, AllShards)
	shard := openShard(t, b, 0)
	write(t, f, shard, 6) // in three transactions, so that there are free pages
	if err := shard.Commit(); err != nil {
		t.Fatal(err)
	}
	data := b.path(f.manifest.Shards[0].Name, dataName)
	whole, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	var trees []int // where pages begin that are no values
	for at := 0; at < len(whole); {
		next := at + 4096
		if binary.LittleEndian.Uint16(whole[at+10:]) == 4 && binary.LittleEndian.Uint64(whole[at:]) == uint64(at/4096) {
			next = at + 4096*int(binary.LittleEndian.Uint32(whole[at+12:]))
		} else {
			trees = append(trees, at)
		}
		at = next
	}
	t.Logf("pages at %d", trees)
	r := seed.Rand(t)
	for i := range testrun.Cases(150, 12) {
		content := bytes.Clone(whole)
		page := trees[r.IntN(len(trees))]
		switch at := r.IntN(160); i % 4 {
		case 0:
			content[page+at] ^= 1 << r.IntN(8)
		case 1:
			content[page+4095-at] ^= 1 << r.IntN(8)
		case 2:
			copy(content[page:], whole[trees[r.IntN(len(trees))]:][:4096])
		case 3:
			content = content[:r.IntN(len(content))]
		}
		if err := os.WriteFile(data, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Status(f.out); err != nil {
			t.Errorf("status: %v", err)
		}
		shard, err := b.Shard(0)
		if err != nil {
			wantFault(t, err, fault.Damaged, "resume shard "+filepath.Dir(data))
			continue
		}
		write(t, f, shard, 7)
		if err := shard.Commit(); err != nil {
			t.Fatal(err)
		}
		values := byPages(t, data)
		for first := range 7 {
			if !bytes.Equal(values[first], bigValue(f, first)) {
				t.Errorf("case %d: value %d is another", i, first)
			}
		}
	}
}
