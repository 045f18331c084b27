package graph

import (
	"slices"

	"tcbuild/ingest"
	"tcbuild/internal/inorder"
)

// EdgeReport counts the unusual edges of one edge type. They are kept.
type EdgeReport struct {
	Type       ingest.EdgeType
	Edges      int // all edges
	Duplicates int // edges with the same source and target as an earlier edge
	SelfLoops  int // edges from a node to itself
}

// OddEdges counts the self loops and repeated edges of each edge type, in the order of g.Edges.
func OddEdges(g *ingest.Graph) []EdgeReport {
	reports := make([]EdgeReport, len(g.Edges))
	_ = inorder.All(len(reports), func(i int) error {
		sources, targets := g.Ends(g.Edges[i].Type)
		reports[i] = countOddEdges(g.Edges[i], sources, targets)
		return nil
	})
	return reports
}

// countOddEdges counts self loops and repeated edges, in time and memory linear in the table's
// size: it groups edges by source and marks each target with the last source that led to it.
func countOddEdges(e *ingest.Edges, sources, targets *ingest.Nodes) EdgeReport {
	report := EdgeReport{Type: e.Type, Edges: e.Len()}
	ends := make([]int, sources.Len()+1)
	for i, src := range e.Src {
		ends[src+1]++
		if src == e.Dst[i] && sources == targets {
			report.SelfLoops++
		}
	}
	for i := range sources.Len() {
		ends[i+1] += ends[i]
	}
	gathered := make([]uint32, e.Len())
	next := slices.Clone(ends)
	for i, src := range e.Src {
		gathered[next[src]] = e.Dst[i]
		next[src]++
	}
	marks := make([]uint32, targets.Len()) // 1 + source
	for src := range sources.Len() {
		for _, dst := range gathered[ends[src]:ends[src+1]] {
			if marks[dst] == uint32(src)+1 {
				report.Duplicates++
			}
			marks[dst] = uint32(src) + 1
		}
	}
	return report
}
