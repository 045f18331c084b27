package where

import (
	"errors"
	"fmt"
	"math"
	"regexp"
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
func (c *compiler) functions() []string {
	if c.genes == nil {
		return []string{absName, columnName, missingName}
	}
	return []string{absName, columnName, deletesName, deletesAnyName, deletionsName, missingName}
}

// compiler makes parts of nodes. It refuses what is not part of the language, and stops at the
// first mistake.
type compiler struct {
	written []rune         // the expression
	columns ingest.Columns // of the samples
	genes   Genes          // nil for rows of a table, which delete none
	others  []string       // further columns of the table, for messages
	// by node: the parser makes (a < b) and (b < c) of a < b < c, which share the node b
	parts map[ast.Node]part
	err   *file.Error
	hint  string
}

// fail notes a mistake, and stands for its part.
func (c *compiler) fail(node ast.Node, hint, format string, args ...any) part {
	if c.err == nil {
		message := fmt.Sprintf(format, args...)
		c.err, c.hint = &file.Error{Location: node.Location(), Message: message}, hint
	}
	return part{}
}

// part compiles a node.
func (c *compiler) part(node ast.Node) part {
	known, ok := c.parts[node]
	if ok || c.err != nil {
		return known
	}
	c.parts[node] = c.compile(node)
	return c.parts[node]
}

func (c *compiler) compile(node ast.Node) part {
	switch n := node.(type) {
	case *ast.BoolNode:
		return conditionPart(func(*ingest.Sample) bool { return n.Value })
	case *ast.StringNode:
		return textPart(func(*ingest.Sample) string { return n.Value })
	case *ast.FloatNode, *ast.IntegerNode:
		value, _ := c.constant(n)
		return numberPart(func(*ingest.Sample) float64 { return value })
	case *ast.IdentifierNode:
		return c.name(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n, false)
	case *ast.BuiltinNode: // some that the parser knows although they are disabled
		return c.call(n, n.Name, n.Arguments)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return c.call(n, callee.Value, n.Arguments)
		}
	case *ast.NilNode:
		return c.fail(n, missingHint, "nil is not part of the language of expressions")
	}
	return c.fail(node, syntaxHint, "this is not part of the language of expressions")
}

const missingHint = "ask for missing values with missing(fitness)"

// constant is the value of a number that is written in the expression, as the floating-point number
// that all values are.
func (c *compiler) constant(node ast.Node) (value float64, ok bool) {
	switch n := node.(type) {
	case *ast.IntegerNode:
		if n.Value > 1<<53 || n.Value < -1<<53 {
			c.fail(n, "",
				"found %d, expected a number that a 64-bit floating-point number can hold", n.Value)
		}
		return float64(n.Value), true
	case *ast.FloatNode: // which the parser reads as 0 although it may not be 0
		at := n.Location()
		written := string(c.written[at.From:max(at.From, at.To)])
		if _, err := decimal.Parse(written); errors.Is(err, decimal.ErrTooSmall) {
			c.fail(n, "", "found %s, which is %s", fault.Quote(written), err)
		}
		return n.Value, true
	}
	return 0, false
}

func (c *compiler) unary(n *ast.UnaryNode) part {
	isNot := n.Operator == "not" || n.Operator == "!"
	if inner, ok := n.Node.(*ast.BinaryNode); isNot && ok && inner.Location() == n.Location() {
		return c.binary(inner, true) // the parser makes not (x in y) of x not in y
	}
	x := c.part(n.Node)
	switch {
	case isNot && x.kind == isCondition:
		return conditionPart(func(s *ingest.Sample) bool { return !x.condition(s) })
	case isNot:
		return c.fail(n, "not binds more tightly than comparisons: write not (…)",
			"found %s %s", n.Operator, x.kind)
	case x.kind != isNumber:
		return c.fail(n, typesHint, "found %s %s", n.Operator, x.kind)
	case n.Operator == "-":
		return numberPart(func(s *ingest.Sample) float64 { return -x.number(s) })
	}
	return x
}

