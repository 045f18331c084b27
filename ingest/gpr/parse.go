package gpr

import (
	"strings"
	"unicode"

	"tcbuild/fault"
)

// MaxDepth limits the nesting of parentheses. The most nested rules of published models have a
// handful of levels; the limit keeps hostile input from exhausting the stack.
const MaxDepth = 1000

// Parse reads a rule. `and` binds tighter than `or`; both are words in any case, or the operators &
// && and | ||, which need no spaces around them. Parentheses group. A gene's name is any other run
// of characters without spaces. Text of only spaces is not a rule: Parse returns a nil *Rule and no
// error.
func Parse(text string) (*Rule, error) {
	p := parser{text: text}
	if p.advance(); p.kind == end {
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

const (
	end  = ""
	name = "name"
	and  = "and"
	or   = "or"
)

// parser is a recursive-descent parser with one token of look-ahead: text[from:to], of a kind that
// is one of the above or, of a parenthesis, the token itself.
type parser struct {
	text     string
	from, to int
	kind     string
}

// advance moves to the next token.
func (p *parser) advance() {
	rest := strings.TrimLeftFunc(p.text[p.to:], unicode.IsSpace)
	length := strings.IndexFunc(rest,
		func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()&|", r) })
	switch {
	case length < 0:
		length = len(rest)
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"):
		length = 2
	case length == 0:
		length = 1
	}
	p.from = len(p.text) - len(rest)
	p.to = p.from + length
	switch p.kind = strings.ToLower(p.token()); p.kind {
	case end, "(", ")":
	case and, "&", "&&":
		p.kind = and
	case or, "|", "||":
		p.kind = or
	default:
		p.kind = name
	}
}

func (p *parser) token() string { return p.text[p.from:p.to] }

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
func (p *parser) joined(op Op, sign string, depth int,
	operand func(depth int) (*Rule, error)) (*Rule, error) {
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
	text, at := p.token(), p.from
	switch p.kind {
	case name:
		p.advance()
		return &Rule{Op: Gene, Name: text}, nil
	case "(":
		if depth == MaxDepth {
			return nil, fault.New(fault.Input, "remove superfluous parentheses",
				"parse gpr rule: byte %d: found parentheses nested deeper than %d levels", at,
				MaxDepth)
		}
		p.advance()
		rule, err := p.or(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.kind != ")" {
			return nil, fault.New(fault.Input,
				"close the parenthesis or join the genes with `and` or `or`",
				"parse gpr rule: byte %d: found %s, expected `and`, "+
					"`or` or the `)` that closes the `(` at byte %d",
				p.from, p.found(), at)
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

// found describes the next token for an error message.
func (p *parser) found() string {
	const longest = 40
	switch text := p.token(); {
	case text == "":
		return "the end of the rule"
	case len(text) > longest:
		return "`" + text[:longest] + "…`"
	default:
		return "`" + text + "`"
	}
}
