package store

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bmatsuo/lmdb-go/lmdb"

	"tcbuild/internal/lmdbfile"
)

// writeShard writes values of the given sizes under the keys 0, 1, … as a build does, and returns
// data.mdb's path.
func writeShard(t testing.TB, sizes []int) string {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dir := t.TempDir()
	w := &shardWriter{dir: dir}
	for key, size := range sizes {
		if err := w.Put(key, bytes.Repeat([]byte{byte('a' + key%26)}, size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, dataName)
}

// byLMDB reads a shard with LMDB's own library.
func byLMDB(t testing.TB, path string) map[int][]byte {
	t.Helper()
	env, err := lmdb.NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	if err := env.Open(filepath.Dir(path), lmdb.Readonly|lmdb.NoLock|lmdb.NoTLS, 0o644); err != nil {
		t.Fatal(err)
	}
	values := make(map[int][]byte)
	err = env.View(func(txn *lmdb.Txn) error {
		dbi, err := txn.OpenRoot(0)
		if err != nil {
			return err
		}
		cursor, err := txn.OpenCursor(dbi)
		if err != nil {
			return err
		}
		defer cursor.Close()
		for {
			key, value, err := cursor.Get(nil, nil, lmdb.Next)
			if lmdb.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			values[int(binary.BigEndian.Uint64(key))] = value
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func sameValues(a, b map[int][]byte) bool {
	for first, value := range a {
		if other, ok := b[first]; !ok || !bytes.Equal(value, other) {
			return false
		}
	}
	return len(a) == len(b)
}

// shardShapes are sizes of values: within a leaf, on overflow pages, at the boundaries, in trees of
// one to three levels.
func shardShapes() map[string][]int {
	r := rand.New(rand.NewPCG(1, 0))
	many, mixed := make([]int, 60_000), make([]int, 3000)
	for i := range many {
		many[i] = 40
	}
	for i := range mixed {
		mixed[i] = r.IntN(9000)
	}
	return map[string][]int{
		"one":               {5},
		"empty value":       {0, 1, 0},
		"page boundaries":   {2000, 2010, 2020, 2030, 2040, 4079, 4080, 4081, 4096, 8175, 8176, 8177},
		"three levels":      many,
		"small and large":   mixed,
		"two transactions":  {commitBytes * 2 / 3, commitBytes * 2 / 3, 100, 3000},
		"larger than a map": {commitBytes + 1},
	}
}

// byPages reads a shard as a reader does.
func byPages(t testing.TB, path string) map[int][]byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := lmdbfile.New(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[int][]byte)
	for target := []byte(nil); ; {
		key, err := file.Seek(target)
		if err != nil {
			t.Fatal(err)
		}
		if key == nil {
			return values
		}
		if values[int(binary.BigEndian.Uint64(key))], err = file.Value(nil); err != nil {
			t.Fatal(err)
		}
		target = append(bytes.Clone(key), 0)
	}
}

// A shard is read as LMDB reads it.
func TestShardFileIsLMDBs(t *testing.T) {
	for name, sizes := range shardShapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := writeShard(t, sizes)
			if want, got := byLMDB(t, path), byPages(t, path); len(want) != len(sizes) || !sameValues(got, want) {
				t.Errorf("%d values, LMDB finds %d of %d", len(got), len(want), len(sizes))
			}
		})
	}
}

var update = flag.Bool("update", false, "rewrite the golden files")

// The pages of a small shard, for people to read: a value that shares a leaf, and one with pages of
// its own.
func TestPagesGolden(t *testing.T) {
	data, err := os.ReadFile(writeShard(t, []int{100, 5000, 100}))
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/pages.golden"
	text := describePages(t, data)
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s changed; if that is meant, run with -update and read the diff; found:\n%s", golden, text)
	}
}

func describePages(t *testing.T, data []byte) string {
	var text strings.Builder
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(data[at:])) }
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(data[at:])) }
	u64 := func(at int) int { return int(binary.LittleEndian.Uint64(data[at:])) }
	fmt.Fprintf(&text, "data.mdb of %d bytes: values of 100, 5,000 and 100 bytes under the keys 0 to 2\n", len(data))
	for page := 0; page < len(data); {
		fmt.Fprintf(&text, "page %d at %d: ", u64(page), page)
		next := page + 4096
		switch flags := u16(page + 10); flags {
		case 8:
			meta := page + 16
			fmt.Fprintf(&text, "meta, magic %08x, version %d, map of %d bytes, page size %d\n", u32(meta), u32(meta+4), u64(meta+16), u32(meta+24))
			fmt.Fprintf(&text, "  depth %d, pages: branch %d, leaf %d, overflow %d; %d entries, root %d; last page %d, transaction %d\n",
				u16(meta+78), u64(meta+80), u64(meta+88), u64(meta+96), u64(meta+104), u64(meta+112), u64(meta+120), u64(meta+128))
		case 2:
			fmt.Fprintf(&text, "leaf, lower %d, upper %d\n", u16(page+12), u16(page+14))
			for slot := page + 16; slot < page+u16(page+12); slot += 2 {
				node := page + u16(slot)
				fmt.Fprintf(&text, "  node at %d: key % x, value of %d bytes ", u16(slot), data[node+8:node+16], u32(node))
				if u16(node+4) == 1 {
					fmt.Fprintf(&text, "on page %d\n", u64(node+16))
				} else {
					fmt.Fprintf(&text, "at %d: %.3s…\n", node+16, data[node+16:])
				}
			}
		case 4:
			next = page + 4096*u32(page+12)
			fmt.Fprintf(&text, "overflow, %d pages, value at %d: %.3s…\n", u32(page+12), page+16, data[page+16:])
		default:
			t.Fatalf("page at %d has flags %#x", page, flags)
		}
		page = next
	}
	return text.String()
}
