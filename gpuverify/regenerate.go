// Package gpuverify regenerates the masks of a dataset independently, in two ways, and compares
// them with the stored ones.
//
// By incidence: a byte mask of ones, into which zeros are scattered at the edges of the deleted
// genes. By edges: every edge looks up whether either of its endpoints is deleted; no incidence is
// involved.
//
// It shares with the builder of masks only the code that reads the graph's tables (ingest) and the
// dataset's records (store, encode). The incidence (incidence.go), the order of the masks
// (space.go), and the parser and evaluator of reaction rules (rule.go) are its own, and work
// differently from the builder's. It imports neither tcbuild/incidence nor ingest/gpr.
package gpuverify

import (
	"fmt"

	"tcbuild/ingest"
)

// Method is a way to regenerate masks.
type Method string

const (
	ByIncidence Method = "incidence"
	ByEdges     Method = "edges"
	Both        Method = "both"
)

// graphRules is the part of a graph that both methods need.
type graphRules struct {
	graph *ingest.Graph
	space
	gpr   *ingest.Edges // nil if the graph has none
	rules []postfix     // by reaction; nil under the rule "all"
}

// newGraphRules reads a graph's reaction rules. If byRule is false, the reaction rule is "all" and
// none are read.
func newGraphRules(graph *ingest.Graph, byRule bool) (*graphRules, error) {
	g := &graphRules{graph: graph, space: newSpace(graph)}
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
