package synth

import (
	"math/bits"
	"slices"

	"tcbuild/ingest"
)

// network describes one gene-gene edge type.
type network struct {
	relation   string
	edges      int // including a self loop for every gene
	flatness   int // flatness of the hubs, see hubs
	regulators int // number of genes with directed edges to any other gene; 0: undirected
}

// generate draws the edges of a network over genes in order of their rank in the whole cell. Edges
// ascend by source, then target. An undirected pair occurs once, with source < target. The self
// loops (0,0), (1,1), … come last.
func (n network) generate(seed uint64, ranked []uint32) *ingest.Edges {
	genes := len(ranked)
	r := newRandom(seed, "network "+n.relation)
	targets := newHubs(blurred(r, ranked), n.flatness)
	sources := targets
	if n.regulators > 0 {
		regulators := newRandom(seed, "regulators").shuffled(genes)[:n.regulators]
		sources = newHubs(regulators, n.regulators/4)
	}

	drawn := newPairs(genes)
	for count := 0; count < n.edges-genes; {
		source, target := sources.draw(r), targets.draw(r)
		if source == target {
			continue
		}
		if n.regulators == 0 && source > target {
			source, target = target, source
		}
		if drawn.add(source, target) {
			count++
		}
	}

	edges := &ingest.Edges{
		Type: ingest.EdgeType{Source: ingest.Gene, Relation: n.relation, Target: ingest.Gene},
		Src:  make([]uint32, 0, n.edges),
		Dst:  make([]uint32, 0, n.edges),
	}
	edges.Src, edges.Dst = drawn.appendTo(edges.Src, edges.Dst)
	for gene := range uint32(genes) {
		edges.Src = append(edges.Src, gene)
		edges.Dst = append(edges.Dst, gene)
	}
	return edges
}

// blurred returns the genes in a similar order: a hub of the cell tends to be a hub of each
// network, but not the same one in all.
func blurred(r *random, ranked []uint32) []uint32 {
	type place struct {
		at   int
		gene uint32
	}
	places := make([]place, len(ranked))
	for rank, gene := range ranked {
		places[rank] = place{rank + r.below(len(ranked)), gene}
	}
	slices.SortStableFunc(places, func(a, b place) int { return a.at - b.at })
	genes := make([]uint32, len(places))
	for i, p := range places {
		genes[i] = p.gene
	}
	return genes
}

// pairs is a set of gene pairs, one bit each: 5.5 MB for 6,607 genes. It both finds duplicates and
// sorts.
type pairs struct {
	genes int
	words []uint64
}

func newPairs(genes int) *pairs {
	return &pairs{genes, make([]uint64, (genes*genes+63)/64)}
}

// add reports whether the pair is new.
func (p *pairs) add(source, target uint32) bool {
	bit := int(source)*p.genes + int(target)
	word, mask := &p.words[bit/64], uint64(1)<<(bit%64)
	if *word&mask != 0 {
		return false
	}
	*word |= mask
	return true
}

// appendTo appends the pairs, ascending by source, then target.
func (p *pairs) appendTo(src, dst []uint32) (sources, targets []uint32) {
	for i, word := range p.words {
		for ; word != 0; word &= word - 1 {
			bit := i*64 + bits.TrailingZeros64(word)
			src = append(src, uint32(bit/p.genes))
			dst = append(dst, uint32(bit%p.genes))
		}
	}
	return src, dst
}