// operators are the binary operators of the language, besides in.
var operators = []string{"and", "&&", "or", "||", "==", "!=", "<", "<=", ">", ">=",
	"+", "-", "*", "/", "contains", "startsWith", "endsWith", "matches"}

// binary compiles an operator. negated is for not in, not contains.
func (c *compiler) binary(n *ast.BinaryNode, negated bool) (joined part) {
	x := c.part(n.Left)
	switch {
	case n.Operator == "in":
		return c.in(n, x, negated)
	case !slices.Contains(operators, n.Operator):
		return c.fail(n, "", "found the operator %s, expected one of %s, in",
			n.Operator, strings.Join(operators, ", "))
	case n.Operator == "matches":
		return c.matches(n, x, negated)
	}
	y := c.part(n.Right)
	switch {
	case x.kind != y.kind:
	case x.kind == isNumber:
		joined = ofNumbers(n.Operator, x.number, y.number)
	case x.kind == isText:
		joined = ofTexts(n.Operator, x.text, y.text, negated)
	default:
		joined = ofConditions(n.Operator, x.condition, y.condition)
	}
	if joined.kind == "" {
		return c.fail(n, typesHint, "found %s %s %s", x.kind, n.Operator, y.kind)
	}
	return joined
}

func (c *compiler) matches(n *ast.BinaryNode, x part, negated bool) part {
	written, ok := n.Right.(*ast.StringNode)
	if !ok {
		return c.fail(n.Right, "",
			"found an expression, expected a regular expression in quotes")
	}
	pattern, err := regexp.Compile(written.Value)
	switch {
	case x.kind != isText:
		return c.fail(n, typesHint, "found %s matches text", x.kind)
	case err != nil:
		return c.fail(n, typesHint, "%s", err)
	}
	matches := func(x, _ string) bool { return pattern.MatchString(x) }
	return compare(x.text, c.part(written).text, matches, negated, textIsMissing)
}

// in compiles the question whether a value is in a list.
func (c *compiler) in(n *ast.BinaryNode, x part, negated bool) part {
	array, ok := n.Right.(*ast.ArrayNode)
	if !ok || len(array.Nodes) == 0 {
		return c.fail(n.Right, `write in [0.5, 1] or in ["YPD", "SC"]`,
			"found no list, expected one of numbers or of texts in brackets")
	}
	numbers, texts, listed := make(map[float64]struct{}), make(map[string]struct{}), isNumber
	for _, node := range array.Nodes {
		sign, element := 1.0, node
		if unary, ok := element.(*ast.UnaryNode); ok && unary.Operator == "-" {
			sign, element = -1, unary.Node
		}
		if value, ok := c.constant(element); ok {
			numbers[sign*value] = struct{}{}
		} else if text, ok := element.(*ast.StringNode); ok {
			texts[text.Value], listed = struct{}{}, isText
		} else {
			return c.fail(node, "",
				"found an expression in a list, expected a number or a text in quotes")
		}
		if len(numbers) > 0 && len(texts) > 0 {
			return c.fail(node, "", "found numbers and texts in one list")
		}
	}
	switch {
	case x.kind != listed:
		return c.fail(n, typesHint, "cannot use %s as type %s", x.kind, listed)
	case x.kind == isText:
		return isIn(x.text, texts, negated, textIsMissing)
	}
	return isIn(x.number, numbers, negated, math.IsNaN)
}

// name compiles a bare name.
func (c *compiler) name(n *ast.IdentifierNode) part {
	if n.Value == sampleIDName && c.genes != nil {
		return textPart(func(s *ingest.Sample) string { return string(s.ID) })
	}
	return c.column(n, n.Value)
}

