package gpr

import (
	"slices"
	"strings"

	"tcbuild/fault"
)

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
