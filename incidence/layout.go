// Package incidence finds the edges and nodes that a genotype removes from a cell graph.
package incidence

import (
	"iter"
	"slices"
	"strings"

	"tcbuild/ingest"
)

// Mask is one boolean mask of a sample: one position per node of a node type or per edge of an edge
// type.
type Mask struct {
	Name  string // "gene", "reaction", "metabolite" or source__relation__target
	Start int    // its first position in the mask space
	Size  int    // number of positions
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
		layout.Add(edges.Type.String(), edges.Len())
	}
	return layout
}

// Add appends a mask to the mask space.
func (l *Layout) Add(name string, size int) {
	l.Masks = append(l.Masks, Mask{name, l.Size, size})
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
