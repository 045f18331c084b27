package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tcbuild/encode"
	"tcbuild/internal/testing/testrun"
)

const damagedSample = 70 // in the second value of compressed masks

// Whatever hits a shard, verify and inspect name the file and end with exit code 4.
func TestDamagedShard(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 600, 130)
	for _, mode := range []encode.Mode{encode.Indices, encode.FullMasks} {
		for _, codec := range encode.Codecs(mode) {
			name := string(mode) + "-" + codec
			must(t, f.dir, f.dataset(string(mode), codec, name)...)
			dataset := filepath.Join(f.dir, name)
			s := f.find(t, dataset, damagedSample)
			for what, offset := range map[string]int{
				"payload": (s.payload + s.end) / 2, "payload's start": s.payload,
				"record count": s.value, "record end": s.entry + 1, "checksum": s.entry + 4,
			} {
				t.Run(name+"/"+what, func(t *testing.T) {
					testrun.OneIn(t, 5)
					t.Parallel()
					dir := copied(t, dataset)
					change(t, filepath.Join(dir, s.path[len(dataset):]), offset, flip)
					execute(t, f.dir, "verify", dir).damaged(t, filepath.Join(dir, s.path[len(dataset):]))
					execute(t, f.dir, "inspect", dir, "--samples", strconv.Itoa(damagedSample), "--json").refused(t, 4, "data.mdb: ", "sample "+strconv.Itoa(damagedSample))
				})
			}
		}
	}
}

// damaged checks that verify failed, and named the file.
func (o outcome) damaged(t *testing.T, path string) {
	t.Helper()
	o.refused(t, 4)
	if !strings.Contains(o.stderr, path) {
		t.Errorf("got stderr:\n%s\nwant it to name %s", o.stderr, path)
	}
}

// Damage to LMDB's own structure must not crash the library.
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 600, 130)
	must(t, f.dir, f.dataset("full-masks", "raw", "raw")...)
	dataset := filepath.Join(f.dir, "raw")
	path := filepath.Join("shard-00000-of-00001", "data.mdb")
	file := read(t, filepath.Join(dataset, path))
	leaf := leafPage(t, file)
	node := leaf + int(binary.LittleEndian.Uint16([]byte(file[leaf+16:])))
	for what, damage := range map[string]func(file []byte) []byte{
		"magic":                 func(b []byte) []byte { b[16] ^= 1; b[4096+16] ^= 1; return b },
		"version":               func(b []byte) []byte { b[20] ^= 4; b[4096+20] ^= 4; return b },
		"root page":             func(b []byte) []byte { b[128+3] ^= 0x7F; b[4096+128+3] ^= 0x7F; return b },
		"root page to itself":   func(b []byte) []byte { b[128], b[4096+128] = 1, 1; return b },
		"page size":             func(b []byte) []byte { b[40] ^= 0xFF; b[4096+40] ^= 0xFF; return b },
		"leaf's number":         func(b []byte) []byte { b[leaf] ^= 0x40; return b },
		"leaf's flags":          func(b []byte) []byte { b[leaf+10] ^= 0x03; return b },
		"leaf's length":         func(b []byte) []byte { b[leaf+12], b[leaf+13] = 0xFF, 0xFF; return b },
		"leaf's first node":     func(b []byte) []byte { b[leaf+16], b[leaf+17] = 0xFE, 0xFF; return b },
		"node's data size":      func(b []byte) []byte { b[node+3] ^= 0x7F; return b },
		"node's key size":       func(b []byte) []byte { b[node+6] ^= 0xFF; return b },
		"node's key":            func(b []byte) []byte { b[node+8+7] ^= 1; return b },
		"node's overflow page":  func(b []byte) []byte { b[node+16+3] ^= 0x7F; return b },
		"all but the meta page": func(b []byte) []byte { clear(b[2*4096:]); return b },
		"all":                   func(b []byte) []byte { clear(b); return b },
		"truncated to half":     func(b []byte) []byte { return b[:len(b)/2] },
		"truncated by a page":   func(b []byte) []byte { return b[:len(b)-4096] },
		"truncated to a page":   func(b []byte) []byte { return b[:4096] },
		"truncated to a bit":    func(b []byte) []byte { return b[:100] },
		"empty":                 func(b []byte) []byte { return nil },
		"appended to":           func(b []byte) []byte { return append(b, 0) },
		"removed":               nil,
	} {
		t.Run(what, func(t *testing.T) {
			testrun.OneIn(t, 5)
			t.Parallel()
			dir := copied(t, dataset)
			damaged := filepath.Join(dir, path)
			if damage == nil {
				if err := os.Remove(damaged); err != nil {
					t.Fatal(err)
				}
			} else if err := os.WriteFile(damaged, damage([]byte(file)), 0o644); err != nil {
				t.Fatal(err)
			}
			execute(t, f.dir, "verify", dir).damaged(t, damaged)
			for _, sample := range []string{"0", "129"} {
				if o := execute(t, f.dir, "inspect", dir, "--samples", sample, "--json"); o.code != 4 && o.code != 0 {
					t.Errorf("inspect: got exit code %d, stderr:\n%s", o.code, o.stderr)
				}
			}
		})
	}
}

