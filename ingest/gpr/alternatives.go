package gpr

import (
	"slices"
	"strings"

	"tcbuild/fault"
)

// Alternatives returns the sets of genes that each keep the rule true: its disjunctive normal form.
// They stand in the order in which the rule reads, what is on the left changing slowest; a set's
// genes stand in the order of their first mention in it. A set that comes again is left out, one
// that holds another stays. No rule has no alternatives. A rule is true exactly while all genes of
// one of them are there.
//
// Rules such as (A or B) and (C or D) and … have exponentially many: more than
// limit on the way are a fault.Input.
func (r *Rule) Alternatives(limit int) ([][]string, error) {
	if r == nil {
		return nil, nil
	}
	all, ok := r.expand(limit)
	if !ok {
		return nil, fault.New(fault.Input, "keep such reactions whole, or rewrite the rule", "expand gpr rule: it has more than %d alternative sets of genes", limit)
	}
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(genes []string) bool {
		sorted := slices.Sorted(slices.Values(genes))
		key := strings.Join(sorted, " ") // no gene's name holds a blank
		again := seen[key]
		seen[key] = true
		return again
	}), nil
}

// expand is Alternatives with the sets that come again; ok is false above the limit.
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

// product returns the union of each set of left with each of right.
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

// Rename returns the rule with its genes' names replaced.
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
