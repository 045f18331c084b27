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
	genes     []uint64
	reactions []uint64
	stack     []uint64
	removed   [BatchSamples][]uint32
}

func NewLooker(rules *Rules) *Looker {
	return &Looker{Rules: rules, genes: make([]uint64, rules.Graph.Genes.Len()),
		reactions: make([]uint64, rules.Graph.Reactions.Len())}
}

// Regenerate returns each genotype's removed positions, strictly ascending: views, valid until the
// next call. It costs one pass over all edges, however many genotypes there are.
func (l *Looker) Regenerate(genotypes [][]uint32) [][]uint32 {
	clear(l.genes)
	clear(l.reactions)
	for k := range genotypes {
		l.removed[k] = l.removed[k][:0]
		for _, gene := range genotypes[k] {
			l.genes[gene] |= 1 << k
		}
	}
	l.lookUpReactions()

	l.emit(ingest.Gene, l.genes)
	l.emit(ingest.Reaction, l.reactions)
	for _, edges := range l.space.edges {
		start := uint32(l.Start[edges.Type.String()])
		switch edges.Type {
		case ingest.GPR:
			l.emitEdges(start, edges.Src, nil, l.genes)
		case ingest.RMR:
			l.emitEdges(start, edges.Src, nil, l.reactions)
		default:
			l.emitEdges(start, edges.Src, edges.Dst, l.genes)
		}
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

// emit lists the removals of a node mask.
func (l *Looker) emit(mask string, words []uint64) {
	start := uint32(l.Start[mask])
	for node, word := range words {
		if word != 0 {
			l.list(start+uint32(node), word)
		}
	}
}

// emitEdges lists the removals of an edge mask; dst is nil if only the source counts.
func (l *Looker) emitEdges(start uint32, src, dst []uint32, words []uint64) {
	for position, s := range src {
		word := words[s]
		if dst != nil {
			word |= words[dst[position]]
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
