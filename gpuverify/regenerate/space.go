package regenerate

import (
	"slices"
	"strings"

	"tcbuild/ingest"
)

// Mask is the place of one mask in the mask space.
type Mask struct {
	Name        string
	Start, Size int
}

// space is the mask space of a graph in the order of store/FORMAT.md: the graph's node types (gene,
// reaction, metabolite, then others by name), then its edge types by name, bytewise. It depends
// only on the graph's tables.
type space struct {
	Masks []Mask
	Size  int            // positions in all
	Start map[string]int // of each mask
	edges []*ingest.Edges
}

func newSpace(graph *ingest.Graph) space {
	s := space{Start: make(map[string]int)}
	others := slices.Clone(graph.Others)
	slices.SortFunc(others, func(a, b *ingest.Nodes) int { return strings.Compare(a.Type, b.Type) })
	for _, nodes := range append([]*ingest.Nodes{graph.Genes, graph.Reactions, graph.Metabolites}, others...) {
		if nodes != nil {
			s.add(nodes.Type, len(nodes.IDs))
		}
	}
	s.edges = slices.Clone(graph.Edges)
	slices.SortFunc(s.edges, func(a, b *ingest.Edges) int { return strings.Compare(a.Type.String(), b.Type.String()) })
	for _, edges := range s.edges {
		s.add(edges.Type.String(), len(edges.Src))
	}
	return s
}

func (s *space) add(name string, size int) {
	s.Masks = append(s.Masks, Mask{name, s.Size, size})
	s.Start[name] = s.Size
	s.Size += size
}

// At returns the number of the mask that holds a position of the mask space, and the position
// within that mask.
func (s *space) At(position int) (number, within int) {
	for position >= s.Masks[number].Start+s.Masks[number].Size {
		number++
	}
	return number, position - s.Masks[number].Start
}
