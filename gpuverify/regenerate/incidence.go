package regenerate

import (
	"math"

	"golang.org/x/sync/errgroup"

	"tcbuild/ingest"
)

// Lists has an ascending list of positions for each row: that of row r is
// Positions[Offsets[r]:Offsets[r+1]].
type Lists struct{ Offsets, Positions []uint32 }

func (l Lists) Row(r uint32) []uint32 { return l.Positions[l.Offsets[r]:l.Offsets[r+1]] }

// Incidence is the edges of each node, for one edge type. For a gene-gene edge type these are
// the edges that touch the gene at either end, a self loop once; for the others, those that start
// at the gene or reaction.
type Incidence struct {
	*ingest.Edges
	Start int // of the edge type's mask in the mask space
	Lists
}

// NewIncidences finds the incidence of every edge type, in parallel. The result is in the order of
// the masks.
func NewIncidences(rules *Rules) []Incidence {
	all := make([]Incidence, len(rules.edges))
	var group errgroup.Group
	for i, edges := range rules.edges {
		group.Go(func() error {
			all[i] = Incidence{edges, rules.Start[edges.Type.String()], edgesAt(edges, rules.Graph.NodesOf(edges.Type.Source).Len())}
			return nil
		})
	}
	_ = group.Wait() // no goroutine fails
	return all
}

// edgesAt lists the edges of each of rows nodes. Each node has a linked chain of edge ends. Edges
// are added from the last to the first, so that each chain ascends; then the chains are written out
// one after the other. Besides the lists it takes 8 bytes per edge.
func edgesAt(edges *ingest.Edges, rows int) Lists {
	const none = math.MaxUint32 // there are fewer ends: positions are below 2^31
	heads := make([]uint32, rows)
	for node := range heads {
		heads[node] = none
	}
	next := make([]uint32, 2*len(edges.Src)) // end 2p is edge p at its source, 2p+1 at its target
	touchesTarget := edges.Type.Source == edges.Type.Target
	ends := 0
	for position := len(edges.Src) - 1; position >= 0; position-- {
		source, target, end := edges.Src[position], edges.Dst[position], 2*uint32(position)
		next[end], heads[source] = heads[source], end
		ends++
		if touchesTarget && target != source {
			next[end+1], heads[target] = heads[target], end+1
			ends++
		}
	}

	l := Lists{make([]uint32, 0, rows+1), make([]uint32, 0, ends)}
	for _, end := range heads {
		l.Offsets = append(l.Offsets, uint32(len(l.Positions)))
		for ; end != none; end = next[end] {
			l.Positions = append(l.Positions, end/2)
		}
	}
	l.Offsets = append(l.Offsets, uint32(len(l.Positions)))
	return l
}
