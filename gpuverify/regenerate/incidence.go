package regenerate

import (
	"math"
	"slices"
)

// Lists has an ascending list of positions for each row: that of row r is
// Positions[Offsets[r]:Offsets[r+1]].
type Lists struct{ Offsets, Positions []uint32 }

func (l Lists) Row(r uint32) []uint32 { return l.Positions[l.Offsets[r]:l.Offsets[r+1]] }

// add adds a row.
func (l *Lists) add(row []uint32) {
	l.Positions = append(l.Positions, row...)
	l.Offsets = append(l.Offsets, uint32(len(l.Positions)))
}

// NewIncidence lists, for each node of rules, the positions of the mask space that go with it: its
// own, and those of the edges that touch it, a self loop once.
//
// Each node has a linked chain of edge ends. Edges are added from the last to the first, so that
// each chain ascends; then the chains are written out one after the other. Besides the lists it
// takes 8 bytes per edge.
func NewIncidence(rules *Rules) Lists {
	const last = math.MaxUint32 // there are fewer ends: positions are below 2^31
	heads := make([]uint32, rules.nodes())
	for node := range heads {
		heads[node] = last
	}
	total := 0
	for _, edges := range rules.edges {
		total += len(edges.Src)
	}
	next := make([]uint32, 2*total) // end 2e is edge e at its source, 2e+1 at its target
	ends, edge := 0, total
	for _, edges := range slices.Backward(rules.edges) {
		firstSource, firstTarget := rules.ends(edges.Type)
		for i := len(edges.Src) - 1; i >= 0; i-- {
			edge--
			source, target := firstSource+int(edges.Src[i]), firstTarget+int(edges.Dst[i])
			if firstSource != none {
				next[2*edge], heads[source] = heads[source], uint32(2*edge)
				ends++
			}
			if firstTarget != none && (target != source || firstSource == none) {
				next[2*edge+1], heads[target] = heads[target], uint32(2*edge+1)
				ends++
			}
		}
	}

	l := Lists{make([]uint32, 1, len(heads)+1), make([]uint32, 0, len(heads)+ends)}
	firstEdge := uint32(rules.Size - total)
	for node, end := range heads {
		l.Positions = append(l.Positions, uint32(node))
		for ; end != last; end = next[end] {
			l.Positions = append(l.Positions, firstEdge+end/2)
		}
		l.Offsets = append(l.Offsets, uint32(len(l.Positions)))
	}
	return l
}
