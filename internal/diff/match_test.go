package diff

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Keys are paired as a look-up that takes the first free row of the same key pairs them.
func TestMatchKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := make([]uint64, r.IntN(8)), make([]uint64, r.IntN(8))
		for _, keys := range [][]uint64{a, b} {
			for i := range keys {
				keys[i] = r.Uint64N(5)
			}
		}
		free := slices.Clone(b)
		var want match
		for _, key := range a {
			to := slices.Index(free, key)
			if to >= 0 {
				free[to] = 99
			}
			want.toB = append(want.toB, int32(to))
		}
		for row, key := range free {
			if key != 99 {
				want.onlyB = append(want.onlyB, int32(row))
			}
		}
		got := matchKeys(a, b)
		if slices.Equal(a, b) {
			if !got.same {
				t.Fatalf("%v and %v: got %+v, want identical", a, b, got)
			}
		} else if got.same || !slices.Equal(got.toB, want.toB) || !slices.Equal(got.onlyB, want.onlyB) {
			t.Fatalf("%v and %v: got %+v, want %+v", a, b, got, want)
		}
	}
}

// The moved rows are all except a longest ascending subset of the pairs, found by trying every
// subset.
func TestMoved(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		toB := make([]int32, r.IntN(9))
		for i, to := range r.Perm(len(toB)) {
			toB[i] = int32(to)
			if r.IntN(5) == 0 {
				toB[i] = -1
			}
		}
		fewest := len(toB)
		for choice := range 1 << len(toB) {
			last, left, ascends := int32(-1), 0, true
			for i, to := range toB {
				if to < 0 {
					continue
				}
				if choice>>i&1 == 0 {
					left++
				} else {
					ascends, last = ascends && to > last, to
				}
			}
			if ascends {
				fewest = min(fewest, left)
			}
		}
		rows := moved(toB)
		rest := slices.Clone(toB)
		for _, row := range rows {
			if toB[row] < 0 {
				t.Fatalf("%v: row %d, which B does not have, has moved", toB, row)
			}
			rest[row] = -1
		}
		rest = slices.DeleteFunc(rest, func(to int32) bool { return to < 0 })
		if len(rows) != fewest || !slices.IsSorted(rest) || !slices.IsSorted(rows) {
			t.Fatalf("%v: got %v, want %d rows, the others ascending", toB, rows, fewest)
		}
	}
}
