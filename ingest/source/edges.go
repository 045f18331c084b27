package source

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/internal/pairs"
)

// edgeFile is a table whose rows become edges of one or more types, in one pass.
type edgeFile struct {
	path       string
	rows       *sourceRows                           // read to their end and closed by read
	row        func(batch *table.Batch, i int) error // makes the edges of a row
	name       nameReader
	ends       [2]edgeEnd                         // sources and targets
	split      []byte                             // what separates several names in a field; empty: a field is one name
	rename     func(field []byte) ([]byte, error) // finds a gene's name in each of them; nil: it is all of it
	undirected bool
	unknown    UnknownNames
	names      *nodeNames // of genes
	kept       []keptColumn
	ablation   Ablation

	// Of a matrix: its columns of values, the number of those without a name, which are left out, and
	// whether rows are factors, with a target per column.
	values     []valueColumn
	nameless   int
	factorRows bool

	// The relations of a group, before it is made. In their names, {COLUMN} stands for the value of
	// the column groupBy, whose values have edge types of their own. If that is -1, there is one
	// group.
	relations []relation
	groupBy   int
	groups    []*edgeGroup // in order of their first rows
	byValue   map[string]*edgeGroup

	// of the row at hand
	weights []float64 // by relation
	cells   []cell    // by kept column
}

// edgeEnd is one of the two ends of a file's edges.
type edgeEnd struct {
	names   *nodeNames
	columns []int          // the first that has a name counts
	nodes   []names.Answer // of the row at hand
}

// edgeGroup is the edge types that a row makes edges of, each by a weight of its own.
type edgeGroup struct {
	relations []*relation

	rows    int
	missing missingNames
	byKind  []int // names by their kind, of those that are not gene ids
	met     *pairs.Set
	states  []pairState // of the pairs, by relation

	// Of the batch at hand: its edges wait until the genes of all are known, as looking up one pair
	// after the other, with nothing in between, takes a fraction of the time.
	edges   []edge
	weights []float64 // of each edge, by relation
	cells   []cell    // of each edge, by kept column
}

type edge struct {
	src, dst uint32
	pair     int // its number
	meeting  pairs.Meeting
}

// nameReader reads the name of a gene from a field; the bytes are valid as long as the batch. An
// error says what was found and expected.
type nameReader func(batch *table.Batch, column, i int) (name []byte, err error)

// read reads the file into a table for each relation of its groups, in order, and closes it. It
// takes some 25 bytes per pair of nodes and 16 more per relation, and the columns that are kept.
func (f *edgeFile) read() (tables []*ingest.Edges, reports ingest.Accounts, err error) {
	f.byValue = make(map[string]*edgeGroup)
	if f.groupBy < 0 {
		f.groups = []*edgeGroup{f.newGroup("")}
	}
	f.rows.after = func() {
		for _, g := range f.groups {
			g.addEdges(len(f.kept))
		}
	}
	var read ingest.Account // of all relations
	if err := f.rows.each("edges", &read, f.row); err != nil {
		return nil, nil, err
	}
	for _, g := range f.groups {
		for _, r := range g.relations {
			table, report, err := f.finish(g, r)
			if err != nil {
				return nil, nil, err
			}
			tables, reports = append(tables, table), append(reports, report)
		}
	}
	if len(reports) == 0 {
		return nil, nil, fault.New(fault.Input, "check that it is the right file, and check the setting where",
			"read edges %s: kept 0 of %s, expected at least one", f.path, ingest.Plural(read.Rows, "row", ""))
	}
	reports[0].Add(ingest.NamelessColumn, "", f.nameless)
	return tables, reports, nil
}

// newGroup makes a group whose edge types have a text in their names.
func (f *edgeFile) newGroup(text string) *edgeGroup {
	g := &edgeGroup{met: pairs.New(f.undirected), byKind: make([]int, len(f.names.Labels()))}
	if f.ends[0].names != f.ends[1].names {
		g.missing.what = "nodes"
	}
	for _, r := range f.relations {
		if before, by, after := cutPlaceholder(r.kind.Relation); by != "" {
			r.kind.Relation = before + text + after
		}
		for _, column := range f.kept {
			r.kept = append(r.kept, column.builder())
		}
		g.relations = append(g.relations, &r)
	}
	return g
}

// tableRow makes the edges of a row of an edge table.
func (f *edgeFile) tableRow(batch *table.Batch, i int) error {
	g, err := f.group(batch, i)
	if err != nil {
		return err
	}
	if err := f.readValues(g, batch, i); err != nil {
		return err
	}
	for end := range f.ends {
		if err := f.readEnds(g, &f.ends[end], batch, i); err != nil {
			return err
		}
	}
	for _, src := range f.ends[0].nodes {
		for _, dst := range f.ends[1].nodes {
			f.add(g, src, dst)
		}
	}
	return nil
}

// add counts an edge of the row, and keeps it for addEdges unless it lacks a node.
func (f *edgeFile) add(g *edgeGroup, src, dst names.Answer) {
	g.rows++
	if !g.missing.count(worse(src.Meaning, dst.Meaning)) {
		g.edges = append(g.edges, edge{src: src.Gene, dst: dst.Gene})
		g.weights, g.cells = append(g.weights, f.weights...), append(g.cells, f.cells...)
	}
}

// addEdges adds the edges of a batch to the relations, each with a number of kept columns.
func (g *edgeGroup) addEdges(kept int) {
	for i := range g.edges {
		e := &g.edges[i]
		e.pair, e.meeting = g.met.Meet(e.src, e.dst)
	}
	n := len(g.relations)
	for i, e := range g.edges {
		if e.meeting == pairs.First {
			for range n {
				g.states = push(g.states, pairState{})
			}
		}
		for k, r := range g.relations {
			r.add(e.src, e.dst, g.weights[i*n+k], g.cells[i*kept:(i+1)*kept], &g.states[e.pair*n+k], e.meeting)
		}
	}
	g.edges, g.weights, g.cells = g.edges[:0], g.weights[:0], g.cells[:0]
}

