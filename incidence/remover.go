package incidence

import (
	"slices"

	"tcbuild/ingest"
)

// Remover computes what a genotype removes, from the incidence cache. It holds
// scratch memory: one per goroutine, made with Clone.
type Remover struct {
	graph         *ingest.Graph
	gpr           *ingest.Edges // nil if the graph has none
	gprRows       *CSR
	rules         *Rules
	edges         []placedRows
	union         unioner
	reactionStart uint32 // start of the reaction mask in the mask space
	removed       []uint32
	reactions     []uint32
	deleted       []bool // by gene; all false between calls
}

// placedRows is the incidence of an edge type, and the start of its mask in the mask space.
type placedRows struct {
	edgeType ingest.EdgeType
	rows     *CSR
	start    uint32
}

// NewRemover makes a Remover for a graph, its cache and its rules.
func NewRemover(graph *ingest.Graph, cache *Cache, rules *Rules) *Remover {
	r := &Remover{graph: graph, rules: rules, gpr: graph.EdgesOf(ingest.GPR)}
	for i, edges := range graph.Edges {
		rows := placedRows{edges.Type, &cache.Edges[i].CSR, cache.Layout.Start(cache.Edges[i].EdgeType)}
		if edges.Type == ingest.GPR {
			r.gprRows = rows.rows
		}
		r.edges = append(r.edges, rows)
	}
	if graph.Reactions != nil {
		r.reactionStart = cache.Layout.Start(ingest.Reaction)
	}
	return r.Clone()
}

// Clone makes a Remover for another goroutine; both share immutable data.
func (r *Remover) Clone() *Remover {
	clone := *r
	clone.union, clone.removed, clone.reactions = unioner{}, nil, nil
	clone.deleted = make([]bool, r.graph.Genes.Len())
	return &clone
}

// Removed returns the positions of the mask space that a genotype removes, strictly ascending: a
// view, valid until the next call. genes are perturbation indices, strictly ascending. The cost
// grows with the number of positions returned.
func (r *Remover) Removed(genes []uint32) []uint32 {
	r.reactions = r.removedReactions(genes)
	removed := append(r.removed[:0], genes...) // the gene mask comes first
	for _, reaction := range r.reactions {
		removed = append(removed, r.reactionStart+reaction)
	}
	for _, edges := range r.edges {
		rows := genes
		if edges.edgeType == ingest.RMR {
			rows = r.reactions
		}
		for _, row := range rows {
			r.union.add(edges.rows.Row(row))
		}
		removed = r.union.union(removed, edges.start)
	}
	r.removed = removed
	return removed
}

// removedReactions returns the reactions that a genotype removes, ascending.
func (r *Remover) removedReactions(genes []uint32) []uint32 {
	reactions := r.reactions[:0]
	switch {
	case r.rules.rules != nil:
		for _, gene := range genes {
			r.deleted[gene] = true
		}
		for _, gene := range genes {
			for _, reaction := range r.rules.byGene.Row(gene) {
				if !r.rules.rules[reaction].alive(r.deleted) {
					reactions = append(reactions, reaction)
				}
			}
		}
		for _, gene := range genes {
			r.deleted[gene] = false
		}
	case r.gpr != nil:
		for _, gene := range genes {
			for _, position := range r.gprRows.Row(gene) {
				reactions = append(reactions, r.gpr.Dst[position])
			}
		}
	}
	slices.Sort(reactions)
	return slices.Compact(reactions)
}
