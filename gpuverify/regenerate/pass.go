package regenerate

import (
	"math/bits"

	"tcbuild/ingest"
)

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
	hits      uint64 // of the last 64 of these, those with a touched target that are still to be listed
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
	targets, touched := p.targets[p.scanned:min(int(p.scanned)+64, len(p.targets))], p.touched[p.firstNode:]
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
