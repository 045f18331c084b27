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

	"tcbuild/internal/testing/lmdbtest"
	"tcbuild/internal/testing/testrun"
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

// random makes distinct keys of 1 to 300 bytes, and values of which some need overflow pages.
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

// TestSeek compares with a sorted list: every key, positions just before and after it, and the
// ends.
func TestSeek(t *testing.T) {
	for _, count := range []int{0, 1, 2, 30, 3000} {
		entries := random(rand.New(rand.NewPCG(1, uint64(count))), count)
		content, err := os.ReadFile(write(t, t.TempDir(), entries))
		if err != nil {
			t.Fatal(err)
		}
		f, err := New(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		if f.Entries() != uint64(count) {
			t.Errorf("%d entries, want %d", f.Entries(), count)
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
				value, err = f.Value(nil)
			}
			if err != nil || !bytes.Equal(key, want.key) || (key == nil) != (want.key == nil) || !bytes.Equal(value, want.value) {
				t.Fatalf("of %d: seek %.40q: found %.40q and %d bytes, want %.40q and %d bytes; error %v", count, target, key, len(value), want.key, len(want.value), err)
			}
		}
	}
}

// readAll goes through a file by key, as far as it lets itself be read; it must end, whatever the
// bytes are. Values are read while they add up to a few times the file.
func readAll(content []byte) (keys int, err error) {
	f, err := New(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return 0, err
	}
	var value []byte
	budget := 4 * len(content)
	for target := []byte(nil); ; keys++ {
		key, err := f.Seek(target)
		if err != nil || key == nil {
			return keys, err
		}
		target = append(append(target[:0], key...), 0)
		if budget -= len(value); budget < 0 {
			continue
		}
		if value, err = f.Value(value); err != nil {
			return keys, err
		}
	}
}

// samples makes an environment as a build of a dataset does: numbers as keys, appended.
func samples(t testing.TB, count, size int) []byte {
	t.Helper()
	entries := make([]entry, count)
	for i := range entries {
		entries[i] = entry{binary.BigEndian.AppendUint64(nil, uint64(i)), bytes.Repeat([]byte{byte(i)}, size)}
	}
	whole, err := os.ReadFile(write(t, t.TempDir(), entries))
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// TestDamage cuts a file off, changes bytes of page headers, nodes and meta pages, and exchanges
// pages: an error of damage or the same content, never a crash and never other keys.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	whole, err := os.ReadFile(write(t, t.TempDir(), random(r, 100)))
	if err != nil {
		t.Fatal(err)
	}
	read := func(what string, content []byte) bool {
		keys, err := readAll(content)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
		return err == nil && keys == 100
	}
	if !read("nothing", whole) {
		t.Fatal("the whole file cannot be read")
	}
	for size := 0; size < len(whole); size += 1 + r.IntN(4096) {
		if what := fmt.Sprintf("cut to %d bytes", size); read(what, whole[:size]) {
			t.Errorf("%s: it is read whole", what)
		}
	}
	pages := len(whole) / 4096
	for a := range pages {
		for b := range a {
			if testing.Short() && (a+b)%4 > 0 {
				continue
			}
			content := bytes.Clone(whole)
			copy(content[4096*a:][:4096], whole[4096*b:])
			read(fmt.Sprintf("page %d over %d", b, a), content)
			copy(content[4096*b:][:4096], whole[4096*a:])
			read(fmt.Sprintf("pages %d and %d", b, a), content)
		}
	}
	var heads []int // of pages with a header
	for at := 0; at < len(whole); at += 4096 {
		if binary.LittleEndian.Uint64(whole[at:]) == uint64(at/4096) {
			heads = append(heads, at)
		}
	}
	damaged := 0
	changes := testrun.Cases(300, 60)
	for range changes {
		content := bytes.Clone(whole)
		at := heads[r.IntN(len(heads))] + r.IntN(48)
		content[at] ^= 1 << r.IntN(8)
		if !read(fmt.Sprintf("a bit of byte %d", at), content) {
			damaged++
		}
	}
	if damaged < changes/3 {
		t.Errorf("only %d of %d changes were found", damaged, changes)
	}
}

// A flipped bit is found, or the number of keys stays the same: it can change bytes of keys that
// keep their order. The caller knows which keys to expect.
func TestFlippedBits(t *testing.T) {
	const count = 80
	whole := samples(t, count, 40)
	keys := func() (keys int, err error) {
		f, err := New(bytes.NewReader(whole), int64(len(whole)))
		if err != nil {
			return 0, err
		}
		for target := []byte(nil); ; keys++ {
			key, err := f.Seek(target)
			if err != nil || key == nil {
				return keys, err
			}
			target = append(append(target[:0], key...), 0)
		}
	}
	for bit := 0; bit < 8*len(whole); bit += testrun.Cases(1, 31) {
		whole[bit/8] ^= 1 << (bit % 8)
		found, err := keys()
		if (err == nil || !errors.Is(err, ErrDamaged)) && found != count {
			t.Errorf("bit %d of byte %d: %d keys, %v", bit%8, bit/8, found, err)
		}
		whole[bit/8] ^= 1 << (bit % 8)
	}
}

