package source

// pairs remembers the pairs of genes that an edge source has named. A pair of
// an undirected source is the same in both directions.
type pairs struct {
	undirected bool
	met        map[uint64]int // pair -> number, by first meeting
	backward   []bool         // per pair: first met with the greater gene first
}

// meeting says how a row's pair of genes stands to the rows before it.
type meeting uint8

const (
	first    meeting = iota
	same             // directed: the edge of an earlier row
	repeated         // undirected: met before, in the first meeting's direction
	reversed         // undirected: met before, in the other direction
)

func newPairs(undirected bool) *pairs {
	return &pairs{undirected: undirected, met: make(map[uint64]int)}
}

// meet returns the number of the pair, from 0 in the order of first meetings.
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
