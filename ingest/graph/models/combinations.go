package models

import (
	"fmt"
	"strings"
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
func (m *Model) combinations() (*Model, error) {
	expanded := &Model{modelFile: m.modelFile, metabolites: m.metabolites, merged: m.merged}
	for _, reaction := range m.reactions {
		sets, err := reaction.rule.Alternatives(maxAlternatives)
		if err != nil {
			return nil, m.wrong(reaction.line, "reaction %s: %w", reaction.id, err)
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
func (m *Model) addDirections(reaction Reaction, suffix string, genes []string) {
	forward := reaction
	forward.origin = reaction.id
	forward.id = reaction.id + "_" + suffix + "_fwd"
	forward.ruleText = strings.Join(genes, " and ")
	forward.genes = genes
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
	backward.stoichiometry = make([]Coefficient, len(reaction.stoichiometry))
	for i, c := range reaction.stoichiometry {
		backward.stoichiometry[i] = Coefficient{c.metabolite, -c.value}
	}
	m.reactions = append(m.reactions, backward)
}
