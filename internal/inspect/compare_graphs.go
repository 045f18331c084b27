package inspect

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"tcbuild/ingest"
)

// CompareGraphs compares two cell graphs: their nodes by id, their edges by the ids of their ends,
// and the other columns of both. Another order is reported only if nothing else differs. It keeps
// up to limit examples of each kind of difference, 0 for all. Tables that differ cost their size
// times its logarithm.
func CompareGraphs(a, b *ingest.Graph, limit int) *Differences {
	c := graphComparison{a: a, b: b, report: newDifferences(limit)}
	c.compare()
	const order = "content of the graph, such as the order of rows or columns"
	c.report.unless(order, a.StructureDigest(), b.StructureDigest())
	c.report.unless("what names of genes mean, as names/gene and graph.json say", a.Digest(),
		b.Digest())
	return c.report
}

// graphComparison compares graphs and remembers how their tables match.
type graphComparison struct {
	a, b    *ingest.Graph
	report  *Differences
	matches map[string]match // by the name of the node or edge type; of types that both have
}

func (c *graphComparison) compare() {
	c.matches = make(map[string]match)
	tablesA, tablesB := tables(c.a), tables(c.b)
	find := func(in []table, t table) int {
		return slices.IndexFunc(in, func(other table) bool { return other.name == t.name })
	}
	only := func(t table, where string) {
		c.report.add(fmt.Sprintf("%s types only in %s", strings.TrimSuffix(t.kind, "s"), where),
			func() string { return fmt.Sprintf("%s, of size %d", t.name, t.len) })
	}
	for _, a := range tablesA {
		if i := find(tablesB, a); i < 0 {
			only(a, "A")
		} else {
			c.rows(a, tablesB[i], c.match(a, tablesB[i]))
		}
	}
	for _, b := range tablesB {
		if find(tablesA, b) < 0 {
			only(b, "B")
		}
	}
}

// match pairs the rows of two tables of one name; nodes come before edges.
func (c *graphComparison) match(a, b table) match {
	if a.edges == nil {
		return matchKeys(c.a.NodesOf(a.name).IDs, c.b.NodesOf(a.name).IDs)
	}
	source, target := a.edges.Type.Ends()
	return matchEdges(a.edges, b.edges, c.matches[source], c.matches[target],
		c.b.NodesOf(source).Len(), c.b.NodesOf(target).Len())
}

type table struct {
	name    string
	kind    string // nodes or edges
	len     int
	columns []ingest.Column
	row     func(row int) string // its name
	edges   *ingest.Edges        // nil: nodes
}

// tables are the tables of a graph, nodes first.
func tables(graph *ingest.Graph) (all []table) {
	for _, nodes := range graph.NodeTables() {
		all = append(all, table{nodes.Type, "nodes", nodes.Len(), nodes.Columns,
			func(row int) string { return nodes.IDs[row] }, nil})
	}
	for _, edges := range graph.Edges {
		all = append(all, table{edges.Type.String(), "edges", edges.Len(), edges.Columns,
			func(row int) string { return edgeName(graph, edges, row) }, edges})
	}
	return all
}

func edgeName(graph *ingest.Graph, edges *ingest.Edges, row int) string {
	sources, targets := graph.Ends(edges.Type)
	return sources.IDs[edges.Src[row]] + " -> " + targets.IDs[edges.Dst[row]]
}

// rows reports how the rows of a table that both graphs have differ.
func (c *graphComparison) rows(a, b table, paired match) {
	c.matches[a.name] = paired
	what := func(end string) string { return fmt.Sprintf("%s: %s %s", a.name, a.kind, end) }
	for row, to := range paired.toB {
		if to < 0 {
			c.report.add(what("only in A"),
				func() string { return fmt.Sprintf("%s (row %d)", a.row(row), row) })
		}
	}
	for _, row := range paired.onlyB {
		c.report.add(what("only in B"),
			func() string { return fmt.Sprintf("%s (row %d)", b.row(int(row)), row) })
	}
	c.columns(a, b, paired)
}

// columns reports how the other columns differ, in the rows that both tables have.
func (c *graphComparison) columns(a, b table, paired match) {
	pairColumns(c.report, a.name+": columns", typesOf(a.columns), typesOf(b.columns),
		func(i, k int) {
			column, other := a.columns[i], b.columns[k]
			same := sameValues(column, other)
			for row := range a.len {
				if to, found := paired.rowB(row); found && !same(row, to) {
					c.report.add(fmt.Sprintf("%s: values of column %s", a.name, column.Name),
						func() string {
							return fmt.Sprintf("%s (row %d): %s in A, %s in B", a.row(row), row,
								value(column, row), value(other, to))
						})
				}
			}
		})
}

// typed is the name of a column and the type of its values.
type typed struct{ name, values string }

func typesOf(columns []ingest.Column) (all []typed) {
	for _, column := range columns {
		values, _ := ingest.TypeName(column.Values.DataType())
		all = append(all, typed{column.Name, values})
	}
	return all
}

// pairColumns calls pair with the columns of one name and type, and reports the others.
func pairColumns(report *Differences, what string, a, b []typed, pair func(a, b int)) {
	find := func(in []typed, name string) int {
		return slices.IndexFunc(in, func(column typed) bool { return column.name == name })
	}
	for i, column := range a {
		switch k := find(b, column.name); {
		case k < 0:
			report.add(what+" only in A", func() string { return column.name })
		case b[k] != column:
			report.add(what+" of another type", func() string {
				return fmt.Sprintf("%s (%s in A, %s in B)", column.name, column.values, b[k].values)
			})
		default:
			pair(i, k)
		}
	}
	for _, column := range b {
		if find(a, column.name) < 0 {
			report.add(what+" only in B", func() string { return column.name })
		}
	}
}

// sameValues reports whether row rowA of a and row rowB of b, of the same type, are equal.
func sameValues(a, b ingest.Column) func(rowA, rowB int) bool {
	appendA, appendB := a.Encoder(), b.Encoder()
	var bytesA, bytesB []byte
	return func(rowA, rowB int) bool {
		bytesA, bytesB = appendA(bytesA[:0], rowA), appendB(bytesB[:0], rowB)
		return bytes.Equal(bytesA, bytesB)
	}
}

// sameNumber reports whether two numbers are the same content: -0 differs from 0, and all missing
// values (NaN) are equal.
func sameNumber(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

func value(column ingest.Column, row int) string {
	if column.Values.IsNull(row) {
		return "missing"
	}
	text := column.Values.ValueStr(row)
	if column.Values.DataType().ID() == arrow.STRING {
		return strconv.Quote(text)
	}
	return text
}

// exact writes all digits of a number.
func exact(x float64) string {
	if math.IsNaN(x) {
		return "missing"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
