// Package incidence finds the edges and nodes that a genotype removes from a cell graph.
package incidence

import (
	"iter"
	"slices"
	"strings"

	"tcbuild/ingest"
)

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

// addEdges adds the positions of edges, which begin at start, to the rows of the ends that count, a
// self loop once. An end has no row if nothing removes nodes of its type.
func (f *filler) addEdges(edges *ingest.Edges, start, genes uint32) {
	first := map[string]uint32{ingest.Gene: 0, ingest.Reaction: genes} // rows of the node types
	ends := EndsThatCount(edges.Type)
	source, target := edges.Type.Ends()
	firstSource, hasSource := first[source]
	hasSource = hasSource && slices.Contains(ends, Source)
	firstTarget, hasTarget := first[target]
	hasTarget = hasTarget && slices.Contains(ends, Target)
	for i, src := range edges.Src {
		if hasSource {
			f.add(firstSource+src, start+uint32(i))
		}
		dst := edges.Dst[i]
		isLoop := source == target && src == dst
		if hasTarget && !(hasSource && isLoop) {
			f.add(firstTarget+dst, start+uint32(i))
		}
	}
}

// CSR is a list of ascending positions for each row, in compressed sparse rows:
// row r's list is Positions[Offsets[r]:Offsets[r+1]].
type CSR struct {
	Offsets   []uint32 // rows+1, ascending, the first 0
	Positions []uint32
}

// Row returns row r's positions, a view.
func (c *CSR) Row(r uint32) []uint32 { return c.Positions[c.Offsets[r]:c.Offsets[r+1]] }

// newCSR makes so many rows of the entries that fill adds. It is called twice: first they are
// counted, then placed. Entries of a row come ascending.
func newCSR(rows int, fill func(f *filler)) CSR {
	csr := CSR{Offsets: make([]uint32, rows+1)}
	f := &filler{next: make([]uint32, rows)}
	fill(f)
	total := uint32(0)
	for row, count := range f.next {
		f.next[row], total = total, total+count
		csr.Offsets[row+1] = total
	}
	csr.Positions = make([]uint32, total)
	f.positions = csr.Positions
	fill(f)
	return csr
}

// filler counts the entries of each row or, when it has positions, places them.
type filler struct {
	next      []uint32 // by row: entries counted, or where the next one goes
	positions []uint32
}

func (f *filler) add(row, position uint32) {
	if f.positions != nil {
		f.positions[f.next[row]] = position
	}
	f.next[row]++
}

// Mask is one boolean mask of a sample: one position per node of a node type or per edge of an edge
// type.
type Mask struct {
	Name  string // "gene", "reaction", "metabolite" or source__relation__target
	Start int    // its first position in the mask space
	Size  int    // number of positions
	Ends  []End  // of an edge type: with whose nodes an edge goes
}

// Layout is the mask space of a graph: its masks, concatenated in canonical order (node types gene,
// reaction, metabolite, then edge types by name), so that all masks of a sample are one ascending
// list of removed positions.
type Layout struct {
	Masks []Mask
	Size  int // number of positions; ingest refuses graphs with more than 2,147,483,647
}

// NewLayout lays out the masks of the node and edge types that the graph has.
func NewLayout(graph *ingest.Graph) Layout {
	var layout Layout
	for _, nodes := range graph.NodeTables() {
		layout.Add(nodes.Type, nodes.Len())
	}
	for _, edges := range graph.Edges {
		layout.Add(edges.Type.String(), edges.Len(), EndsThatCount(edges.Type)...)
	}
	return layout
}

// Add appends a mask to the mask space. An edge type's has the ends that count.
func (l *Layout) Add(name string, size int, ends ...End) {
	l.Masks = append(l.Masks, Mask{name, l.Size, size, ends})
	l.Size += size
}

// EdgePositions counts the edges of all edge types.
func (l Layout) EdgePositions() int {
	count := 0
	for _, mask := range l.Masks {
		if strings.Contains(mask.Name, "__") {
			count += mask.Size
		}
	}
	return count
}

// Split yields every mask with its part of removed, which is ascending over the mask
// space. The parts are views; subtract Mask.Start to count from the mask's own start.
func (l Layout) Split(removed []uint32) iter.Seq2[Mask, []uint32] {
	return func(yield func(Mask, []uint32) bool) {
		for _, mask := range l.Masks {
			end, _ := slices.BinarySearch(removed, uint32(mask.Start+mask.Size))
			if !yield(mask, removed[:end]) {
				return
			}
			removed = removed[end:]
		}
	}
}

// At returns the mask that holds a position of the mask space, and the position counted from that
// mask's start.
func (l Layout) At(position int) (Mask, int) {
	i, _ := slices.BinarySearchFunc(l.Masks, position, func(m Mask, position int) int {
		if m.Start+m.Size <= position {
			return -1
		}
		return 1
	})
	return l.Masks[i], position - l.Masks[i].Start
}
