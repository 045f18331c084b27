package synth

import (
	"math/bits"
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"
)

// random is a stream of random integers that is the same in every release of Go and on every
// machine. It relies only on the published PCG-DXSM algorithm, not on the methods of rand.Rand.
type random struct{ pcg rand.PCG }

// newRandom returns the stream of one part of a synthetic yeast. Each part has its own stream, so
// that a change to one does not affect the others.
func newRandom(seed uint64, part string) *random {
	r := &random{}
	r.pcg.Seed(seed, xxhash.Sum64String(part))
	return r
}

// below returns an integer in [0, n), n > 0. Its bias is at most n/2^64.
func (r *random) below(n int) int {
	high, _ := bits.Mul64(r.pcg.Uint64(), uint64(n))
	return int(high)
}

// shuffled returns 0 … n-1 in random order.
func (r *random) shuffled(n int) []uint32 {
	order := make([]uint32, n)
	for i := range order {
		j := r.below(i + 1)
		order[i] = order[j]
		order[j] = uint32(i)
	}
	return order
}

// hubs is a table to draw members from, few of them often and many rarely, like the degrees in cell
// networks: the member of rank r is drawn with a weight of 1/(r+flatness). The larger the flatness,
// the smaller the hubs.
type hubs []uint32

// newHubs makes the table for members in order of rank. A member takes at least 4 rows.
func newHubs(ranked []uint32, flatness int) hubs {
	var table hubs
	for rank, member := range ranked {
		for range 4 * (len(ranked) + flatness) / (rank + flatness) {
			table = append(table, member)
		}
	}
	return table
}

func (h hubs) draw(r *random) uint32 { return h[r.below(len(h))] }

// drawDistinct returns count different members in the order drawn. The table must have that many.
func (h hubs) drawDistinct(r *random, count int) []uint32 {
	drawn := make([]uint32, 0, count)
	for len(drawn) < count {
		drawn = appendNew(drawn, h.draw(r))
	}
	return drawn
}

// appendNew appends x to a short list unless the list has it.
func appendNew(list []uint32, x uint32) []uint32 {
	for _, y := range list {
		if x == y {
			return list
		}
	}
	return append(list, x)
}
