package lmdbfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tcbuild/internal/lmdbtest"
)

type entry struct{ key, value []byte }

// write makes an environment of the entries in their order.
func write(t testing.TB, dir string, entries []entry) (path string) {
	t.Helper()
	lmdbtest.Write(t, dir, func(yield func(key, value string) bool) {
		for _, e := range entries {
			if !yield(string(e.key), string(e.value)) {
				return
			}
		}
	})
	return filepath.Join(dir, "data.mdb")
}

// random makes distinct keys of 1 to 300 bytes, and values of which some need pages of their own.
func random(r *rand.Rand, count int) []entry {
	entries := make([]entry, count)
	for i := range entries {
		key := fmt.Appendf(nil, "%d.%d", r.IntN(1000), i)
		key = append(key, make([]byte, r.IntN(290)*r.IntN(2))...)
		value := make([]byte, r.IntN(300))
		if r.IntN(4) == 0 {
			value = make([]byte, r.IntN(20_000))
		}
		for k := range value {
			value[k] = byte(r.Uint32())
		}
		entries[i] = entry{key, value}
	}
	return entries
}

// TestSeek compares with a sorted list: every key, what lies just before and behind it, and the ends.
func TestSeek(t *testing.T) {
	for _, count := range []int{0, 1, 2, 30, 3000} {
		entries := random(rand.New(rand.NewPCG(1, uint64(count))), count)
		f, err := Open(write(t, t.TempDir(), entries))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Entries() != uint64(count) || !f.Unchanged() {
			t.Errorf("%d entries (want %d), unchanged %v", f.Entries(), count, f.Unchanged())
		}
		slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
		targets := [][]byte{nil, {0}, {0xff}}
		for _, e := range entries {
			targets = append(targets, e.key, append(bytes.Clone(e.key), 0), e.key[:len(e.key)-1])
		}
		for _, target := range targets {
			var want entry
			if i, _ := slices.BinarySearchFunc(entries, target, func(e entry, target []byte) int { return bytes.Compare(e.key, target) }); i < count {
				want = entries[i]
			}
			key, err := f.Seek(target)
			var value []byte
			if key != nil && err == nil {
				value, err = f.Value()
			}
			if err != nil || !bytes.Equal(key, want.key) || (key == nil) != (want.key == nil) || !bytes.Equal(value, want.value) {
				t.Fatalf("of %d: seek %.40q: found %.40q and %d bytes, want %.40q and %d bytes; error %v", count, target, key, len(value), want.key, len(want.value), err)
			}
		}
	}
}

func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(write(t, dir, []entry{{[]byte("0"), nil}}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := f.Transaction()
	write(t, dir, []entry{{[]byte("1"), nil}})
	g, err := Open(filepath.Join(dir, "data.mdb"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if f.Unchanged() || !g.Unchanged() || g.Transaction() == before {
		t.Errorf("unchanged %v and %v, transactions %d and %d", f.Unchanged(), g.Unchanged(), before, g.Transaction())
	}
}

// readAll goes through a file as far as it lets itself be read; it must end, whatever the bytes are.
func readAll(content []byte, path string) (keys int, err error) {
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return 0, err
	}
	f, err := Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for target := []byte(nil); ; keys++ {
		key, err := f.Seek(target)
		if err != nil || key == nil {
			return keys, err
		}
		target = append(bytes.Clone(key), 0)
		if _, err := f.Value(); err != nil {
			return keys, err
		}
	}
}

// TestDamage cuts a file off and changes bytes of page headers, nodes and meta pages: errors of damage or other content, never
// a crash. Without its second half a file cannot be read whole.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	whole, err := os.ReadFile(write(t, t.TempDir(), random(r, 100)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "data.mdb")
	if keys, err := readAll(whole, path); keys != 100 || err != nil {
		t.Fatalf("%d keys, %v", keys, err)
	}
	for _, size := range []int{0, 1, 31, 32, 100, 4096, 5000, 8192, 8193, len(whole) / 4, len(whole) / 2} {
		if keys, err := readAll(whole[:size], path); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes: %d keys, %v", size, keys, err)
		}
	}
	var heads []int // of pages with a header
	for at := 0; at < len(whole); at += 4096 {
		if binary.LittleEndian.Uint64(whole[at:]) == uint64(at/4096) {
			heads = append(heads, at)
		}
	}
	damaged := 0
	for range 300 {
		content := bytes.Clone(whole)
		at := heads[r.IntN(len(heads))] + r.IntN(48)
		content[at] ^= byte(1 + r.IntN(255))
		keys, err := readAll(content, path)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d changed: %v", at, err)
		}
		if err != nil || keys != 100 {
			damaged++
		}
	}
	if damaged < 100 {
		t.Errorf("only %d of 300 changes were found", damaged)
	}
}

// A tree whose pages form a circle ends with an error.
func TestCircle(t *testing.T) {
	f, err := Open(write(t, t.TempDir(), random(rand.New(rand.NewPCG(3, 3)), 400)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	root, err := f.treePage(f.root, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range root.nodes() {
		node, _, err := root.node(i)
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint32(node, uint32(f.root))
	}
	for level := range f.levels {
		f.levels[level] = root
	}
	for _, target := range []string{"", "5", "\xff"} {
		if _, err := f.Seek([]byte(target)); !errors.Is(err, ErrDamaged) {
			t.Errorf("seek %q: %v", target, err)
		}
	}
}

// A value cannot have more bytes than its own pages, although others follow in the file.
func TestSizeBeyondItsPages(t *testing.T) {
	f, err := Open(write(t, t.TempDir(), []entry{{[]byte("a"), make([]byte, 10_000)}, {[]byte("b"), make([]byte, 50_000)}}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size, ok := range map[uint32]bool{10_000: true, 3*4096 - pageHeader: true, 3*4096 - pageHeader + 1: false, 20_000: false, 1<<32 - 1: false} {
		if _, err := f.Seek([]byte("a")); err != nil {
			t.Fatal(err)
		}
		node, _, err := f.leaf.node(f.node)
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint32(node, size)
		if value, err := f.Value(); (err == nil) != ok || ok && len(value) != int(size) || !ok && !errors.Is(err, ErrDamaged) {
			t.Errorf("size %d: %d bytes, %v", size, len(value), err)
		}
	}
}

func FuzzFile(f *testing.F) {
	whole, err := os.ReadFile(write(f, f.TempDir(), random(rand.New(rand.NewPCG(4, 4)), 20)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, content []byte) {
		if _, err := readAll(content, filepath.Join(t.TempDir(), "data.mdb")); err != nil && !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	})
}
