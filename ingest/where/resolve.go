package where

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/internal/decimal"
)

// The functions of the expression language, and the one variable that every set has.
const (
	absName        = "abs"
	missingName    = "missing"
	columnName     = "column"
	deletionsName  = "deletions"
	deletesName    = "deletes"
	deletesAnyName = "deletes_any"
	sampleIDName   = "sample_id"
)

const deletionsHint = "the number of deleted genes is deletions()"

// functions are those that the expression can call.
func (r *resolver) functions() []string {
	if r.genes == nil {
		return []string{absName, columnName, missingName}
	}
	return []string{absName, columnName, deletesName, deletesAnyName, deletionsName, missingName}
}

// resolver replaces what an expression asks of a sample by terms, refuses what is not part of the
// language, and makes comparisons with missing values false. It stops at the first error.
//
// The parser makes (a < b) and (b < c) of a < b < c, which share the node b: resolve meets the
// nodes in b twice, and a chain in the middle of chains twice as often for each of them.
type resolver struct {
	text    []rune // of the expression
	visits  int    // that are left: more mean chains in the middle of chains
	columns ingest.Columns
	genes   Genes          // nil for rows of a table, which delete none
	others  []string       // further columns of the table, for messages
	terms   terms          // what the expression asks of a sample
	types   map[string]any // a value of its type by the name of a term
	err     *file.Error
	hint    string
}

func (r *resolver) fail(node ast.Node, hint, format string, args ...any) {
	if r.err == nil {
		message := fmt.Sprintf(format, args...)
		r.err, r.hint = &file.Error{Location: node.Location(), Message: message}, hint
	}
}

// operators are the binary operators of the language, besides in.
var operators = []string{"and", "&&", "or", "||", "==", "!=", "<", "<=", ">", ">=",
	"+", "-", "*", "/", "contains", "startsWith", "endsWith", "matches"}

// resolve rewrites a node and those below it.
func (r *resolver) resolve(node *ast.Node) {
	if r.visits--; r.visits < 0 {
		r.fail(*node, "", "found a condition in the middle of chained comparisons, "+
			"expected a number or a text")
	}
	if r.err != nil {
		return
	}
	switch n := (*node).(type) {
	case *ast.BoolNode, *ast.StringNode:
	case *ast.FloatNode:
		r.checkFraction(n)
	case *ast.IntegerNode:
		r.replace(node, r.number(n))
	case *ast.IdentifierNode:
		if _, resolved := r.types[n.Value]; !resolved {
			r.name(node, n.Value)
		}
	case *ast.UnaryNode:
		r.resolve(&n.Node)
	case *ast.BinaryNode:
		r.resolve(&n.Left)
		switch {
		case n.Operator == "in":
			r.list(&n.Right)
		case !slices.Contains(operators, n.Operator):
			r.fail(n, "", "found the operator %s, expected one of %s, in",
				n.Operator, strings.Join(operators, ", "))
		default:
			r.resolve(&n.Right)
		}
		if _, constant := n.Right.(*ast.StringNode); n.Operator == "matches" && !constant {
			r.fail(n.Right, "", "found an expression, expected a regular expression in quotes")
		}
	case *ast.BuiltinNode: // some that the parser knows although they are disabled
		r.call(node, n.Name, n.Arguments)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			r.call(node, callee.Value, n.Arguments)
			return
		}
		r.fail(n, syntaxHint, "this is not part of the language of expressions")
	case *ast.NilNode:
		r.fail(n, missingHint, "nil is not part of the language of expressions")
	default:
		r.fail(n, syntaxHint, "this is not part of the language of expressions")
	}
}

const missingHint = "ask for missing values with missing(fitness)"

// replace puts another node in the place of one. The first check computes its type.
func (r *resolver) replace(node *ast.Node, by ast.Node) {
	by.SetLocation((*node).Location())
	*node = by
}

// number is an integer as the floating-point number that all values are.
func (r *resolver) number(n *ast.IntegerNode) ast.Node {
	value := float64(n.Value)
	if n.Value > 1<<53 || n.Value < -1<<53 {
		r.fail(n, "", "found %d, expected a number that a 64-bit floating-point number can hold",
			n.Value)
	}
	return &ast.FloatNode{Value: value}
}

// checkFraction fails for a number that the parser read as 0 although it is not 0.
func (r *resolver) checkFraction(n *ast.FloatNode) {
	at := n.Location()
	written := string(r.text[at.From:max(at.From, at.To)])
	if _, err := decimal.Parse(written); errors.Is(err, decimal.ErrTooSmall) {
		r.fail(n, "", "found %s, which is %s", fault.Quote(written), err)
	}
}

// list replaces the list after in with a set.
func (r *resolver) list(node *ast.Node) {
	if _, resolved := (*node).(*ast.ConstantNode); resolved {
		return
	}
	array, ok := (*node).(*ast.ArrayNode)
	if !ok || len(array.Nodes) == 0 {
		r.fail(*node, `write in [0.5, 1] or in ["YPD", "SC"]`,
			"found no list, expected one of numbers or of texts in brackets")
		return
	}
	numbers, texts := make(map[float64]struct{}), make(map[string]struct{})
	for i := range array.Nodes {
		sign, element := 1.0, array.Nodes[i]
		if unary, ok := element.(*ast.UnaryNode); ok && unary.Operator == "-" {
			sign, element = -1, unary.Node
		}
		if integer, ok := element.(*ast.IntegerNode); ok {
			element = r.number(integer)
		}
		switch element := element.(type) {
		case *ast.FloatNode:
			r.checkFraction(element)
			numbers[sign*element.Value] = struct{}{}
		case *ast.StringNode:
			texts[element.Value] = struct{}{}
		default:
			r.fail(array.Nodes[i], "",
				"found an expression in a list, expected a number or a text in quotes")
		}
		if len(numbers) > 0 && len(texts) > 0 {
			r.fail(array.Nodes[i], "", "found numbers and texts in one list")
		}
	}
	if len(texts) > 0 {
		r.replace(node, &ast.ConstantNode{Value: texts})
	} else {
		r.replace(node, &ast.ConstantNode{Value: numbers})
	}
}

