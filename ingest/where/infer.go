package where

import (
	"cmp"
	"slices"

	"github.com/expr-lang/expr/ast"

	"tcbuild/ingest"
)

// inference finds out what the columns of a table without types hold, from what an expression does
// with them: numbers where it calculates or compares with a number, texts elsewhere.
type inference struct {
	names   []string                        // nil: all names in the expression
	kinds   map[string]ingest.AttributeType // of the columns in the expression; "" if still open
	ordered bool                            // all that is ordered and still open has numbers
}

// infer returns the columns in an expression, in the order of names. Those of which it says nothing
// else are numbers if it orders them, as in a < b, and otherwise texts.
func infer(tree ast.Node, names []string) []ingest.Attribute {
	i := inference{names: names, kinds: make(map[string]ingest.AttributeType)}
	for _, i.ordered = range []bool{false, true} {
		for before := -1; before != i.known(); { // a == b, then a > 1: b is a number too
			before = i.known()
			i.kind(tree, "")
		}
	}
	var columns []ingest.Attribute
	for _, name := range names {
		kind, used := i.kinds[name]
		if used && kind == "" {
			kind = ingest.TextAttribute
		}
		if used {
			columns = append(columns, ingest.Attribute{Name: name, Type: kind})
		}
	}
	return columns
}

// known is the number of columns whose kind is known.
func (i *inference) known() int {
	n := 0
	for _, kind := range i.kinds {
		if kind != "" {
			n++
		}
	}
	return n
}

// kind returns the kind of a node, "" if it is open or neither number nor text. wanted is what is
// made of it.
func (i *inference) kind(node ast.Node, wanted ingest.AttributeType) ingest.AttributeType {
	switch n := node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return ingest.NumberAttribute
	case *ast.StringNode:
		return ingest.TextAttribute
	case *ast.IdentifierNode:
		return i.column(n.Value, wanted)
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			wanted = ingest.NumberAttribute
		}
		return i.kind(n.Node, wanted)
	case *ast.ArrayNode:
		for _, element := range n.Nodes {
			return i.kind(element, "")
		}
	case *ast.BinaryNode:
		return i.binary(n, wanted)
	case *ast.BuiltinNode:
		return i.call(n.Name, n.Arguments, wanted)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return i.call(callee.Value, n.Arguments, wanted)
		}
	}
	return ""
}

func (i *inference) column(name string, wanted ingest.AttributeType) ingest.AttributeType {
	if i.names != nil && !slices.Contains(i.names, name) {
		return ""
	}
	if i.kinds[name] == "" {
		i.kinds[name] = wanted
	}
	return i.kinds[name]
}

func (i *inference) binary(n *ast.BinaryNode, wanted ingest.AttributeType) ingest.AttributeType {
	switch n.Operator {
	case "-", "*", "/":
		wanted = ingest.NumberAttribute
	case "contains", "startsWith", "endsWith", "matches":
		wanted = ingest.TextAttribute
	case "+":
	default:
		wanted = ""
	}
	left, right := i.kind(n.Left, wanted), i.kind(n.Right, wanted)
	known := cmp.Or(left, right)
	if known == "" && i.ordered && slices.Contains([]string{"<", "<=", ">", ">="}, n.Operator) {
		known = ingest.NumberAttribute
	}
	if left == "" && known != "" {
		i.kind(n.Left, known)
	}
	if right == "" && known != "" {
		i.kind(n.Right, known)
	}
	switch n.Operator {
	case "+":
		return known
	case "-", "*", "/":
		return ingest.NumberAttribute
	}
	return ""
}

func (i *inference) call(
	function string, arguments []ast.Node, wanted ingest.AttributeType,
) ingest.AttributeType {
	if len(arguments) != 1 {
		return ""
	}
	name, quoted := arguments[0].(*ast.StringNode)
	switch {
	case function == columnName && quoted:
		return i.column(name.Value, wanted)
	case function == absName:
		return i.kind(arguments[0], ingest.NumberAttribute)
	}
	i.kind(arguments[0], "")
	return ""
}
