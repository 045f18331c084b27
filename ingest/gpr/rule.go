// Package gpr reads boolean gene-protein-reaction rules, such as "(YAL038W or YOR347C) and
// YGL062W", which say which genes a reaction needs.
package gpr

import (
	"slices"
)

// Op is the kind of a Rule's node.
type Op uint8

const (
	Gene Op = iota // true if its gene is present
	And            // true if all operands are: the subunits of a complex
	Or             // true if any operand is: isozymes
)

// Rule is a node of a rule's tree. A Gene has a Name and no Operands; And and
// Or have two or more Operands, and no operand has the same Op. Trees are at
// most MaxDepth levels deep. Rules are immutable and safe for concurrent use.
//
// A nil *Rule is "no rule": it needs no gene.
type Rule struct {
	Op       Op
	Name     string
	Operands []*Rule
}

// Genes returns the names of the genes in the rule, each once, in the order of their first mention.
func (r *Rule) Genes() []string {
	var genes []string
	seen := make(map[string]bool)
	r.walk(func(gene string) {
		if !seen[gene] {
			seen[gene] = true
			genes = append(genes, gene)
		}
	})
	return genes
}

func (r *Rule) walk(visit func(gene string)) {
	if r == nil {
		return
	}
	if r.Op == Gene {
		visit(r.Name)
	}
	for _, operand := range r.Operands {
		operand.walk(visit)
	}
}

// HasIsozymes reports whether the rule has an Or: whether enzymes can replace each other.
func (r *Rule) HasIsozymes() bool {
	return r != nil && (r.Op == Or || slices.ContainsFunc(r.Operands, (*Rule).HasIsozymes))
}
