package incidence

import (
	"fmt"

	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
)

// ReactionRule says when a reaction is removed.
type ReactionRule string

const (
	// RuleAll removes a reaction if any of its genes is deleted, as torchcell does.
	RuleAll ReactionRule = "all"
	// RuleGPR removes a reaction if its boolean gpr rule is false with the deleted genes set to
	// false. A reaction without a rule stays.
	RuleGPR ReactionRule = "gpr"
)

// boolRule is a gpr.Rule with genes as indices.
type boolRule struct {
	op       gpr.Op
	gene     uint32 // of a gpr.Gene
	unknown  bool   // the gpr.Gene is not in the graph, so nothing deletes it
	operands []boolRule
}

func compileRule(rule *gpr.Rule, genes *ingest.Nodes) boolRule {
	compiled := boolRule{op: rule.Op}
	if rule.Op == gpr.Gene {
		gene, ok := genes.Index(rule.Name)
		compiled.gene, compiled.unknown = gene, !ok
	}
	for _, operand := range rule.Operands {
		compiled.operands = append(compiled.operands, compileRule(operand, genes))
	}
	return compiled
}

func (r *boolRule) alive(deleted []bool) bool {
	switch r.op {
	case gpr.Gene:
		return r.unknown || !deleted[r.gene]
	case gpr.And:
		for i := range r.operands {
			if !r.operands[i].alive(deleted) {
				return false
			}
		}
		return true
	default:
		for i := range r.operands {
			if r.operands[i].alive(deleted) {
				return true
			}
		}
		return false
	}
}

// reactionRules are the compiled rules of a graph's reactions.
type reactionRules struct {
	rules  []boolRule
	byGene CSR // gene -> reactions whose rule names it, ascending
}

// compileRules reads the gpr column of the graph's reactions. An error names the reaction.
func compileRules(graph *ingest.Graph) (*reactionRules, error) {
	texts := graph.Reactions.Column("gpr")
	compiled := &reactionRules{rules: make([]boolRule, graph.Reactions.Len())}
	var mentions ingest.Edges // gene -> reaction
	var reactions []uint32
	for reaction, text := range texts {
		rule, err := gpr.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("gpr rule of reaction %s: %w", graph.Reactions.IDs[reaction], err)
		}
		if rule == nil {
			compiled.rules[reaction] = boolRule{op: gpr.And} // no operand: never removed
			continue
		}
		compiled.rules[reaction] = compileRule(rule, graph.Genes)
		for _, name := range rule.Genes() {
			if gene, ok := graph.Genes.Index(name); ok {
				mentions.Src = append(mentions.Src, gene)
				reactions = append(reactions, uint32(reaction))
			}
		}
	}
	compiled.byGene = bySource(&mentions, graph.Genes.Len())
	for i, mention := range compiled.byGene.Positions {
		compiled.byGene.Positions[i] = reactions[mention]
	}
	return compiled, nil
}
