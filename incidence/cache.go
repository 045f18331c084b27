package incidence

import (
	"golang.org/x/sync/errgroup"

	"tcbuild/ingest"
)

// Cache is the incidence of a graph: for every edge type, the edges of each
// node. It is immutable and safe for concurrent use.
type Cache struct {
	Layout Layout
	Edges  []Incidence // one per edge type, in canonical order
}

// Incidence lists the positions of an edge type's edges by node: gene-gene
// edges by both endpoints, gene-reaction edges by gene, reaction-metabolite edges by reaction.
type Incidence struct {
	EdgeType string
	RowType  string // node type of the rows
	CSR
}

// Build makes the incidence cache of a graph, edge types in parallel. It costs two passes over the
// edges.
func Build(graph *ingest.Graph) *Cache {
	cache := &Cache{Layout: NewLayout(graph), Edges: make([]Incidence, len(graph.Edges))}
	var group errgroup.Group
	for i, edges := range graph.Edges {
		group.Go(func() error {
			cache.Edges[i] = incidenceOf(graph, edges)
			return nil
		})
	}
	group.Wait() // no goroutine fails
	return cache
}

func incidenceOf(graph *ingest.Graph, edges *ingest.Edges) Incidence {
	incidence := Incidence{EdgeType: edges.Type.String(), RowType: edges.Type.Source}
	switch edges.Type {
	case ingest.GPR:
		incidence.CSR = bySource(edges, graph.Genes.Len())
	case ingest.RMR:
		incidence.CSR = bySource(edges, graph.Reactions.Len())
	default:
		incidence.CSR = byEndpoint(edges, graph.Genes.Len())
	}
	return incidence
}
