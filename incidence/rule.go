package incidence

import (
	"fmt"
	"slices"

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

// Rules say when a genotype removes the reactions of a graph. They are immutable.
type Rules struct {
	rules []boolRule // by reaction; nil under RuleAll
	// gene -> reactions that its deletion can remove, in any order: under RuleAll those that a gpr
	// edge leads to, under RuleGPR those whose rule names the gene
	byGene CSR

	// UnknownGenes are the genes that rules name and the graph does not have: nothing deletes them.
	// They are sorted; NamingUnknown is how many reactions name one.
	UnknownGenes  []string
	NamingUnknown int
}

// ReadRules reads the rules of a graph's reactions: under RuleGPR its column gpr, under RuleAll its
// gpr edges. An error names the reaction, and its row in the table.
func ReadRules(graph *ingest.Graph, rule ReactionRule) (*Rules, error) {
	r := &Rules{}
	genes := graph.Genes.Len()
	if rule != RuleGPR {
		r.byGene = newCSR(genes, func(f *filler) {
			if edges := graph.EdgesOf(ingest.GPR); edges != nil {
				for i, gene := range edges.Src {
					f.add(gene, edges.Dst[i])
				}
			}
		})
		return r, nil
	}
	r.rules = make([]boolRule, graph.Reactions.Len())
	var mentions [][2]uint32 // gene, reaction
	for reaction, text := range graph.Reactions.Column("gpr") {
		rule, err := gpr.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("row %d: gpr rule of reaction %q: %w", reaction,
				graph.Reactions.IDs[reaction], err)
		}
		if rule == nil {
			r.rules[reaction] = boolRule{op: gpr.And} // no operand: never removed
			continue
		}
		r.rules[reaction] = compileRule(rule, graph.Genes)
		known := len(r.UnknownGenes)
		for _, name := range rule.Genes() {
			if gene, ok := graph.Genes.Index(name); ok {
				mentions = append(mentions, [2]uint32{gene, uint32(reaction)})
			} else {
				r.UnknownGenes = append(r.UnknownGenes, name)
			}
		}
		if len(r.UnknownGenes) > known {
			r.NamingUnknown++
		}
	}
	slices.Sort(r.UnknownGenes)
	r.UnknownGenes = slices.Compact(r.UnknownGenes)
	r.byGene = newCSR(genes, func(f *filler) {
		for _, mention := range mentions {
			f.add(mention[0], mention[1])
		}
	})
	return r, nil
}
