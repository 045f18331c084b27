package regenerate

import (
	"math"
	"math/bits"

	"tcbuild/ingest"
)

// BatchSamples is how many samples one pass over the edges regenerates. A pass over yeast's reads
// 10 MB, which costs a sample of 512 less than its own removals do.
const BatchSamples = 512

// word has a bit for each sample of a pass: sample k has bit k%64 of number k/64.
type word [BatchSamples / 64]uint64

// Looker regenerates masks by edges, for up to BatchSamples samples at a time: it finds the samples
// that remove each node, and looks up both endpoints of every edge among them. It holds words for
// all nodes: one per goroutine.
type Looker struct {
	*Rules
	// by node, the genes', then the reactions'; a bit is set when that sample removes it
	words     []word
	genes     []word
	reactions []word
	stack     []word

	// the samples that remove node n are samples[firsts[n]:firsts[n+1]]
	firsts  []uint32
	samples []uint16
	touched []uint64 // by node: 1 if a sample removes it, else 0
	owners  []uint16 // by node that is touched: its sample, or several

	next    [BatchSamples]int    // by sample: the place in removed of its next position
	covered [BatchSamples]uint32 // by sample: the position below which its removals are complete
	removed []uint32             // a stretch for each sample
}

// several is an owner that stands for more than one sample.
const several = math.MaxUint16

// NewLooker makes a Looker.
func NewLooker(rules *Rules) *Looker {
	words, genes := make([]word, rules.nodes()), rules.Graph.Genes.Len()
	return &Looker{Rules: rules, words: words, genes: words[:genes], reactions: words[genes:],
		firsts: make([]uint32, len(words)+1), touched: make([]uint64, len(words)),
		owners: make([]uint16, len(words))}
}

// Regenerate returns each genotype's removed positions, strictly ascending: views, valid until the
// next call. It costs one pass over all edges, however many genotypes there are.
func (l *Looker) Regenerate(genotypes [][]uint32) [][]uint32 {
	clear(l.words)
	for k := range genotypes {
		for _, gene := range genotypes[k] {
			l.genes[gene][k/64] |= 1 << (k % 64)
		}
	}
	l.lookUpReactions()
	l.listSamples()
	starts := l.makeRoom()

	for node := range l.words {
		for _, k := range l.samples[l.firsts[node]:l.firsts[node+1]] {
			l.put(k, uint32(node))
		}
	}
	for i, edges := range l.space.edges {
		l.emitEdges(edges, l.runs[i])
	}
	views := make([][]uint32, len(genotypes))
	for k := range views {
		views[k] = l.removed[starts[k]:l.next[k]]
	}
	return views
}

// lookUpReactions sets the words of the reactions.
func (l *Looker) lookUpReactions() {
	for reaction := range l.rules {
		l.reactions[reaction] = l.rules[reaction].removed(l.genes, &l.stack)
	}
	if l.rules == nil && l.gpr != nil {
		for position, gene := range l.gpr.Src {
			removed := &l.reactions[l.gpr.Dst[position]]
			for i, samples := range l.genes[gene] {
				removed[i] |= samples
			}
		}
	}
}

// listSamples lists the samples of each word.
func (l *Looker) listSamples() {
	l.samples = l.samples[:0]
	for node := range l.words {
		for i, left := range l.words[node] {
			for ; left != 0; left &= left - 1 {
				l.samples = append(l.samples, uint16(64*i+bits.TrailingZeros64(left)))
			}
		}
		samples := l.samples[l.firsts[node]:]
		l.firsts[node+1] = uint32(len(l.samples))
		l.touched[node] = uint64(min(1, len(samples)))
		if len(samples) > 0 {
			l.owners[node] = samples[0]
		}
		if len(samples) > 1 {
			l.owners[node] = several
		}
	}
}

