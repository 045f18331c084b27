package regenerate

import (
	"math/bits"

	"tcbuild/ingest"
)

// BatchSamples is how many samples one pass over the edges regenerates: the bits of a word.
const BatchSamples = 64

// Looker regenerates masks by edges, for up to BatchSamples samples at a time: a node's word has
// bit k set when sample k removes it, and an edge's removals are the two endpoints' words or-ed. It
// holds words for all nodes: one per goroutine.
type Looker struct {
	*Rules
	words     []uint64 // by node: the genes', then the reactions'
	genes     []uint64
	reactions []uint64
	stack     []uint64
	removed   [BatchSamples][]uint32
}

func NewLooker(rules *Rules) *Looker {
	words, genes := make([]uint64, rules.nodes()), rules.Graph.Genes.Len()
	return &Looker{Rules: rules, words: words, genes: words[:genes], reactions: words[genes:]}
}

// Regenerate returns each genotype's removed positions, strictly ascending: views, valid until the
// next call. It costs one pass over all edges, however many genotypes there are.
func (l *Looker) Regenerate(genotypes [][]uint32) [][]uint32 {
	clear(l.words)
	for k := range genotypes {
		l.removed[k] = l.removed[k][:0]
		for _, gene := range genotypes[k] {
			l.genes[gene] |= 1 << k
		}
	}
	l.lookUpReactions()

	for node, word := range l.words {
		l.list(uint32(node), word)
	}
	for _, edges := range l.space.edges {
		source, target := l.ends(edges.Type)
		l.emitEdges(uint32(l.Start[edges.Type.String()]), edges, l.wordsFrom(source), l.wordsFrom(target))
	}
	return l.removed[:len(genotypes)]
}

// lookUpReactions sets the words of the reactions.
func (l *Looker) lookUpReactions() {
	for reaction := range l.rules {
		l.reactions[reaction] = l.rules[reaction].removed(l.genes, &l.stack)
	}
	if l.rules == nil && l.gpr != nil {
		for position, gene := range l.gpr.Src {
			l.reactions[l.gpr.Dst[position]] |= l.genes[gene]
		}
	}
}

// wordsFrom returns the words of the nodes from first on, or nil for none.
func (l *Looker) wordsFrom(first int) []uint64 {
	if first == none {
		return nil
	}
	return l.words[first:]
}

// emitEdges lists the removals of an edge mask, given the words of sources and targets; those of an
// end that does not count are nil.
func (l *Looker) emitEdges(start uint32, edges *ingest.Edges, sources, targets []uint64) {
	for position, src := range edges.Src {
		word := uint64(0)
		if sources != nil {
			word = sources[src]
		}
		if targets != nil {
			word |= targets[edges.Dst[position]]
		}
		if word != 0 {
			l.list(start+uint32(position), word)
		}
	}
}

func (l *Looker) list(position uint32, word uint64) {
	for ; word != 0; word &= word - 1 {
		k := bits.TrailingZeros64(word)
		l.removed[k] = append(l.removed[k], position)
	}
}
