package where

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// What a part of an expression is of a sample: functions that call those of its own parts.
type (
	numberOf func(*Sample) float64 // NaN if it is missing
	textOf   func(*Sample) []byte  // with missingText in it if it is missing
	truthOf  func(*Sample) bool
)

// evaluator makes these functions of a checked tree. The name of a term is in it.
type evaluator map[string]term

// kind is that of a node's value. The checker's type of an argument is that of the parameter.
func (e evaluator) kind(node ast.Node) valueKind {
	switch n := node.(type) {
	case *ast.FloatNode:
		return aNumber
	case *ast.StringNode:
		return aText
	case *ast.IdentifierNode:
		return e[n.Value].kind()
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			return aNumber
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "-", "*", "/":
			return aNumber
		case "+":
			return e.kind(n.Left)
		}
	case *ast.CallNode:
		if n.Callee.(*ast.IdentifierNode).Value == absName {
			return aNumber
		}
	}
	return aTruth
}

// unforeseen is for nodes that the resolver lets through by mistake.
func unforeseen(node ast.Node) string { return fmt.Sprintf("where: no function of a %T", node) }

func (e evaluator) number(node ast.Node) numberOf {
	switch n := node.(type) {
	case *ast.FloatNode:
		return func(*Sample) float64 { return n.Value }
	case *ast.IdentifierNode:
		return e[n.Value].number
	case *ast.CallNode: // abs
		x := e.number(n.Arguments[0])
		return func(s *Sample) float64 { return math.Abs(x(s)) }
	case *ast.UnaryNode:
		x := e.number(n.Node)
		if n.Operator == "+" {
			return x
		}
		return func(s *Sample) float64 { return -x(s) }
	case *ast.BinaryNode:
		x, y := e.number(n.Left), e.number(n.Right)
		switch n.Operator {
		case "+":
			return func(s *Sample) float64 { return x(s) + y(s) }
		case "-":
			return func(s *Sample) float64 { return x(s) - y(s) }
		case "*":
			return func(s *Sample) float64 { return x(s) * y(s) }
		case "/":
			return func(s *Sample) float64 { return x(s) / y(s) }
		}
	}
	panic(unforeseen(node))
}

func (e evaluator) text(node ast.Node) textOf {
	switch n := node.(type) {
	case *ast.StringNode:
		text := []byte(n.Value)
		return func(*Sample) []byte { return text }
	case *ast.IdentifierNode:
		return e[n.Value].text
	case *ast.BinaryNode: // +
		x, y := e.text(n.Left), e.text(n.Right)
		return func(s *Sample) []byte { return slices.Concat(x(s), y(s)) }
	}
	panic(unforeseen(node))
}

func (e evaluator) truth(node ast.Node) truthOf {
	switch n := node.(type) {
	case *ast.BoolNode:
		return func(*Sample) bool { return n.Value }
	case *ast.IdentifierNode:
		return e[n.Value].truth
	case *ast.UnaryNode: // not
		x := e.truth(n.Node)
		return func(s *Sample) bool { return !x(s) }
	case *ast.CallNode: // missing
		switch argument := n.Arguments[0]; e.kind(argument) {
		case aNumber:
			x := e.number(argument)
			return func(s *Sample) bool { return math.IsNaN(x(s)) }
		case aText:
			x := e.text(argument)
			return func(s *Sample) bool { return bytes.IndexByte(x(s), missingText) >= 0 }
		default: // a side of a comparison of conditions
			return func(*Sample) bool { return false }
		}
	case *ast.BinaryNode:
		switch e.kind(n.Left) {
		case aTruth:
			return e.ofTruths(n)
		case aNumber:
			return e.ofNumbers(n)
		default:
			return e.ofTexts(n)
		}
	}
	panic(unforeseen(node))
}

func (e evaluator) ofTruths(n *ast.BinaryNode) truthOf {
	x, y := e.truth(n.Left), e.truth(n.Right)
	switch n.Operator {
	case "and", "&&":
		return func(s *Sample) bool { return x(s) && y(s) }
	case "or", "||":
		return func(s *Sample) bool { return x(s) || y(s) }
	case "==":
		return func(s *Sample) bool { return x(s) == y(s) }
	case "!=":
		return func(s *Sample) bool { return x(s) != y(s) }
	}
	panic(unforeseen(n))
}

func (e evaluator) ofNumbers(n *ast.BinaryNode) truthOf {
	x := e.number(n.Left)
	if n.Operator == "in" {
		set := n.Right.(*ast.ConstantNode).Value.(map[float64]struct{})
		return func(s *Sample) bool { _, in := set[x(s)]; return in }
	}
	y := e.number(n.Right)
	switch n.Operator {
	case "==":
		return func(s *Sample) bool { return x(s) == y(s) }
	case "!=":
		return func(s *Sample) bool { return x(s) != y(s) }
	case "<":
		return func(s *Sample) bool { return x(s) < y(s) }
	case "<=":
		return func(s *Sample) bool { return x(s) <= y(s) }
	case ">":
		return func(s *Sample) bool { return x(s) > y(s) }
	case ">=":
		return func(s *Sample) bool { return x(s) >= y(s) }
	}
	panic(unforeseen(n))
}

func (e evaluator) ofTexts(n *ast.BinaryNode) truthOf {
	x := e.text(n.Left)
	switch n.Operator {
	case "in":
		set := n.Right.(*ast.ConstantNode).Value.(map[string]struct{})
		return func(s *Sample) bool { _, in := set[string(x(s))]; return in }
	case "matches":
		pattern := regexp.MustCompile(n.Right.(*ast.StringNode).Value) // the checker has compiled it
		return func(s *Sample) bool { return pattern.Match(x(s)) }
	}
	y := e.text(n.Right)
	compare := func(is func(order int) bool) truthOf {
		return func(s *Sample) bool { return is(bytes.Compare(x(s), y(s))) }
	}
	switch n.Operator {
	case "==":
		return func(s *Sample) bool { return bytes.Equal(x(s), y(s)) }
	case "!=":
		return func(s *Sample) bool { return !bytes.Equal(x(s), y(s)) }
	case "<":
		return compare(func(order int) bool { return order < 0 })
	case "<=":
		return compare(func(order int) bool { return order <= 0 })
	case ">":
		return compare(func(order int) bool { return order > 0 })
	case ">=":
		return compare(func(order int) bool { return order >= 0 })
	case "contains":
		return func(s *Sample) bool { return bytes.Contains(x(s), y(s)) }
	case "startsWith":
		return func(s *Sample) bool { return bytes.HasPrefix(x(s), y(s)) }
	case "endsWith":
		return func(s *Sample) bool { return bytes.HasSuffix(x(s), y(s)) }
	}
	panic(unforeseen(n))
}
