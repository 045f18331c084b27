package incidence

import (
	"slices"

	"tcbuild/ingest"
)

// Remover computes what a genotype removes, from the incidence cache. It holds
// scratch memory: one per goroutine, made with Clone.
type Remover struct {
	rows      *CSR
	rules     *Rules
	genes     uint32 // number of rows before the reactions'
	union     unioner
	removed   []uint32
	reactions []uint32
	deleted   []bool // by gene; all false between calls
}

// NewRemover makes a Remover for a graph, its cache and its rules.
func NewRemover(graph *ingest.Graph, cache *Cache, rules *Rules) *Remover {
	r := &Remover{rows: &cache.CSR, rules: rules, genes: uint32(graph.Genes.Len())}
	return r.Clone()
}

// Clone makes a Remover for another goroutine; both share immutable data.
func (r *Remover) Clone() *Remover {
	return &Remover{rows: r.rows, rules: r.rules, genes: r.genes, deleted: make([]bool, r.genes)}
}

// Removed returns the positions of the mask space that a genotype removes, strictly ascending: a
// view, valid until the next call. genes are perturbation indices, strictly ascending. The cost
// grows with the number of positions returned.
func (r *Remover) Removed(genes []uint32) []uint32 {
	for _, gene := range genes {
		r.union.add(r.rows.Row(gene))
	}
	for _, reaction := range r.removedReactions(genes) {
		r.union.add(r.rows.Row(r.genes + reaction))
	}
	r.removed = r.union.union(r.removed[:0])
	return r.removed
}

// removedReactions returns the reactions that a genotype removes, ascending.
func (r *Remover) removedReactions(genes []uint32) []uint32 {
	r.reactions = r.reactions[:0]
	for _, gene := range genes {
		r.deleted[gene] = true
	}
	for _, gene := range genes {
		for _, reaction := range r.rules.byGene.Row(gene) {
			if r.rules.rules == nil || !r.rules.rules[reaction].alive(r.deleted) {
				r.reactions = append(r.reactions, reaction)
			}
		}
	}
	for _, gene := range genes {
		r.deleted[gene] = false
	}
	slices.Sort(r.reactions)
	r.reactions = slices.Compact(r.reactions)
	return r.reactions
}
