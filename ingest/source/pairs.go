package source

// pairs remembers the pairs of genes in an edge source. In an undirected source, both directions of
// a pair are the same.
type pairs struct {
	undirected bool
	met        map[uint64]int // pair -> number, in order of first occurrence
	backward   []bool         // per pair: first seen with the greater gene first
}

// meeting compares a row's pair of genes with earlier rows.
type meeting uint8

const (
	first    meeting = iota
	same             // directed: the edge occurred before
	repeated         // undirected: the pair occurred before, and first in this direction
	reversed         // undirected: the pair occurred before, and first in the other direction
)

func newPairs(undirected bool) *pairs {
	return &pairs{undirected: undirected, met: make(map[uint64]int)}
}

// meet returns the number of the pair, from 0 in order of first occurrence.
func (p *pairs) meet(src, dst uint32) (pair int, m meeting) {
	backward := p.undirected && src > dst
	if backward {
		src, dst = dst, src
	}
	key := uint64(src)<<32 | uint64(dst)
	pair, known := p.met[key]
	switch {
	case !known:
		pair = len(p.backward)
		p.met[key] = pair
		p.backward = append(p.backward, backward)
		return pair, first
	case !p.undirected:
		return pair, same
	case p.backward[pair] == backward:
		return pair, repeated
	default:
		return pair, reversed
	}
}
