package incidence

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestUnion holds unions of 0 to 17 lists against a set, with one unioner for all.
func TestUnion(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	var u unioner
	for count := range 18 {
		for _, length := range []int{0, 1, 2, 3, 40, 300} {
			prefix := []uint32{7, 7}
			want := slices.Clone(prefix)
			set := map[uint32]bool{}
			for range count {
				list := ascending(r, r.IntN(length+1), 400)
				for _, value := range list {
					set[value] = true
				}
				u.add(list)
			}
			for value := range uint32(400) {
				if set[value] {
					want = append(want, value)
				}
			}
			if got := u.union(prefix); !slices.Equal(got, want) {
				t.Fatalf("seed %d: union of %d lists: %d, want %d", seed, count, got, want)
			}
		}
	}
}

// TestUnionKeepsItsInput makes sure that lists, which are views of the cache, are not written to.
func TestUnionKeepsItsInput(t *testing.T) {
	lists := [][]uint32{{1, 5}, {2, 5, 9}, {0, 1}, {}, {9}, {5}}
	var u unioner
	for range 2 {
		for _, list := range lists {
			u.add(list)
		}
		if got, want := u.union(nil), []uint32{0, 1, 2, 5, 9}; !slices.Equal(got, want) {
			t.Errorf("union %d, want %d", got, want)
		}
	}
	if want := []uint32{2, 5, 9}; !slices.Equal(lists[1], want) {
		t.Errorf("a list became %d, was %d", lists[1], want)
	}
}

// ascending draws count values below limit and sorts out repeated ones.
func ascending(r *rand.Rand, count, limit int) []uint32 {
	list := make([]uint32, count)
	for i := range list {
		list[i] = uint32(r.IntN(limit))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