// group returns the group that a row belongs to.
func (f *edgeFile) group(batch *table.Batch, i int) (*edgeGroup, error) {
	if f.groupBy < 0 {
		return f.groups[0], nil
	}
	value := batch.Text(f.groupBy, i)
	if g := f.byValue[string(value)]; g != nil {
		return g, nil
	}
	if batch.Missing(f.groupBy, i) {
		return nil, f.in(f.groupBy, fault.New(fault.Input, "drop such rows with where: not missing(…)",
			"found no value, expected one for the name of the edge type"))
	}
	g := f.newGroup(notInNames.ReplaceAllString(string(value), "_"))
	made := g.relations[0].kind
	if slices.ContainsFunc(f.groups, func(other *edgeGroup) bool { return other.relations[0].kind == made }) {
		return nil, f.in(f.groupBy, fmt.Errorf("found %q, whose edge type %s another value has as well", value, made.Relation))
	}
	if !relationName.MatchString(made.Relation) {
		return nil, f.in(f.groupBy, fmt.Errorf("found %q, expected what the name of an edge type can contain: letters, digits, . and -", value))
	}
	f.byValue[string(value)] = g
	f.groups = append(f.groups, g)
	return g, nil
}

// readEnds finds the nodes of an end of a row.
func (f *edgeFile) readEnds(g *edgeGroup, end *edgeEnd, batch *table.Batch, i int) error {
	var field []byte
	var column int
	var err error
	for _, column = range end.columns {
		if field, err = f.name(batch, column, i); err != nil {
			return f.in(column, err)
		}
		if len(field) > 0 && string(field) != "-" {
			break
		}
	}
	end.nodes = end.nodes[:0]
	for more := true; more; {
		name := field
		if len(f.split) > 0 {
			name, field, more = bytes.Cut(field, f.split)
			name = bytes.TrimSpace(name)
		} else {
			more = false
		}
		if f.rename != nil && end.names == f.names {
			if name, err = f.rename(name); err != nil {
				return f.in(column, err)
			}
		}
		m := end.names.find(name)
		if m.Level >= 0 && m.Meaning == names.Gene {
			g.byKind[m.Level]++
		}
		if m, err = f.resolve(g, end.names, m, name); err != nil {
			return f.in(column, err)
		}
		end.nodes = append(end.nodes, m)
	}
	return nil
}

// resolve notes a name that means no node, or returns an error for it. A type that grows gets the
// node.
func (f *edgeFile) resolve(g *edgeGroup, nodes *nodeNames, m names.Answer, name []byte) (names.Answer, error) {
	if m.Meaning == names.Gene {
		return m, nil
	}
	if err := checkNodeID(nodes.Nodes().Type, name); err != nil {
		return m, err
	}
	switch {
	case nodes.grows:
		return nodes.grow(string(name)), nil
	case f.unknown == RefuseNames:
		return m, unknownName(nodes.Resolver, name)
	}
	g.missing.add(string(name))
	return m, nil
}

// readValues reads the weights of a row, one per relation, NaN if missing, and its kept columns.
func (f *edgeFile) readValues(g *edgeGroup, batch *table.Batch, i int) (err error) {
	f.weights, f.cells = f.weights[:0], f.cells[:0]
	for _, r := range g.relations {
		weight := math.NaN()
		if r.weight >= 0 {
			if weight, err = batch.Finite(r.weight, i); err != nil {
				return f.in(r.weight, err)
			}
		}
		f.weights = append(f.weights, weight)
	}
	for _, kept := range f.kept {
		c, err := kept.read(batch, i)
		if err != nil {
			return f.in(kept.column, err)
		}
		f.cells = append(f.cells, c)
	}
	return nil
}

// in is the error of a column.
func (f *edgeFile) in(column int, err error) error {
	return fault.New(fault.Input, fault.HintOf(err), "column %s: %w", fault.Quote(f.rows.Columns()[column]), err)
}

// missingNames collects the names without a gene.
type missingNames struct {
	what                       string         // that they should name, if not genes
	names                      map[string]int // how often each was added
	unknownRows, ambiguousRows int
}

func (m *missingNames) add(name string) {
	if m.names == nil {
		m.names = make(map[string]int)
	}
	m.names[name]++
}

// lose counts a row that is dropped for a name.
func (m *missingNames) lose(name string, result names.Meaning) {
	m.add(name)
	m.count(result)
}

// account adds to a report the rows of names without a gene, and the names.
func (m *missingNames) account(r *ingest.Account) {
	r.Names = m.names
	unknown := ingest.UnknownGene
	if m.what != "" {
		unknown = ingest.UnknownNode
	}
	r.Add(unknown, m.what, m.unknownRows)
	r.Add(ingest.AmbiguousName, "", m.ambiguousRows)
}

// count counts a row by what was found for the worse of its names, and reports whether that is no
// gene.
func (m *missingNames) count(worse names.Meaning) bool {
	switch worse {
	case names.Gene:
		return false
	case names.Ambiguous:
		m.ambiguousRows++
	default:
		m.unknownRows++
	}
	return true
}

// worse is the meaning that counts for an edge of two names: ambiguous, then unknown.
func worse(a, b names.Meaning) names.Meaning {
	if a == names.Gene || b == names.Ambiguous {
		return b
	}
	return a
}