// A tree whose pages form a cycle is an error: there is a branch where a leaf must be.
func TestCircle(t *testing.T) {
	whole := samples(t, 400, 40)
	f, err := New(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	root := whole[4096*f.main.root:][:4096]
	p := page{bytes: root, count: 1}
	for i := range f.main.depth {
		binary.LittleEndian.PutUint32(root[p.u16(pageHeader+2*i):], uint32(f.main.root))
	}
	for _, target := range []string{"", "\x00\x00\x00\x00\x00\x00\x00\x50"} {
		if _, err := f.Seek([]byte(target)); !errors.Is(err, ErrDamaged) {
			t.Errorf("seek %q: %v", target, err)
		}
	}
}

// A value cannot have more bytes than its own pages, although others follow in the file.
func TestSizeBeyondItsPages(t *testing.T) {
	whole, err := os.ReadFile(write(t, t.TempDir(), []entry{{[]byte("a"), make([]byte, 10_000)}, {[]byte("b"), make([]byte, 50_000)}}))
	if err != nil {
		t.Fatal(err)
	}
	for size, ok := range map[uint32]bool{10_000: true, 3*4096 - pageHeader: true, 3*4096 - pageHeader + 1: false, 20_000: false, 1<<32 - 1: false} {
		f, err := New(bytes.NewReader(whole), int64(len(whole)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek([]byte("a")); err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint32(f.leaf.bytes[f.leaf.u16(pageHeader):], size)
		if value, err := f.Value(nil); (err == nil) != ok || ok && len(value) != int(size) || !ok && !errors.Is(err, ErrDamaged) {
			t.Errorf("size %d: %d bytes, %v", size, len(value), err)
		}
	}
}

// BenchmarkRead seeks and reads values of 128 KB, as large as those of 64 records, in the order of
// their keys.
func BenchmarkRead(b *testing.B) {
	const count, size = 200, 128 << 10
	whole := samples(b, count, size)
	f, err := New(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	var value []byte
	for i := 0; b.Loop(); i++ {
		if _, err := f.Seek(binary.BigEndian.AppendUint64(nil, uint64(i%count))); err != nil {
			b.Fatal(err)
		}
		if value, err = f.Value(value); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzFile damages a file of a branch, leaves, free pages and values on pages of their own. Each
// four bytes of the input are one damage: so inputs are short, and most are a file that LMDB could
// nearly have written. Longer inputs are skipped: making a find shorter takes the fuzzer as many
// executions as the square of its length, in which it shows 0 execs/sec.
func FuzzFile(f *testing.F) {
	r := rand.New(rand.NewPCG(4, 4))
	dir := f.TempDir()
	write(f, dir, random(r, 12))
	// the second transaction frees pages
	base, err := os.ReadFile(write(f, dir, []entry{{[]byte("last"), make([]byte, 5000)}}))
	if err != nil {
		f.Fatal(err)
	}
	if keys, err := readAll(base); keys != 13 || err != nil {
		f.Fatalf("%d keys, %v", keys, err)
	}
	f.Add([]byte{})
	f.Add([]byte{0, 1, 128, 1, 1, 2, 100, 7, 2, 3, 4, 0, 3, 5, 6, 0})
	content := make([]byte, len(base))
	f.Fuzz(func(t *testing.T, damages []byte) {
		if len(damages) > 32 {
			t.Skip()
		}
		content := content[:copy(content[:len(base)], base)]
		for ; len(damages) >= 4 && len(content) > 0; damages = damages[4:] {
			content = damage(content, damages[0], int(damages[1]), int(damages[2]), damages[3])
		}
		if _, err := readAll(content); err != nil && !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	})
}

// damage changes a byte at the start or the end of a page, copies a page over another, or cuts the
// file off.
func damage(content []byte, kind byte, page, at int, with byte) []byte {
	const size = 4096
	pages := max(len(content)/size, 1)
	start := page % pages * size
	switch kind % 4 {
	case 0:
		content[min(start+at, len(content)-1)] ^= with
	case 1:
		content[min(start+size-1-16*at+int(with%16), len(content)-1)] ^= with
	case 2:
		copy(content[start:], content[at%pages*size:][:min(size, len(content)-at%pages*size)])
	case 3:
		content = content[:min(start+16*at, len(content))]
	}
	return content
}
