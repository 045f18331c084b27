package regenerate

import (
	"regexp"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// postfix is a reaction's boolean rule in postfix order, such as A B or C and for (A or B) and C.
// Numbers from 0 are genes by index; negative numbers are operations on the two values before them.
type postfix []int

const (
	absent = -1 - iota // a gene that is not in the graph, so it is never deleted
	or
	and
	open // only while parsing
)

// tokens are parentheses, operator signs and words; spaces are Unicode's.
var tokens = regexp.MustCompile(`[()]|&&?|\|\|?|[^()&|\s\v\x{85}\p{Z}]+`)

// operators are the operators, as lower-case words and as signs.
var operators = map[string]int{
	"and": and, "&": and, "&&": and, "or": or, "|": or, "||": or, "(": open,
}

// parseRule reads a gpr rule by operator precedence: `and` binds tighter than `or`, and any other
// word is a name. A text without words is an empty postfix: no rule.
func parseRule(text string, genes *ingest.Nodes) (postfix, error) {
	// waiting are operators whose second operand is not complete, and open parentheses
	var rule, waiting postfix
	malformed := func() (postfix, error) {
		return nil, fault.New(fault.Input, "", "found %.100q, expected genes joined by `and` and "+
			"`or`, with balanced parentheses", text)
	}
	// release moves waiting operators that bind at least as tightly as operator to the rule.
	release := func(operator int) {
		for last := len(waiting) - 1; last >= 0; last-- {
			if waiting[last] > operator || waiting[last] == open {
				break
			}
			rule, waiting = append(rule, waiting[last]), waiting[:last]
		}
	}
	complete := false // an operand precedes this token
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

// removed returns the word of a rule, in which a sample's bit is set when the rule is false. It is
// set in a gene's word when the sample removes it. stack is scratch memory.
func (rule postfix) removed(genes []word, stack *[]word) word {
	values := append((*stack)[:0], word{}) // the value of an empty rule
	for _, term := range rule {
		last := len(values) - 1
		switch term {
		case absent:
			values = append(values, word{})
		case or: // false if both are
			for i, bits := range values[last] {
				values[last-1][i] &= bits
			}
			values = values[:last]
		case and: // false if either is
			for i, bits := range values[last] {
				values[last-1][i] |= bits
			}
			values = values[:last]
		default:
			values = append(values, genes[term])
		}
	}
	*stack = values
	return values[len(values)-1]
}
