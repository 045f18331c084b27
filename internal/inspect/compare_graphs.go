package inspect

import (
	"bytes"
	"fmt"
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
	values := func(pair columnPair[int]) {
		for row := range a.len {
			if to, found := paired.rowB(row); found && !pair.same(row, to) {
				c.report.add(fmt.Sprintf("%s: values of column %s", a.name, pair.a.name),
					func() string {
						return fmt.Sprintf("%s (row %d): %s", a.row(row), row, pair.texts(row, to))
					})
			}
		}
	}
	pairColumns(c.report, a.name+": columns", tableColumns(a), tableColumns(b), values)
}

// column is a column of A or B, whose rows are numbers of rows, or samples.
type column[Row any] struct {
	name, values string                           // values: their type
	key          func(dst []byte, row Row) []byte // appends what equal values share
	text         func(row Row) string
}

func tableColumns(t table) (all []column[int]) {
	for _, c := range t.columns {
		values, _ := ingest.TypeName(c.Values.DataType())
		all = append(all, column[int]{c.Name, values, c.Encoder(),
			func(row int) string { return value(c, row) }})
	}
	return all
}

// columnPair is the columns of one name and type. It is for one goroutine.
type columnPair[Row any] struct {
	a, b       column[Row]
	keyA, keyB []byte
}

func (p *columnPair[Row]) same(a, b Row) bool {
	p.keyA, p.keyB = p.a.key(p.keyA[:0], a), p.b.key(p.keyB[:0], b)
	return bytes.Equal(p.keyA, p.keyB)
}

func (p *columnPair[Row]) texts(a, b Row) string {
	return p.a.text(a) + " in A, " + p.b.text(b) + " in B"
}

// pairColumns calls pair with the columns of one name and type, and reports the others.
func pairColumns[Row any](
	report *Differences, what string, a, b []column[Row], pair func(columnPair[Row]),
) {
	find := func(in []column[Row], name string) int {
		return slices.IndexFunc(in, func(c column[Row]) bool { return c.name == name })
	}
	for _, c := range a {
		switch k := find(b, c.name); {
		case k < 0:
			report.add(what+" only in A", func() string { return c.name })
		case b[k].values != c.values:
			report.add(what+" of another type", func() string {
				return fmt.Sprintf("%s (%s in A, %s in B)", c.name, c.values, b[k].values)
			})
		default:
			pair(columnPair[Row]{a: c, b: b[k]})
		}
	}
	for _, c := range b {
		if find(a, c.name) < 0 {
			report.add(what+" only in B", func() string { return c.name })
		}
	}
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
