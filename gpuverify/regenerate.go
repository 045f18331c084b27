// Package gpuverify regenerates the masks of a dataset by two roads of its own,
// and compares them with the stored ones.
//
// By incidence: a byte mask of ones, into which zeros are scattered at the incidence lists of the
// deleted genes. By edges: every edge looks up whether either of its endpoints is deleted; no
// incidence is involved. Neither shares code with the builder of masks.
package gpuverify

import (
	"fmt"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
)

// Method is a way to regenerate masks.
type Method string

const (
	ByIncidence Method = "incidence"
	ByEdges     Method = "edges"
	Both        Method = "both"
)

// graphRules is what both methods need of a graph.
type graphRules struct {
	graph  *ingest.Graph
	layout incidence.Layout
	starts map[string]int // mask name -> first position
	gpr    *ingest.Edges  // nil when the graph has none
	rules  []term         // by reaction; nil under the rule "all"
}

// term is a node of a reaction's gpr rule.
type term struct {
	op    gpr.Op
	gene  int // of a gpr.Gene: its index, -1 when the graph does not have it
	terms []term
}

func newGraphRules(graph *ingest.Graph, rule incidence.ReactionRule) (*graphRules, error) {
	g := &graphRules{graph: graph, layout: incidence.NewLayout(graph), starts: make(map[string]int), gpr: graph.EdgesOf(ingest.GPR)}
	for _, mask := range g.layout.Masks {
		g.starts[mask.Name] = mask.Start
	}
	if rule != incidence.RuleGPR || graph.Reactions == nil {
		return g, nil
	}
	g.rules = make([]term, graph.Reactions.Len())
	for reaction := range g.rules {
		g.rules[reaction].op = gpr.And // of no terms: without a rule it stays
	}
	for reaction, text := range graph.Reactions.Column("gpr") {
		parsed, err := gpr.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("gpr rule of reaction %s: %w", graph.Reactions.IDs[reaction], err)
		}
		if parsed != nil {
			g.rules[reaction] = newTerm(parsed, graph.Genes)
		}
	}
	return g, nil
}

func newTerm(rule *gpr.Rule, genes *ingest.Nodes) term {
	t := term{op: rule.Op, gene: -1}
	if gene, ok := genes.Index(rule.Name); ok && rule.Op == gpr.Gene {
		t.gene = int(gene)
	}
	for _, operand := range rule.Operands {
		t.terms = append(t.terms, newTerm(operand, genes))
	}
	return t
}

// removed returns the word of a rule: bit k is set when the rule is false in sample k. Bit k
// of genes[g] is set when sample k removes gene g.
func (t *term) removed(genes []uint64) uint64 {
	var word uint64
	switch t.op {
	case gpr.Gene:
		if t.gene >= 0 {
			word = genes[t.gene]
		}
	case gpr.And: // false where any term is false
		for i := range t.terms {
			word |= t.terms[i].removed(genes)
		}
	case gpr.Or: // false where all terms are false
		word = ^uint64(0)
		for i := range t.terms {
			word &= t.terms[i].removed(genes)
		}
	}
	return word
}
