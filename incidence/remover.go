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

// unioner merges ascending lists. It holds scratch memory: one per goroutine.
type unioner struct {
	lists   [][]uint32
	scratch [2][]uint32
}

// add queues a strictly ascending list for the next union, without copying it.
func (u *unioner) add(list []uint32) {
	if len(list) > 0 {
		u.lists = append(u.lists, list)
	}
}

// union appends the distinct values of the queued lists, ascending, to dst, and empties the queue.
// k lists take k-1 pairwise merges, shortest first, so a value is moved
// about log2(k) times at most, and a hub's long list less often.
func (u *unioner) union(dst []uint32) []uint32 {
	if len(u.lists) > 2 {
		slices.SortFunc(u.lists, func(a, b []uint32) int { return len(a) - len(b) })
	}
	for side := 0; len(u.lists) > 2; side = 1 - side {
		u.halve(&u.scratch[side])
	}
	switch len(u.lists) {
	case 1:
		dst = append(dst, u.lists[0]...)
	case 2:
		dst = union2(dst, u.lists[0], u.lists[1])
	}
	u.lists = u.lists[:0]
	return dst
}

// halve merges neighbouring pairs of lists into scratch; an odd last list stays in place. It may be
// in scratch itself, from two rounds before, but there it comes after all earlier lists, whose
// merges need no more room than they did.
func (u *unioner) halve(scratch *[]uint32) {
	total := 0
	for _, list := range u.lists {
		total += len(list)
	}
	if cap(*scratch) < total {
		*scratch = make([]uint32, 0, 2*total)
	}
	merged, out := u.lists[:0], (*scratch)[:0]
	for i := 0; i+1 < len(u.lists); i += 2 {
		start := len(out)
		out = union2(out, u.lists[i], u.lists[i+1])
		merged = append(merged, out[start:])
	}
	if len(u.lists)%2 != 0 {
		merged = append(merged, u.lists[len(u.lists)-1])
	}
	u.lists = merged
}

// union2 appends the distinct values of two strictly ascending lists, neither empty. The loops have
// no branch on the values: with edge positions it would be unpredictable. The first one loads the
// values after x and y before it knows which it needs, so that steps do not wait for memory.
func union2(dst, a, b []uint32) []uint32 {
	end := len(dst)
	if need := end + len(a) + len(b); cap(dst) < need {
		dst = append(make([]uint32, 0, 2*need), dst...)
	}
	out := dst[:cap(dst)]
	i, j, x, y := 0, 0, a[0], b[0]
	for i+1 < len(a) && j+1 < len(b) {
		nextX, nextY := a[i+1], b[j+1]
		takesX, takesY := x <= y, y <= x
		out[end] = min(x, y)
		end++
		i += asInt(takesX)
		j += asInt(takesY)
		if takesX {
			x = nextX // a conditional move
		}
		if takesY {
			y = nextY
		}
	}
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		out[end] = min(x, y)
		end++
		i += asInt(x <= y)
		j += asInt(y <= x)
	}
	end += copy(out[end:], a[i:])
	end += copy(out[end:], b[j:])
	return out[:end]
}

// asInt compiles to a conditional set, not a branch.
func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
