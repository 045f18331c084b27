// Package regenerate derives the masks of genotypes again, independently of their builder, in two
// ways.
//
// By incidence (Scatterer): a bit mask, into which the edges of the deleted genes are scattered. By
// edges (Looker): every edge looks up whether either of its endpoints is deleted; no incidence is
// involved. Both work on the host. On a CUDA device (tag cuda), package kernels does both with
// Tables.
//
// It shares with the builder of masks only the code that reads the graph's tables (ingest). The
// incidence, the order of the masks (space), and the parser and evaluator of reaction rules
// (rule.go) are its own, and work differently from the builder's. It imports neither
// tcbuild/incidence nor ingest/gpr.
package regenerate

import (
	"fmt"
	"slices"
	"strings"

	"tcbuild/ingest"
)

// Rules is the part of a graph that both methods need.
//
// Its nodes are those that can be removed: the genes, then the reactions, with the numbers that are
// their positions in the mask space.
type Rules struct {
	Graph *ingest.Graph
	space
	gpr     *ingest.Edges // nil if the graph has none
	rules   []postfix     // by reaction; nil under the rule "all"
	degrees []uint32      // by node: how many ends of edges it is, a self loop's two
	runs    [][]uint32    // by edge type: where each run of edges with the same source ends
}

// NewRules reads a graph's reaction rules. If byRule is false, the reaction rule is "all" and
// none are read.
func NewRules(graph *ingest.Graph, byRule bool) (*Rules, error) {
	g := &Rules{Graph: graph, space: newSpace(graph)}
	for _, edges := range graph.Edges {
		if edges.Type == ingest.GPR {
			g.gpr = edges
		}
	}
	g.measure()
	if !byRule || graph.Reactions == nil {
		return g, nil
	}
	g.rules = make([]postfix, graph.Reactions.Len()) // a reaction without a rule stays
	for reaction, text := range graph.Reactions.Column("gpr") {
		rule, err := parseRule(text, graph.Genes)
		if err != nil {
			return nil, fmt.Errorf("gpr rule of reaction %s: %w", graph.Reactions.IDs[reaction],
				err)
		}
		g.rules[reaction] = rule
	}
	return g, nil
}

// measure finds degrees and runs.
func (g *Rules) measure() {
	g.degrees = make([]uint32, g.nodes())
	for _, edges := range g.edges {
		source, target := g.ends(edges.Type)
		g.countEnds(edges.Src, source)
		g.countEnds(edges.Dst, target)
		var runs []uint32
		for first, next := 0, 0; first < len(edges.Src); first = next {
			for next < len(edges.Src) && edges.Src[next] == edges.Src[first] {
				next++
			}
			runs = append(runs, uint32(next))
		}
		g.runs = append(g.runs, runs)
	}
}

// countEnds adds nodes of a type, whose first one is given, to the degrees.
func (g *Rules) countEnds(nodes []uint32, first int) {
	if first != none {
		for _, node := range nodes {
			g.degrees[first+int(node)]++
		}
	}
}

// none is where no end of an edge type counts: nothing removes its nodes.
const none = -1

// ends returns the first node of the type of an edge type's sources, and of its targets, or none.
func (g *Rules) ends(t ingest.EdgeType) (source, target int) {
	first := func(nodeType string) int {
		switch nodeType {
		case ingest.Gene:
			return 0
		case ingest.Reaction:
			return g.Graph.Genes.Len()
		}
		return none
	}
	sources, targets := t.Ends()
	source, target = first(sources), first(targets)
	if !slices.Contains(endsThatCount(t), "target") {
		target = none
	}
	return source, target
}

// endsThatCount lists the ends of an edge type with whose nodes an edge goes. A gene-reaction edge
// of gpr stays when its reaction goes.
func endsThatCount(t ingest.EdgeType) []string {
	if t == ingest.GPR {
		return []string{"source"}
	}
	return []string{"source", "target"}
}

// nodes is the number of genes and reactions.
func (g *Rules) nodes() int { return g.Graph.Genes.Len() + g.Graph.Reactions.Len() }

// reactionsOfGenes lists, for each gene, the reactions that its deletion can remove: those whose
// rule names it or, under the rule "all", its gpr edges do. A reaction can be listed twice.
func (g *Rules) reactionsOfGenes() [][]uint32 {
	lists := make([][]uint32, g.Graph.Genes.Len())
	if g.rules == nil && g.gpr != nil {
		for position, gene := range g.gpr.Src {
			lists[gene] = append(lists[gene], g.gpr.Dst[position])
		}
	}
	for reaction, rule := range g.rules {
		for _, term := range rule {
			if term >= 0 {
				lists[term] = append(lists[term], uint32(reaction))
			}
		}
	}
	return lists
}

// Mask is the place of one mask in the mask space.
type Mask struct {
	Name        string
	Start, Size int
	Ends        []string // of an edge type: with whose nodes an edge goes
}

// space is the mask space of a graph in the order of docs/FORMAT.md: the graph's node types (gene,
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
	first := []*ingest.Nodes{graph.Genes, graph.Reactions, graph.Metabolites}
	for _, nodes := range append(first, others...) {
		if nodes != nil {
			s.add(nodes.Type, len(nodes.IDs), nil)
		}
	}
	s.edges = slices.Clone(graph.Edges)
	slices.SortFunc(s.edges,
		func(a, b *ingest.Edges) int { return strings.Compare(a.Type.String(), b.Type.String()) })
	for _, edges := range s.edges {
		s.add(edges.Type.String(), len(edges.Src), endsThatCount(edges.Type))
	}
	return s
}

func (s *space) add(name string, size int, ends []string) {
	s.Masks = append(s.Masks, Mask{name, s.Size, size, ends})
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