// makeRoom makes room for all that each sample can remove, its nodes and their edges, and returns
// where in removed each sample's stretch starts.
func (l *Looker) makeRoom() (starts [BatchSamples]int) {
	var most [BatchSamples]int
	for node, degree := range l.degrees {
		for _, k := range l.samples[l.firsts[node]:l.firsts[node+1]] {
			most[k] += 1 + int(degree)
		}
	}
	total := 0
	for k := range most {
		starts[k] = total
		total += most[k]
	}
	if len(l.removed) < total {
		l.removed = make([]uint32, total)
	}
	l.next = starts
	clear(l.covered[:])
	return starts
}

// emitEdges lists the removals of an edge mask. A sample that removes the source of a run of edges
// removes the whole run; of the others, each target says which remove its edge.
func (l *Looker) emitEdges(edges *ingest.Edges, runs []uint32) {
	source, target := l.ends(edges.Type)
	p := pass{Looker: l, start: uint32(l.Start[edges.Type.String()])}
	if target != none {
		p.targets, p.firstNode = edges.Dst, target
	}
	if source != none {
		first := uint32(0)
		for _, next := range runs {
			if node := source + int(edges.Src[first]); l.touched[node] != 0 {
				p.emitTargets(first)
				p.emitRun(node, first, next)
			}
			first = next
		}
	}
	p.emitTargets(uint32(len(edges.Src)))
}

// pass goes over the edges of a mask once, and lists its removals in order.
type pass struct {
	*Looker
	start     uint32   // position of the first edge
	targets   []uint32 // of all edges, counted from firstNode; nil if they do not count
	firstNode int
	scanned   uint32 // how many edges have been scanned, rounded up to 64
	// of the last 64 of these, those with a touched target that are still to be listed
	hits uint64
}

// emitRun lists the removals by a run's source.
func (p *pass) emitRun(source int, first, next uint32) {
	for _, k := range p.samples[p.firsts[source]:p.firsts[source+1]] {
		run := p.removed[p.next[k]:][:next-first]
		for i := range run {
			run[i] = p.start + first + uint32(i)
		}
		p.next[k] += len(run)
		p.covered[k] = p.start + next
	}
}

// emitTargets lists the removals by the targets of the edges before end.
func (p *pass) emitTargets(end uint32) {
	owners, targets, hits := p.owners[p.firstNode:], p.targets, p.hits
	for {
		for ; hits != 0; hits &= hits - 1 {
			edge := p.scanned - 64 + uint32(bits.TrailingZeros64(hits))
			if edge >= end {
				p.hits = hits
				return
			}
			target := targets[edge]
			if owner := owners[target]; owner != several {
				p.put(owner, p.start+edge)
				continue
			}
			node := p.firstNode + int(target)
			for _, k := range p.samples[p.firsts[node]:p.firsts[node+1]] {
				p.put(k, p.start+edge)
			}
		}
		if p.scanned >= end || targets == nil {
			p.hits = 0
			return
		}
		hits = p.scan()
	}
}

// scan finds the hits among the next 64 edges. Most targets are not touched, in no order in which a
// branch could be predicted, so it takes none.
func (p *pass) scan() (hits uint64) {
	targets := p.targets[p.scanned:min(int(p.scanned)+64, len(p.targets))]
	touched := p.touched[p.firstNode:]
	p.scanned += 64
	i := 0
	for ; i+8 <= len(targets); i += 8 {
		t := (*[8]uint32)(targets[i:])
		hits |= (touched[t[0]] | touched[t[1]]<<1 | touched[t[2]]<<2 | touched[t[3]]<<3 |
			touched[t[4]]<<4 | touched[t[5]]<<5 | touched[t[6]]<<6 | touched[t[7]]<<7) << i
	}
	for ; i < len(targets); i++ {
		hits |= touched[targets[i]] << i
	}
	return hits
}

// put lists a position for a sample, unless it is covered.
func (l *Looker) put(k uint16, position uint32) {
	at := l.next[k]
	l.removed[at] = position
	if position >= l.covered[k] {
		at++
	}
	l.next[k] = at
}