// leafPage is the offset of the shard's last leaf page.
func leafPage(t *testing.T, file string) int {
	t.Helper()
	for page := len(file)/4096 - 1; page >= 2; page-- {
		at := []byte(file[page*4096:])
		if binary.LittleEndian.Uint64(at) == uint64(page) && binary.LittleEndian.Uint16(at[10:]) == 2 {
			return page * 4096
		}
	}
	t.Fatal("there is no leaf page")
	return 0
}

// Files that are not shards.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 600, 130)
	must(t, f.dir, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "incidence")
	dataset := filepath.Join(f.dir, "incidence")
	for _, name := range []string{"incidence.arrow", "incidence.positions", "samples/part-00000.arrow", "graph/nodes/gene.arrow", "graph/edges/gene__physical__gene.arrow"} {
		text := read(t, filepath.Join(dataset, name))
		for what, damage := range map[string]func() string{
			"byte in the middle":  func() string { return flipped(text, len(text)/2) },
			"byte near the start": func() string { return flipped(text, 30) },
			"byte near the end":   func() string { return flipped(text, len(text)-30) },
			"byte in the schema":  func() string { return flipped(text, 120) },
			"truncated":           func() string { return half(text) },
			"empty":               func() string { return "" },
			"removed":             nil,
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				testrun.OneIn(t, 5)
				t.Parallel()
				dir := copied(t, dataset)
				damaged := filepath.Join(dir, name)
				if damage == nil {
					if err := os.Remove(damaged); err != nil {
						t.Fatal(err)
					}
				} else if err := os.WriteFile(damaged, []byte(damage()), 0o644); err != nil {
					t.Fatal(err)
				}
				execute(t, f.dir, "verify", dir).damaged(t, damaged)
				if o := execute(t, f.dir, "inspect", dir, "--samples", ":", "--json"); o.code != 4 && o.code != 0 {
					t.Errorf("inspect: got exit code %d, stderr:\n%s", o.code, o.stderr)
				}
			})
		}
	}
}

func flipped(text string, at int) string {
	changed := []byte(text)
	flip(changed[at:])
	return string(changed)
}

func TestVerifyAnotherGraph(t *testing.T) {
	t.Parallel()
	f, other := newFixture(t, 600, 130), newFixture(t, 601, 130)
	must(t, f.dir, f.dataset("indices", "zstd", "indices")...)
	must(t, f.dir, "verify", "indices", "--graph", "graph")
	graph := filepath.Join(other.dir, "graph")
	execute(t, f.dir, "verify", "indices", "--graph", graph).refused(t, 3, "check graph "+graph+": its digest is ", "but dataset indices was built from ")
}

// A flipped bit in a footer can ask the Arrow library for more memory than the machine has.
func TestDamagedFooters(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 600, 130)
	must(t, f.dir, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "incidence")
	for _, name := range []string{"incidence.arrow", "samples/part-00000.arrow"} {
		path := filepath.Join(f.dir, "incidence", name)
		sound := read(t, path)
		for back := 10; back < 460; back += 13 {
			bit := []byte{0x01, 0x40, 0x80}[back%3]
			change(t, path, len(sound)-back, func(at []byte) { at[0] ^= bit })
			execute(t, f.dir, "verify", "incidence").damaged(t, name)
			if err := os.WriteFile(path, []byte(sound), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
