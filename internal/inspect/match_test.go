package inspect

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
