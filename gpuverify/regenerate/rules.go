// Package regenerate derives the masks of genotypes again, independently of their builder, in two
// ways.
//
// By incidence (Scatterer): a byte mask of ones, into which zeros are scattered at the edges of the
// deleted genes. By edges (Looker): every edge looks up whether either of its endpoints is deleted;
// no incidence is involved. Both work on the host; Generators are their kernels on a CUDA device
// (tag cuda).
//
// It shares with the builder of masks only the code that reads the graph's tables (ingest). The
// incidence, the order of the masks (space.go), and the parser and evaluator of reaction rules
// (rule.go) are its own, and work differently from the builder's. It imports neither
// tcbuild/incidence nor ingest/gpr.
package regenerate

import (
	"fmt"

	"tcbuild/ingest"
)

// Rules is the part of a graph that both methods need.
type Rules struct {
	Graph *ingest.Graph
	space
	gpr   *ingest.Edges // nil if the graph has none
	rules []postfix     // by reaction; nil under the rule "all"
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
	if !byRule || graph.Reactions == nil {
		return g, nil
	}
	g.rules = make([]postfix, graph.Reactions.Len()) // a reaction without a rule stays
	for reaction, text := range graph.Reactions.Column("gpr") {
		rule, err := parseRule(text, graph.Genes)
		if err != nil {
			return nil, fmt.Errorf("gpr rule of reaction %s: %w", graph.Reactions.IDs[reaction], err)
		}
		g.rules[reaction] = rule
	}
	return g, nil
}
