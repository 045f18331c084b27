package gpuverify

import (
	"math"

	"golang.org/x/sync/errgroup"

	"tcbuild/ingest"
)

// lists has an ascending list of positions for each row: that of row r is
// positions[offsets[r]:offsets[r+1]].
type lists struct{ offsets, positions []uint32 }

func (l lists) row(r uint32) []uint32 { return l.positions[l.offsets[r]:l.offsets[r+1]] }

// edgeIncidence is the edges of each node, for one edge type. For a gene-gene edge type these are
// the edges that touch the gene at either end, a self loop once; for the others, those that start
// at the gene or reaction.
type edgeIncidence struct {
	*ingest.Edges
	start int // of the edge type's mask in the mask space
	lists
}

// newIncidences finds the incidence of every edge type, in parallel. The result is in the order of
// the masks.
func newIncidences(rules *graphRules) []edgeIncidence {
	all := make([]edgeIncidence, len(rules.edges))
	var group errgroup.Group
	for i, edges := range rules.edges {
		group.Go(func() error {
			all[i] = edgeIncidence{edges, rules.start[edges.Type.String()], edgesAt(edges, rules.graph.NodesOf(edges.Type.Source).Len())}
			return nil
		})
	}
	_ = group.Wait() // no goroutine fails
	return all
}

// edgesAt lists the edges of each of rows nodes. Each node has a linked chain of edge ends. Edges
// are added from the last to the first, so that each chain ascends; then the chains are written out
// one after the other. Besides the lists it takes 8 bytes per edge.
func edgesAt(edges *ingest.Edges, rows int) lists {
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

	l := lists{make([]uint32, 0, rows+1), make([]uint32, 0, ends)}
	for _, end := range heads {
		l.offsets = append(l.offsets, uint32(len(l.positions)))
		for ; end != none; end = next[end] {
			l.positions = append(l.positions, end/2)
		}
	}
	l.offsets = append(l.offsets, uint32(len(l.positions)))
	return l
}
