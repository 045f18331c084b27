package where

import (
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// textComparisons are the operators that are false for a missing number by themselves, as it is a
// NaN, but not for a missing text.
var textComparisons = []string{"==", "<", "<=", ">", ">=", "in", "contains", "startsWith", "endsWith", "matches"}

// guard makes each comparison with a missing value false: those that are not so by themselves get
// the condition that nothing in them is missing. It needs the types of nodes.
func (r *resolver) guard(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.UnaryNode:
		comparison, ok := n.Node.(*ast.BinaryNode)
		if ok && comparison.Location() == n.Location() { // x not in y: the parser has not (x in y)
			r.guard(&comparison.Left)
			r.guard(&comparison.Right)
			r.unlessMissing(node, comparison.Left, comparison.Right)
			return
		}
		r.guard(&n.Node)
	case *ast.BinaryNode:
		r.guard(&n.Left)
		r.guard(&n.Right)
		text := n.Left.Type() != nil && n.Left.Type().Kind() == reflect.String
		if n.Operator == "!=" || text && slices.Contains(textComparisons, n.Operator) {
			r.unlessMissing(node, n.Left, n.Right)
		}
	case *ast.CallNode:
		if n.Arguments[0].Type().Kind() == reflect.Bool {
			r.fail(n.Arguments[0], missingHint, "found a condition, which is never missing, expected a column")
		}
		r.guard(&n.Arguments[0])
	}
}

// unlessMissing replaces a comparison by one that is false if one of its sides is missing.
func (r *resolver) unlessMissing(node *ast.Node, sides ...ast.Node) {
	at := (*node).Location()
	for _, side := range sides {
		if !r.misses(side) {
			continue
		}
		call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: missingName}, Arguments: []ast.Node{side}}
		present := &ast.UnaryNode{Operator: "not", Node: call}
		*node = &ast.BinaryNode{Operator: "and", Left: present, Right: *node}
		for _, made := range []ast.Node{call, present, *node} {
			made.SetLocation(at)
		}
	}
}

// misses reports whether a value can be missing. That of a calculation can: 0/0.
func (r *resolver) misses(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		return slices.ContainsFunc(r.terms, func(t term) bool { return t.name == n.Value && t.misses })
	case *ast.UnaryNode:
		return r.misses(n.Node)
	case *ast.BinaryNode:
		return true
	case *ast.CallNode: // abs
		return r.misses(n.Arguments[0])
	}
	return false
}
