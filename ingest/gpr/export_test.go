package gpr

import "strings"

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
