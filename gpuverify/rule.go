package gpuverify

import (
	"regexp"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// postfix is a reaction's boolean rule in postfix order, as A B or C and for (A or B) and C: what
// is 0 or more is a gene by its index, what is negative is an operation on the two values before
// it.
type postfix []int

const (
	absent = -1 - iota // a gene that the graph does not have, which nothing deletes
	or
	and
	open // only while a rule is read
)

// tokens are parentheses, operators as signs, and words; blanks are those of Unicode.
var tokens = regexp.MustCompile(`[()]|&&?|\|\|?|[^()&|\s\v\x{85}\p{Z}]+`)

// operators are those that are written as words, in lower case, and as signs.
var operators = map[string]int{"and": and, "&": and, "&&": and, "or": or, "|": or, "||": or, "(": open}

// parseRule reads a gpr rule by operator precedence: `and` binds tighter than `or`, a name is any
// other word. A text without a word is no rule, an empty postfix.
func parseRule(text string, genes *ingest.Nodes) (postfix, error) {
	// waiting are operators whose second operand is not complete, and open parentheses
	var rule, waiting postfix
	malformed := func() (postfix, error) {
		return nil, fault.New(fault.Input, "", "found %.100q, expected genes joined by `and` and `or`, in parentheses that close", text)
	}
	// release moves to the rule what binds at least as tight as an operator.
	release := func(operator int) {
		for len(waiting) > 0 && waiting[len(waiting)-1] <= operator && waiting[len(waiting)-1] != open {
			rule = append(rule, waiting[len(waiting)-1])
			waiting = waiting[:len(waiting)-1]
		}
	}
	complete := false // an operand stands before this token
	for _, token := range tokens.FindAllString(text, -1) {
		operator, isOperator := operators[strings.ToLower(token)]
		if complete == (operator == open || !isOperator && token != ")") {
			return malformed()
		}
		switch {
		case token == ")":
			if release(or); len(waiting) == 0 {
				return malformed()
			}
			waiting = waiting[:len(waiting)-1] // its open
		case isOperator:
			release(operator)
			waiting = append(waiting, operator)
			complete = false
		default:
			gene, known := genes.Index(token)
			rule = append(rule, absent)
			if known {
				rule[len(rule)-1] = int(gene)
			}
			complete = true
		}
	}
	if release(or); len(waiting) > 0 || !complete && len(rule) > 0 {
		return malformed()
	}
	return rule, nil
}

// removed returns the word of a rule: bit k is set when the rule is false in sample k. Bit k of
// genes[g] is set when sample k removes gene g. stack is scratch memory.
func (rule postfix) removed(genes []uint64, stack *[]uint64) uint64 {
	values := append((*stack)[:0], 0) // of no rule
	for _, term := range rule {
		last := len(values) - 1
		switch term {
		case absent:
			values = append(values, 0)
		case or: // false where both are
			values[last-1] &= values[last]
			values = values[:last]
		case and: // false where either is
			values[last-1] |= values[last]
			values = values[:last]
		default:
			values = append(values, genes[term])
		}
	}
	*stack = values
	return values[len(values)-1]
}
