// Package where decides by an expression which samples of a perturbation set are kept. The language
// is a part of github.com/expr-lang/expr, whose parser and type checker it uses; docs/input.md,
// Filters, describes it.
package where

import (
	"cmp"
	"math"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"

	"tcbuild/ingest"
)

// Filter is a compiled expression. It is safe for concurrent use.
type Filter struct{ keeps of[bool] }

// Keeps reports whether the expression is true for a sample.
func (f *Filter) Keeps(sample *ingest.Sample) bool { return f.keeps(sample) }

// of is a part of an expression: its value for a sample. A missing number is NaN, a missing text
// has missingText in it.
type of[T float64 | string | bool] func(*ingest.Sample) T

// missingText is in the bytes of a missing text. Texts are UTF-8, which never has this byte, and
// whatever is made of a missing text still has it.
const missingText = "\xff"

func textIsMissing(text string) bool { return strings.Contains(text, missingText) }

func constant[T float64 | string | bool](value T) of[T] {
	return func(*ingest.Sample) T { return value }
}

// part makes an of[float64], of[string] or of[bool] of a node that has been checked.
func (r *resolver) part(node ast.Node) any {
	switch n := node.(type) {
	case *ast.FloatNode:
		return constant(n.Value)
	case *ast.StringNode:
		return constant(n.Value)
	case *ast.BoolNode:
		return constant(n.Value)
	case *ast.IdentifierNode:
		return r.terms[n.Value]
	case *ast.UnaryNode:
		if comparison, ok := n.Node.(*ast.BinaryNode); ok && comparison.Location() == n.Location() {
			return r.binary(comparison, true) // the parser makes not (x in y) of x not in y
		}
		switch x := r.part(n.Node).(type) {
		case of[bool]:
			return of[bool](func(s *ingest.Sample) bool { return !x(s) })
		case of[float64]:
			if n.Operator == "-" {
				return of[float64](func(s *ingest.Sample) float64 { return -x(s) })
			}
			return x
		}
	case *ast.BinaryNode:
		return r.binary(n, false)
	case *ast.CallNode:
		switch x := r.part(n.Arguments[0]).(type) {
		case of[bool]: // only missing takes one
			r.fail(n.Arguments[0], missingHint, "found a condition, which is never missing, expected a column")
			return x
		case of[string]:
			return of[bool](func(s *ingest.Sample) bool { return textIsMissing(x(s)) })
		case of[float64]:
			if n.Callee.(*ast.IdentifierNode).Value == absName {
				return of[float64](func(s *ingest.Sample) float64 { return math.Abs(x(s)) })
			}
			return of[bool](func(s *ingest.Sample) bool { return math.IsNaN(x(s)) })
		}
	}
	return nil // of the list after in
}

// binary makes a part of an operator and its sides. negated is for not in, not contains.
func (r *resolver) binary(n *ast.BinaryNode, negated bool) any {
	right := r.part(n.Right)
	switch x := r.part(n.Left).(type) {
	case of[bool]:
		y := right.(of[bool])
		switch n.Operator {
		case "and", "&&":
			return of[bool](func(s *ingest.Sample) bool { return x(s) && y(s) })
		case "or", "||":
			return of[bool](func(s *ingest.Sample) bool { return x(s) || y(s) })
		case "==":
			return of[bool](func(s *ingest.Sample) bool { return x(s) == y(s) })
		}
		return of[bool](func(s *ingest.Sample) bool { return x(s) != y(s) })
	case of[float64]:
		y, _ := right.(of[float64])
		switch n.Operator {
		case "+":
			return of[float64](func(s *ingest.Sample) float64 { return x(s) + y(s) })
		case "-":
			return of[float64](func(s *ingest.Sample) float64 { return x(s) - y(s) })
		case "*":
			return of[float64](func(s *ingest.Sample) float64 { return x(s) * y(s) })
		case "/":
			return of[float64](func(s *ingest.Sample) float64 { return x(s) / y(s) })
		}
		return comparison(n, x, y, ordering[float64](n.Operator), negated, math.IsNaN)
	case of[string]:
		y, _ := right.(of[string])
		is := map[string]func(x, y string) bool{"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix}[n.Operator]
		switch n.Operator {
		case "+":
			return of[string](func(s *ingest.Sample) string { return x(s) + y(s) })
		case "matches":
			pattern := regexp.MustCompile(n.Right.(*ast.StringNode).Value) // the checker has compiled it
			is = func(x, _ string) bool { return pattern.MatchString(x) }
		}
		if is == nil {
			is = ordering[string](n.Operator)
		}
		return comparison(n, x, y, is, negated, textIsMissing)
	}
	return nil
}

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

// comparison compares two parts, or one with the values of a list. With a missing value it is
// false.
func comparison[T float64 | string](n *ast.BinaryNode, x, y of[T], is func(x, y T) bool, negated bool, missing func(T) bool) of[bool] {
	if list, ok := n.Right.(*ast.ConstantNode); ok {
		values := list.Value.(map[T]struct{})
		return func(s *ingest.Sample) bool {
			value := x(s)
			_, in := values[value]
			return in != negated && !missing(value)
		}
	}
	return func(s *ingest.Sample) bool {
		a, b := x(s), y(s)
		return is(a, b) != negated && !missing(a) && !missing(b)
	}
}
