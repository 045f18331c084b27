package source

import (
	"fmt"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/gpr"
)

// ReactionNodes says how a reaction of a metabolic model becomes nodes.
type ReactionNodes string

const (
	WholeReactions ReactionNodes = "whole" // one node each, with its rule
	// as in torchcell: one node per alternative set of genes and direction
	Combinations ReactionNodes = "combinations"
)

// maxAlternatives limits the nodes of a rule; rules of published models have at most some dozens.
const maxAlternatives = 10_000

// combinations returns the model with one reaction per alternative set of genes and direction,
// named as in torchcell: <reaction>_comb<k>_fwd and _rev, k from 0 in the order of
// gpr.Rule.Alternatives, and <reaction>_noGene_fwd and _rev without a rule. Only reversible
// reactions have _rev, with the signs of the stoichiometry reversed.
//
// A node needs all genes of its set, so removing a node with any of its genes is exact: a
// reaction's gpr rule is true if and only if one of its nodes is left.
func (m *gem) combinations(path string) (*gem, error) {
	expanded := &gem{metabolites: m.metabolites, merged: m.merged}
	for _, reaction := range m.reactions {
		sets, err := reaction.rule.Alternatives(maxAlternatives)
		if err != nil {
			return nil, fault.New(fault.Input, fault.HintOf(err), "read model %s: reaction %s: %w",
				gemReader{path}.where(reaction.line), reaction.id, err)
		}
		if sets == nil {
			expanded.addDirections(reaction, "noGene", nil)
		}
		for k, genes := range sets {
			expanded.addDirections(reaction, fmt.Sprintf("comb%d", k), genes)
		}
	}
	return expanded, nil
}

// addDirections adds the nodes of one set of genes of a reaction.
func (m *gem) addDirections(reaction gemReaction, suffix string, genes []string) {
	forward := reaction
	forward.origin = reaction.id
	forward.id = reaction.id + "_" + suffix + "_fwd"
	forward.ruleText = strings.Join(genes, " and ")
	forward.rule = allOf(genes)
	if reaction.reversible {
		forward.lower = 0
	}
	m.reactions = append(m.reactions, forward)
	if !reaction.reversible {
		return
	}
	backward := forward
	backward.id = reaction.id + "_" + suffix + "_rev"
	backward.upper = -reaction.lower
	backward.stoichiometry = make([]gemCoefficient, len(reaction.stoichiometry))
	for i, c := range reaction.stoichiometry {
		backward.stoichiometry[i] = gemCoefficient{c.metabolite, -c.value}
	}
	m.reactions = append(m.reactions, backward)
}

func allOf(genes []string) *gpr.Rule {
	rules := make([]*gpr.Rule, len(genes))
	for i, gene := range genes {
		rules[i] = &gpr.Rule{Op: gpr.Gene, Name: gene}
	}
	switch len(rules) {
	case 0:
		return nil
	case 1:
		return rules[0]
	}
	return &gpr.Rule{Op: gpr.And, Operands: rules}
}