// column compiles the name of a column; at is where it stands.
func (c *compiler) column(at ast.Node, name string) part {
	if k := slices.Index(c.columns.PhenotypeNames(), name); k >= 0 {
		return numberPart(func(s *ingest.Sample) float64 { return s.Phenotypes[k] })
	}
	switch k := slices.Index(c.columns.AttributeNames(), name); {
	case k < 0:
	case c.columns.Attributes[k].Type == ingest.NumberAttribute:
		return numberPart(func(s *ingest.Sample) float64 { return s.Attributes[k].Number })
	default:
		return textPart(func(s *ingest.Sample) string {
			if text := s.Attributes[k].Text; text != nil {
				return string(text)
			}
			return missingText
		})
	}
	known := c.others
	if c.genes != nil {
		kept := c.columns.Kept().Remaining()
		known = slices.Concat(kept.PhenotypeNames(), kept.AttributeNames(), c.others,
			[]string{sampleIDName})
	}
	hint := `'tcbuild inspect' lists the columns; a text is in quotes: column == "text"`
	switch nearest := fault.Nearest(name, known); {
	case slices.Contains([]string{"null", "none", "nan", "na"}, strings.ToLower(name)):
		hint = missingHint
	case nearest != "":
		hint = "did you mean " + nearest + "?"
	case name == deletionsName && c.genes != nil:
		hint = deletionsHint
	case slices.Contains(c.functions(), name):
		hint = fmt.Sprintf("%s is a function: write %s(…)", name, name)
	}
	return c.fail(at, hint, "found unknown name %s, expected one of %s", fault.Quote(name),
		fault.List(known))
}

// call compiles the call of a function.
func (c *compiler) call(node ast.Node, function string, arguments []ast.Node) part {
	if functions := c.functions(); !slices.Contains(functions, function) {
		hint := fault.DidYouMean(function, functions, "")
		return c.fail(node, hint, "there is no function %s, expected one of %s",
			fault.Quote(function), strings.Join(functions, ", "))
	}
	switch function {
	case deletionsName:
		if len(arguments) > 0 {
			return c.fail(arguments[0], deletionsHint,
				"found an argument of deletions, expected none")
		}
		return numberPart(func(s *ingest.Sample) float64 { return float64(len(s.Genes)) })
	case deletesName, deletesAnyName:
		return c.deletes(node, function == deletesName, arguments)
	}
	if len(arguments) != 1 {
		return c.fail(node, "", "found %d arguments of %s, expected one", len(arguments), function)
	}
	argument := arguments[0]
	switch function {
	case absName:
		x := c.part(argument)
		if x.kind != isNumber {
			return c.fail(argument, typesHint, "found abs of a %s, expected a number", x.kind)
		}
		return numberPart(func(s *ingest.Sample) float64 { return math.Abs(x.number(s)) })
	case missingName:
		return c.missing(argument)
	}
	if name, ok := argument.(*ast.StringNode); ok {
		return c.column(name, name.Value)
	}
	return c.fail(argument, "", "found an expression, expected the name of a column in quotes")
}

// missing compiles the question whether a value is missing.
func (c *compiler) missing(argument ast.Node) part {
	switch x := c.part(argument); x.kind {
	case isNumber:
		return conditionPart(func(s *ingest.Sample) bool { return math.IsNaN(x.number(s)) })
	case isText:
		return conditionPart(func(s *ingest.Sample) bool { return textIsMissing(x.text(s)) })
	}
	return c.fail(argument, missingHint,
		"found a condition, which is never missing, expected a column")
}

// deletes compiles the question whether a sample deletes all, or any, of some genes.
func (c *compiler) deletes(node ast.Node, all bool, arguments []ast.Node) part {
	if len(arguments) == 0 {
		return c.fail(node, "", `found no gene, expected names of genes in quotes`)
	}
	var genes []uint32
	for _, argument := range arguments {
		id, ok := argument.(*ast.StringNode)
		if !ok {
			return c.fail(argument, "",
				`found an expression, expected the name of a gene in quotes`)
		}
		gene, err := c.genes.Row(id.Value)
		if err != nil {
			return c.fail(argument, fault.HintOf(err), "%s", err)
		}
		genes = append(genes, gene)
	}
	return conditionPart(func(s *ingest.Sample) bool {
		for _, gene := range genes {
			if _, deleted := slices.BinarySearch(s.Genes, gene); deleted != all {
				return deleted
			}
		}
		return all
	})
}
