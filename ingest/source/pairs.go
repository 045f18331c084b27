package source

import "slices"

// pairs remembers the pairs of genes in an edge source, in a table with linear probing: it takes 19
// to 30 bytes per pair, and less time than a map. In an undirected source, both directions of a
// pair are the same.
type pairs struct {
	undirected bool
	known      []uint64 // in order of first occurrence
	// their number is a power of two; at most three quarters of them are filled
	slots []pairSlot
}

// firstBackward is set in an undirected pair that was first seen with the greater gene first. The
// numbers of genes are below it.
const firstBackward = 1 << 63

// pairSlot is the number of a known pair, from 1, and its hash, which tells most others apart; 0 is
// an empty slot.
type pairSlot struct{ hash, number uint32 }

// meeting compares a row's pair of genes with earlier rows.
type meeting uint8

const (
	first    meeting = iota
	same             // directed: the edge occurred before
	repeated         // undirected: the pair occurred before, and first in this direction
	reversed         // undirected: the pair occurred before, and first in the other direction
)

func newPairs(undirected bool) *pairs {
	return &pairs{undirected: undirected, slots: make([]pairSlot, 1<<10)}
}

// meet returns the number of the pair, from 0 in order of first occurrence.
func (p *pairs) meet(src, dst uint32) (pair int, m meeting) {
	backward := p.undirected && src > dst
	if backward {
		src, dst = dst, src
	}
	both := uint64(src)<<32 | uint64(dst)
	hash := uint32(both * 0x9e3779b97f4a7c15 >> 32)
	slot := p.find(hash, both)
	pair = int(slot.number) - 1
	switch {
	case pair < 0:
		*slot = pairSlot{hash, uint32(len(p.known)) + 1}
		if backward {
			both |= firstBackward
		}
		p.known = push(p.known, both)
		if 4*len(p.known) > 3*len(p.slots) {
			p.grow()
		}
		return len(p.known) - 1, first
	case !p.undirected:
		return pair, same
	case (p.known[pair]&firstBackward != 0) == backward:
		return pair, repeated
	default:
		return pair, reversed
	}
}

// find returns the slot of a pair, or the empty one where it belongs.
func (p *pairs) find(hash uint32, pair uint64) *pairSlot {
	last := uint32(len(p.slots) - 1)
	for i := hash & last; ; i = (i + 1) & last {
		slot := &p.slots[i]
		if slot.number == 0 || slot.hash == hash && p.known[slot.number-1]&^firstBackward == pair {
			return slot
		}
	}
}

// push appends to a slice that may become long, whose memory doubles: append would copy it more often.
func push[T any](to []T, value T) []T {
	if len(to) == cap(to) {
		to = slices.Grow(to, len(to)+1)
	}
	return append(to, value)
}

func (p *pairs) grow() {
	old := p.slots
	p.slots = make([]pairSlot, 2*len(old))
	last := uint32(len(p.slots) - 1)
	for _, slot := range old {
		i := slot.hash & last
		for p.slots[i].number != 0 {
			i = (i + 1) & last
		}
		if slot.number != 0 {
			p.slots[i] = slot
		}
	}
}
