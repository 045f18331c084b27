package gpr

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tcbuild/fault"
)

// MaxDepth limits the nesting of parentheses. The most nested rules of published models have a
// handful of levels; the limit keeps hostile input from exhausting the stack.
const MaxDepth = 1000

// Parse reads a rule. `and` binds tighter than `or`; both are words in any case, or the operators &
// && and | ||, which need no blanks around them. Parentheses group. A gene's name is any other run
// of characters without blanks. Text of only blanks is not a rule: Parse returns a nil *Rule and no
// error.
func Parse(text string) (*Rule, error) {
	p := parser{text: text}
	p.advance()
	if p.kind == end {
		return nil, nil
	}
	rule, err := p.or(0)
	if err != nil {
		return nil, err
	}
	if p.kind != end {
		return nil, p.unexpected("`and`, `or` or the end of the rule")
	}
	return rule, nil
}

type kind uint8

const (
	end kind = iota
	name
	and
	or
	open
	closing
)

// parser is a recursive-descent parser with one token of look-ahead:
// text[from:to], of the given kind.
type parser struct {
	text     string
	from, to int
	kind     kind
}

// or parses operands joined by `or`.
func (p *parser) or(depth int) (*Rule, error) {
	return p.joined(Or, or, depth, p.and)
}

// and parses operands joined by `and`.
func (p *parser) and(depth int) (*Rule, error) {
	return p.joined(And, and, depth, p.operand)
}

// joined parses operands joined by one operator. It merges operands of the same operator, so that
// equal rules have equal trees.
func (p *parser) joined(op Op, sign kind, depth int, operand func(depth int) (*Rule, error)) (*Rule, error) {
	first, err := operand(depth)
	if err != nil || p.kind != sign {
		return first, err
	}
	rule := &Rule{Op: op}
	rule.add(first)
	for p.kind == sign {
		p.advance()
		next, err := operand(depth)
		if err != nil {
			return nil, err
		}
		rule.add(next)
	}
	return rule, nil
}

func (r *Rule) add(operand *Rule) {
	if operand.Op == r.Op {
		r.Operands = append(r.Operands, operand.Operands...)
		return
	}
	r.Operands = append(r.Operands, operand)
}

// operand parses a gene or a rule in parentheses.
func (p *parser) operand(depth int) (*Rule, error) {
	switch p.kind {
	case name:
		rule := &Rule{Op: Gene, Name: p.text[p.from:p.to]}
		p.advance()
		return rule, nil
	case open:
		if depth == MaxDepth {
			return nil, fault.New(fault.Input, "remove superfluous parentheses",
				"parse gpr rule: byte %d: found parentheses nested deeper than %d levels", p.from, MaxDepth)
		}
		opened := p.from
		p.advance()
		rule, err := p.or(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.kind != closing {
			return nil, fault.New(fault.Input, "close the parenthesis or join the genes with `and` or `or`",
				"parse gpr rule: byte %d: found %s, expected `and`, `or` or the `)` that closes the `(` at byte %d",
				p.from, p.found(), opened)
		}
		p.advance()
		return rule, nil
	}
	return nil, p.unexpected("a gene or `(`")
}

func (p *parser) unexpected(expected string) error {
	return fault.New(fault.Input, "write rules like \"(YAL038W or YOR347C) and YGL062W\"",
		"parse gpr rule: byte %d: found %s, expected %s", p.from, p.found(), expected)
}

// found describes the current token for an error message.
func (p *parser) found() string {
	if p.kind == end {
		return "the end of the rule"
	}
	const longest = 40
	token := p.text[p.from:p.to]
	if len(token) > longest {
		token = token[:longest] + "…"
	}
	return "`" + token + "`"
}

// advance moves to the next token.
func (p *parser) advance() {
	rest := strings.TrimLeftFunc(p.text[p.to:], unicode.IsSpace)
	p.from = len(p.text) - len(rest)
	p.to = p.from
	if rest == "" {
		p.kind = end
		return
	}
	p.to++
	switch rest[0] {
	case '(':
		p.kind = open
	case ')':
		p.kind = closing
	case '&', '|':
		p.kind = and
		if rest[0] == '|' {
			p.kind = or
		}
		if len(rest) > 1 && rest[1] == rest[0] {
			p.to++
		}
	default:
		p.to = p.from + wordLength(rest)
		p.kind = wordKind(p.text[p.from:p.to])
	}
}

// wordLength is the number of bytes before the first blank, parenthesis or operator.
func wordLength(text string) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) || strings.ContainsRune("()&|", r) {
			return i
		}
		i += size
	}
	return len(text)
}

func wordKind(word string) kind {
	switch {
	case strings.EqualFold(word, "and"):
		return and
	case strings.EqualFold(word, "or"):
		return or
	}
	return name
}