// name replaces a bare name.
func (r *resolver) name(node *ast.Node, name string) {
	if name == sampleIDName && r.genes != nil {
		r.putText(node, "the id", func(s *ingest.Sample) string { return string(s.ID) })
		return
	}
	r.column(node, *node, name)
}

// column replaces the name of a column; at is where it stands.
func (r *resolver) column(node *ast.Node, at ast.Node, name string) {
	if k := slices.Index(r.columns.PhenotypeNames(), name); k >= 0 {
		r.putNumber(node, fmt.Sprint("phenotype ", k),
			func(s *ingest.Sample) float64 { return s.Phenotypes[k] })
		return
	}
	if k := slices.Index(r.columns.AttributeNames(), name); k >= 0 {
		r.attribute(node, k)
		return
	}
	known := r.others
	if r.genes != nil {
		kept := r.columns.Kept().Remaining()
		known = slices.Concat(kept.PhenotypeNames(), kept.AttributeNames(), r.others,
			[]string{sampleIDName})
	}
	hint := `'tcbuild inspect' lists the columns; a text is in quotes: column == "text"`
	switch nearest := fault.Nearest(name, known); {
	case slices.Contains([]string{"null", "none", "nan", "na"}, strings.ToLower(name)):
		hint = missingHint
	case nearest != "":
		hint = "did you mean " + nearest + "?"
	case name == deletionsName && r.genes != nil:
		hint = deletionsHint
	case slices.Contains(r.functions(), name):
		hint = fmt.Sprintf("%s is a function: write %s(…)", name, name)
	}
	r.fail(at, hint, "found unknown name %s, expected one of %s", fault.Quote(name),
		fault.List(known))
}

// attribute replaces the name of an attribute.
func (r *resolver) attribute(node *ast.Node, k int) {
	name := fmt.Sprint("attribute ", k)
	if r.columns.Attributes[k].Type == ingest.NumberAttribute {
		r.putNumber(node, name, func(s *ingest.Sample) float64 { return s.Attributes[k].Number })
		return
	}
	r.putText(node, name, func(s *ingest.Sample) string {
		if text := s.Attributes[k].Text; text != nil {
			return string(text)
		}
		return missingText
	})
}

// putNumber, putText and putCondition replace a node by a term. Its name has a space, so it cannot
// be written in an expression.
func (r *resolver) putNumber(node *ast.Node, name string, term number) {
	r.terms.numbers[name], r.types[name] = term, 0.0
	r.replace(node, &ast.IdentifierNode{Value: name})
}

func (r *resolver) putText(node *ast.Node, name string, term text) {
	r.terms.texts[name], r.types[name] = term, ""
	r.replace(node, &ast.IdentifierNode{Value: name})
}

func (r *resolver) putCondition(node *ast.Node, name string, term condition) {
	r.terms.conditions[name], r.types[name] = term, false
	r.replace(node, &ast.IdentifierNode{Value: name})
}

// call replaces the call of a function.
func (r *resolver) call(node *ast.Node, function string, arguments []ast.Node) {
	if functions := r.functions(); !slices.Contains(functions, function) {
		hint := fault.DidYouMean(function, functions, "")
		r.fail(*node, hint, "there is no function %s, expected one of %s",
			fault.Quote(function), strings.Join(functions, ", "))
		return
	}
	switch function {
	case absName, missingName, columnName:
		if len(arguments) != 1 {
			r.fail(*node, "", "found %d arguments of %s, expected one", len(arguments), function)
			return
		}
	case deletionsName:
		if len(arguments) > 0 {
			r.fail(arguments[0], deletionsHint, "found an argument of deletions, expected none")
			return
		}
	}
	switch function {
	case absName, missingName:
		r.resolve(&arguments[0])
	case columnName:
		if name, ok := arguments[0].(*ast.StringNode); ok {
			r.column(node, name, name.Value)
			return
		}
		r.fail(arguments[0], "", `found an expression, expected the name of a column in quotes`)
	case deletionsName:
		r.putNumber(node, "number of deletions",
			func(s *ingest.Sample) float64 { return float64(len(s.Genes)) })
	case deletesName, deletesAnyName:
		r.deletes(node, function == deletesName, arguments)
	}
}

// deletes replaces the question whether a sample deletes all, or any, of some genes.
func (r *resolver) deletes(node *ast.Node, all bool, arguments []ast.Node) {
	if len(arguments) == 0 {
		r.fail(*node, "", `found no gene, expected names of genes in quotes`)
	}
	var genes []uint32
	for _, argument := range arguments {
		id, ok := argument.(*ast.StringNode)
		if !ok {
			r.fail(argument, "", `found an expression, expected the name of a gene in quotes`)
			return
		}
		gene, err := r.genes.Row(id.Value)
		if err != nil {
			r.fail(argument, fault.HintOf(err), "%s", err)
			return
		}
		genes = append(genes, gene)
	}
	r.putCondition(node, fmt.Sprint("deletes ", all, genes), func(s *ingest.Sample) bool {
		for _, gene := range genes {
			if _, deleted := slices.BinarySearch(s.Genes, gene); deleted != all {
				return deleted
			}
		}
		return all
	})
}
