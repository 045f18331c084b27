// Package gpr reads boolean gene-protein-reaction rules, such as "(YAL038W or YOR347C) and
// YGL062W", which say which genes a reaction needs.
package gpr

import (
	"slices"
	"strings"

	"tcbuild/fault"
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

// String returns the rule in canonical form: lower-case operators, single spaces, and parentheses
// around every And and Or inside another. Parsing it gives an equal rule. No rule gives "".
func (r *Rule) String() string {
	if r == nil {
		return ""
	}
	var text strings.Builder
	r.write(&text)
	return text.String()
}

func (r *Rule) write(text *strings.Builder) {
	if r.Op == Gene {
		text.WriteString(r.Name)
		return
	}
	word := " and "
	if r.Op == Or {
		word = " or "
	}
	for i, operand := range r.Operands {
		if i > 0 {
			text.WriteString(word)
		}
		if operand.Op == Gene {
			text.WriteString(operand.Name)
			continue
		}
		text.WriteByte('(')
		operand.write(text)
		text.WriteByte(')')
	}
}

// Alternatives returns the sets of genes that each suffice to make the rule true: its disjunctive
// normal form. The sets are in the order of the rule, the leftmost operand varying slowest; a set's
// genes are in the order of their first mention. Duplicate sets are dropped, supersets of another
// are kept. No rule has no alternatives. A rule is true if and only if all genes of at least one
// alternative are present.
//
// Rules such as (A or B) and (C or D) and … have exponentially many. More than limit, even before
// duplicates are dropped, is a fault.Input.
func (r *Rule) Alternatives(limit int) ([][]string, error) {
	if r == nil {
		return nil, nil
	}
	all, ok := r.expand(limit)
	if !ok {
		return nil, fault.New(fault.Input, "do not split such reactions, or rewrite the rule",
			"expand gpr rule: found more than %d alternative sets of genes", limit)
	}
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(genes []string) bool {
		sorted := slices.Sorted(slices.Values(genes))
		key := strings.Join(sorted, " ") // a gene's name has no spaces
		again := seen[key]
		seen[key] = true
		return again
	}), nil
}

// expand is Alternatives with duplicates; ok is false above the limit.
func (r *Rule) expand(limit int) (all [][]string, ok bool) {
	if r.Op == Gene {
		return [][]string{{r.Name}}, true
	}
	if r.Op == And {
		all = [][]string{nil}
	}
	for _, operand := range r.Operands {
		sets, ok := operand.expand(limit)
		if !ok {
			return nil, false
		}
		if r.Op == Or {
			all = append(all, sets...)
		} else if len(all)*len(sets) <= limit {
			all = product(all, sets)
		} else {
			return nil, false
		}
		if len(all) > limit {
			return nil, false
		}
	}
	return all, true
}

// product returns the union of each set in left with each in right.
func product(left, right [][]string) [][]string {
	all := make([][]string, 0, len(left)*len(right))
	for _, l := range left {
		for _, r := range right {
			set := slices.Clone(l)
			for _, gene := range r {
				if !slices.Contains(l, gene) {
					set = append(set, gene)
				}
			}
			all = append(all, set)
		}
	}
	return all
}

// Rename returns the rule with its genes renamed.
func (r *Rule) Rename(rename func(gene string) string) *Rule {
	if r == nil {
		return nil
	}
	renamed := &Rule{Op: r.Op}
	if r.Op == Gene {
		renamed.Name = rename(r.Name)
	}
	for _, operand := range r.Operands {
		renamed.Operands = append(renamed.Operands, operand.Rename(rename))
	}
	return renamed
}
