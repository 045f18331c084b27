package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bmatsuo/lmdb-go/lmdb"
)

// difference is what verify reports for one position of the sample that the test damaged.
type difference struct {
	Sample   int    `json:"sample"`
	SampleID string `json:"sample_id"`
	Mask     string `json:"mask"`
	Position int    `json:"position"`
	Expected int    `json:"expected"`
	Found    int    `json:"found"`
}

// at is the difference at a position of the mask space.
func at(masks []oracleMask, position, expected, found int) difference {
	for _, m := range masks {
		if position < len(m.keep) {
			return difference{damagedSample, fmt.Sprint("s", damagedSample), m.name, position, expected, found}
		}
		position -= len(m.keep)
	}
	panic("position is behind the masks")
}

// removedOf is the removed positions of the mask space, and the size of that.
func removedOf(masks []oracleMask) (removed []int, size int) {
	for _, m := range masks {
		for i, keep := range m.keep {
			if keep == 0 {
				removed = append(removed, size+i)
			}
		}
		size += len(m.keep)
	}
	return removed, size
}

// Verify names the very positions that differ, by each method.
func TestDifferences(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 600, 130)
	masks := f.oracle(damagedSample)
	removed, size := removedOf(masks)
	last := len(removed) - 1
	run := last // where the last run of consecutive removed positions starts
	for run > 0 && removed[run-1] == removed[run]-1 {
		run--
	}
	if removed[last] == size-1 || run == 0 {
		t.Fatal("choose another sample")
	}
	kept := removed[last] + 1
	moved := []difference{at(masks, removed[run], 0, 1), at(masks, kept, 1, 0)}
	for _, c := range []struct {
		name, mode, codec string
		edit              func(payload []byte)
		want              []difference
	}{
		{"kept as removed", "full-masks", "raw", func(p []byte) { p[kept] = 0 }, []difference{at(masks, kept, 1, 0)}},
		{"removed as kept", "full-masks", "raw", func(p []byte) { p[removed[last]] = 1 }, []difference{at(masks, removed[last], 0, 1)}},
		{"neither", "full-masks", "raw", func(p []byte) { p[0] = 7 }, []difference{at(masks, 0, int(masks[0].keep[0]), 7)}},
		{"last byte", "full-masks", "raw", func(p []byte) { p[size-1] ^= 1 }, []difference{at(masks, size-1, 1, 0)}},
		{"several", "full-masks", "raw", func(p []byte) { p[removed[0]], p[kept] = 1, 0 }, []difference{at(masks, removed[0], 0, 1), at(masks, kept, 1, 0)}},
		{"bit", "full-masks", "bits", func(p []byte) { p[kept/8] ^= 1 << (kept % 8) }, []difference{at(masks, kept, 1, 0)}},
		{"position", "indices", "raw", func(p []byte) { binary.LittleEndian.PutUint32(p[4*last:], uint32(kept)) },
			[]difference{at(masks, removed[last], 0, 1), at(masks, kept, 1, 0)}},
		{"gap", "indices", "delta", func(p []byte) { p[4+2*(binary.LittleEndian.Uint32(p)-1)]++ }, moved},
	} {
		t.Run(c.mode+"/"+c.codec+"/"+c.name, func(t *testing.T) {
			must(t, f.dir, f.dataset(c.mode, c.codec, c.mode+c.codec)...) // again: nothing to do
			dir := copied(t, filepath.Join(f.dir, c.mode+c.codec))
			s := f.find(t, dir, damagedSample)
			change(t, s.path, s.payload, c.edit)
			f.differs(t, dir, s.path, c.want)
		})
	}
	t.Run("rewritten by LMDB's library", func(t *testing.T) {
		dir := copied(t, filepath.Join(f.dir, "full-masksraw"))
		s := f.find(t, dir, damagedSample)
		for round := range 6 { // each leaves the value before it on a page that is free
			s.valueData[s.payload-s.value+kept] = byte(1 - round%2)
			if round == 5 {
				s.valueData[s.payload-s.value+kept] = 0
			}
			withShard(t, filepath.Dir(s.path), 0, func(txn *lmdb.Txn, dbi lmdb.DBI) error { return txn.Put(dbi, s.key, s.valueData, 0) })
			if s.valueData[s.payload-s.value+kept] == 0 {
				f.differs(t, dir, s.path, []difference{at(masks, kept, 1, 0)})
			}
		}
	})
}

// differs checks what verify reports of a dataset whose damaged sample differs in the given
// positions.
func (f fixture) differs(t *testing.T, dir, path string, want []difference) {
	t.Helper()
	for _, method := range []string{"incidence", "edges"} {
		o := execute(t, f.dir, "verify", dir, "--method", method, "--json", "-")
		o.damaged(t, path)
		var report struct {
			Differences int          `json:"differences"`
			First       []difference `json:"first_differences"`
		}
		if err := json.Unmarshal([]byte(o.stdout), &report); err != nil {
			t.Fatal(err)
		}
		if report.Differences != len(want) || !slices.Equal(report.First, want) {
			t.Errorf("by %s: got %d differences\n%+v\nwant\n%+v", method, report.Differences, report.First, want)
		}
	}
	execute(t, f.dir, "inspect", dir, "--samples", fmt.Sprint(damagedSample)).refused(t, 4, path+": sample "+fmt.Sprint(damagedSample))
	must(t, f.dir, "inspect", dir, "--samples", fmt.Sprint(damagedSample+1))
}
