// Package where decides by an expression which samples of a perturbation set are kept. The language
// is a part of github.com/expr-lang/expr, whose parser and type checker it uses; docs/input.md,
// Filters, describes it.
package where

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"

	"tcbuild/ingest"
)

// Filter is a compiled expression. It is safe for concurrent use.
type Filter struct{ keeps condition }

// Keeps reports whether the expression is true for a sample.
func (f *Filter) Keeps(sample *ingest.Sample) bool { return f.keeps(sample) }

// A part of an expression gives its value for a sample. In
//
//	0.4 < fitness and medium + "!" == "YPD!"
//
// fitness is a number, medium + "!" a text, and 0.4 < fitness a condition.
type (
	number    func(*ingest.Sample) float64 // NaN if missing
	text      func(*ingest.Sample) string  // has missingText in it if missing
	condition func(*ingest.Sample) bool
)

// missingText is in the bytes of a missing text. Texts are UTF-8, which never has this byte, and
// whatever is made of a missing text still has it.
const missingText = "\xff"

func textIsMissing(text string) bool { return strings.Contains(text, missingText) }

// terms are what expressions ask of a sample, by the names that resolver gives them.
type terms struct {
	numbers    map[string]number
	texts      map[string]text
	conditions map[string]condition
	fail       func(node ast.Node, hint, format string, args ...any)
}

// number compiles a node that the checker has found to be a number.
func (t *terms) number(node ast.Node) number {
	switch n := node.(type) {
	case *ast.FloatNode:
		return func(*ingest.Sample) float64 { return n.Value }
	case *ast.IdentifierNode:
		return t.numbers[n.Value]
	case *ast.CallNode: // abs
		x := t.number(n.Arguments[0])
		return func(s *ingest.Sample) float64 { return math.Abs(x(s)) }
	case *ast.UnaryNode:
		x := t.number(n.Node)
		if n.Operator == "-" {
			return func(s *ingest.Sample) float64 { return -x(s) }
		}
		return x
	case *ast.BinaryNode:
		x, y := t.number(n.Left), t.number(n.Right)
		switch n.Operator {
		case "+":
			return func(s *ingest.Sample) float64 { return x(s) + y(s) }
		case "-":
			return func(s *ingest.Sample) float64 { return x(s) - y(s) }
		case "*":
			return func(s *ingest.Sample) float64 { return x(s) * y(s) }
		case "/":
			return func(s *ingest.Sample) float64 { return x(s) / y(s) }
		}
	}
	panic(fmt.Sprintf("compile %T as a number", node))
}

// text compiles a node that the checker has found to be a text.
func (t *terms) text(node ast.Node) text {
	switch n := node.(type) {
	case *ast.StringNode:
		return func(*ingest.Sample) string { return n.Value }
	case *ast.IdentifierNode:
		return t.texts[n.Value]
	case *ast.BinaryNode: // +
		x, y := t.text(n.Left), t.text(n.Right)
		return func(s *ingest.Sample) string { return x(s) + y(s) }
	}
	panic(fmt.Sprintf("compile %T as a text", node))
}

// condition compiles a node that the checker has found to be a condition.
func (t *terms) condition(node ast.Node) condition {
	switch n := node.(type) {
	case *ast.BoolNode:
		return func(*ingest.Sample) bool { return n.Value }
	case *ast.IdentifierNode:
		return t.conditions[n.Value]
	case *ast.CallNode: // missing
		return t.missing(n.Arguments[0])
	case *ast.UnaryNode: // not
		if inner, ok := n.Node.(*ast.BinaryNode); ok && inner.Location() == n.Location() {
			return t.comparison(inner, true) // the parser makes not (x in y) of x not in y
		}
		x := t.condition(n.Node)
		return func(s *ingest.Sample) bool { return !x(s) }
	case *ast.BinaryNode:
		if isCondition(n.Left) {
			return t.junction(n)
		}
		return t.comparison(n, false)
	}
	panic(fmt.Sprintf("compile %T as a condition", node))
}

// missing compiles the question whether a value is missing.
func (t *terms) missing(argument ast.Node) condition {
	switch {
	case isCondition(argument):
		t.fail(argument, missingHint,
			"found a condition, which is never missing, expected a column")
		return nil
	case isText(argument):
		x := t.text(argument)
		return func(s *ingest.Sample) bool { return textIsMissing(x(s)) }
	}
	x := t.number(argument)
	return func(s *ingest.Sample) bool { return math.IsNaN(x(s)) }
}

// junction compiles an operator between two conditions.
func (t *terms) junction(n *ast.BinaryNode) condition {
	x, y := t.condition(n.Left), t.condition(n.Right)
	switch n.Operator {
	case "and", "&&":
		return func(s *ingest.Sample) bool { return x(s) && y(s) }
	case "or", "||":
		return func(s *ingest.Sample) bool { return x(s) || y(s) }
	case "==":
		return func(s *ingest.Sample) bool { return x(s) == y(s) }
	}
	return func(s *ingest.Sample) bool { return x(s) != y(s) }
}

// comparison compiles an operator between numbers or texts. negated is for not in, not contains.
func (t *terms) comparison(n *ast.BinaryNode, negated bool) condition {
	list, isList := n.Right.(*ast.ConstantNode)
	switch {
	case isText(n.Left) && isList:
		return isIn(t.text(n.Left), list.Value.(map[string]struct{}), negated, textIsMissing)
	case isList:
		return isIn(t.number(n.Left), list.Value.(map[float64]struct{}), negated, math.IsNaN)
	case isText(n.Left):
		x, y := t.text(n.Left), t.text(n.Right)
		return compare(x, y, relation(n), negated, textIsMissing)
	}
	x, y := t.number(n.Left), t.number(n.Right)
	return compare(x, y, ordering[float64](n.Operator), negated, math.IsNaN)
}

// relation is a comparison of texts that are not missing.
func relation(n *ast.BinaryNode) func(x, y string) bool {
	switch n.Operator {
	case "contains":
		return strings.Contains
	case "startsWith":
		return strings.HasPrefix
	case "endsWith":
		return strings.HasSuffix
	case "matches":
		// the checker has compiled it
		pattern := regexp.MustCompile(n.Right.(*ast.StringNode).Value)
		return func(x, _ string) bool { return pattern.MatchString(x) }
	}
	return ordering[string](n.Operator)
}

func isText(node ast.Node) bool { return node.Type().Kind() == reflect.String }

func isCondition(node ast.Node) bool { return node.Type().Kind() == reflect.Bool }

// ordering is a comparison of values that are not missing.
func ordering[T cmp.Ordered](operator string) func(x, y T) bool {
	switch operator {
	case "==":
		return func(x, y T) bool { return x == y }
	case "!=":
		return func(x, y T) bool { return x != y }
	case "<":
		return func(x, y T) bool { return x < y }
	case "<=":
		return func(x, y T) bool { return x <= y }
	case ">":
		return func(x, y T) bool { return x > y }
	}
	return func(x, y T) bool { return x >= y }
}

// compare is false for missing values.
func compare[T float64 | string](
	x, y func(*ingest.Sample) T, is func(x, y T) bool, negated bool, missing func(T) bool,
) condition {
	return func(s *ingest.Sample) bool {
		a, b := x(s), y(s)
		return is(a, b) != negated && !missing(a) && !missing(b)
	}
}

// isIn is false for a missing value.
func isIn[T float64 | string](
	x func(*ingest.Sample) T, values map[T]struct{}, negated bool, missing func(T) bool,
) condition {
	return func(s *ingest.Sample) bool {
		value := x(s)
		_, in := values[value]
		return in != negated && !missing(value)
	}
}
