package incidence

import "tcbuild/ingest"

// Cache has, for each node that a deletion can remove, what goes with it. It is immutable and safe
// for concurrent use.
//
// Its rows are the genes, then the reactions, as in the mask space: the number of a row is the
// node's position there. It has positions of the mask space: its own, and the positions of the
// edges that go with the node.
type Cache struct {
	Layout Layout
	CSR
}

// Build makes the incidence cache of a graph, in two passes over the edges.
func Build(graph *ingest.Graph) *Cache {
	cache := &Cache{Layout: NewLayout(graph)}
	genes, nodes := uint32(graph.Genes.Len()), graph.Genes.Len()+graph.Reactions.Len()
	cache.CSR = newCSR(nodes, func(f *filler) {
		for node := range uint32(nodes) {
			f.add(node, node)
		}
		start := uint32(cache.Layout.Size - cache.Layout.EdgePositions())
		for _, edges := range graph.Edges {
			f.addEdges(edges, start, genes)
			start += uint32(edges.Len())
		}
	})
	return cache
}

// addEdges adds the positions of edges, which begin at start, to the rows of their ends, a self
// loop once. An end has no row if nothing removes nodes of its type. An edge of gene__gpr__reaction
// stays when its reaction goes.
func (f *filler) addEdges(edges *ingest.Edges, start, genes uint32) {
	first := map[string]uint32{ingest.Gene: 0, ingest.Reaction: genes} // rows of the node types
	source, target := edges.Type.Ends()
	firstSource, hasSource := first[source]
	firstTarget, hasTarget := first[target]
	hasTarget = hasTarget && edges.Type != ingest.GPR
	for i, src := range edges.Src {
		if hasSource {
			f.add(firstSource+src, start+uint32(i))
		}
		if dst := edges.Dst[i]; hasTarget && (source != target || src != dst) {
			f.add(firstTarget+dst, start+uint32(i))
		}
	}
}
