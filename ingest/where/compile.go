package where

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// Genes finds genes by their names.
type Genes interface {
	// Row returns the gene that a name means. Its error says why it means none.
	Row(name string) (gene uint32, err error)
}

// Compile makes a filter of an expression about samples with these columns, which delete some of
// these genes. A mistake in it is a fault.Usage that names its place. Messages name the ignored
// columns too: see Names.
func Compile(text string, columns ingest.Columns, genes Genes) (*Filter, error) {
	return compile("read --where", text, func(ast.Node) *compiler {
		return &compiler{columns: columns, genes: genes, others: columns.Ignored}
	})
}

// Names are the columns that an expression names. One with a mistake, which Compile reports, has
// none.
func Names(text string) []string {
	if len(text) > maxLength {
		return nil
	}
	tree, err := parser.ParseWithConfig(text, newConfig())
	if err != nil {
		return nil
	}
	named := inference{kinds: make(map[string]ingest.AttributeType)}
	named.kind(tree.Node, "")
	delete(named.kinds, sampleIDName)
	return slices.Sorted(maps.Keys(named.kinds))
}

// CompileRows makes a filter of an expression about the rows of a table with these columns. It
// returns which of them the expression has: they are the attributes of the samples that it is asked
// about, of the type that the expression needs. what begins messages. A mistake is a fault.Usage.
func CompileRows(what, text string, names []string) (*Filter, []ingest.Attribute, error) {
	var used []ingest.Attribute
	filter, err := compile(what, text, func(tree ast.Node) *compiler {
		used = infer(tree, names)
		return &compiler{columns: ingest.Columns{Attributes: used}, others: names}
	})
	return filter, used, err
}

// compile makes a filter of an expression with the compiler of its tree.
func compile(what, written string, compilerOf func(tree ast.Node) *compiler) (*Filter, error) {
	if strings.TrimSpace(written) == "" {
		return nil, fault.New(fault.Usage, exampleHint, "%s: found no expression", what)
	}
	if len(written) > maxLength {
		return nil, fault.New(fault.Usage, "filter by an attribute",
			"%s: found an expression of %s bytes, expected at most %s",
			what, ingest.Grouped(len(written)), ingest.Grouped(maxLength))
	}
	tree, err := parser.ParseWithConfig(written, newConfig())
	if err != nil {
		return nil, located(what, written, err, syntaxHint)
	}
	c := compilerOf(tree.Node)
	c.written, c.parts = []rune(written), make(map[ast.Node]part)
	keeps := c.part(tree.Node)
	switch {
	case c.err != nil:
		return nil, located(what, written, c.err.Bind(tree.Source), c.hint)
	case keeps.kind != isCondition:
		message := fmt.Sprintf("the expression is a %s, expected a comparison", keeps.kind)
		return nil, located(what, written, &file.Error{Line: 1, Message: message}, exampleHint)
	}
	return &Filter{keeps.condition}, nil
}

// newConfig is the library's configuration for the language.
func newConfig() *conf.Config {
	config := conf.CreateNew()
	expr.DisableAllBuiltins()(config)
	config.MaxNodes = 0 // bounded by maxLength
	return config
}

// maxLength is the longest expression, in bytes: as long as an argument can be on Linux. The parser
// and what comes after it are recursive, and would overflow the stack by a longer one.
const maxLength = 128 << 10

const (
	exampleHint = `write a comparison, as in fitness > 0.5 and medium == "YPD"`
	syntaxHint  = `equal is ==, decimals have a point, texts are quoted, and a column whose ` +
		`name is not made of letters, digits and _ is column("its name")`
	typesHint = `compare numbers with numbers, texts with texts: medium == "YPD", temperature == 30`
)

var unexpectedToken = regexp.MustCompile(`unexpected token [A-Za-z]+\((.*)\)`)

// inOurWords is a message of the library.
func inOurWords(message string) string {
	message = unexpectedToken.ReplaceAllString(message, "found $1")
	return strings.ReplaceAll(message, "unexpected token EOF",
		"the expression ends after this, expected more")
}

// located is a mistake in an expression, with its place. Columns count characters from 1.
func located(what, text string, err error, hint string) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return fault.New(fault.Usage, hint, "%s: %s", what, inOurWords(err.Error()))
	}
	place := fmt.Sprintf("column %d", at.Column+1)
	lines := strings.Split(text, "\n")
	if len(lines) > 1 {
		place = fmt.Sprintf("line %d, %s", at.Line, place)
	}
	rest := []rune(lines[max(at.Line, 1)-1])
	rest = rest[min(at.Column, len(rest)):]
	if len(rest) > 0 {
		place += ", at " + fault.Quote(string(rest))
	}
	return fault.New(fault.Usage, hint, "%s: %s: %s", what, place, inOurWords(at.Message))
}
