// Package ingest has the types into which inputs are read: cell graphs, and samples, which a
// perturbation set streams in batches.
package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tcbuild/ingest/inputfile"
)

// Node types with a meaning. A graph may have others, whose nodes are never removed.
const (
	Gene       = "gene"
	Reaction   = "reaction"
	Metabolite = "metabolite"
)

// Columns of genes with a meaning, if they hold texts: the name by which a gene is called, and a
// list of further ones.
const (
	NameColumn    = "name"
	AliasesColumn = "aliases"
)

// Edge types of the metabolic part with a meaning.
var (
	GPR = EdgeType{Gene, "gpr", Reaction}            // gene -> reaction it takes part in
	RMR = EdgeType{Reaction, "rmr", Metabolite}      // reaction -> metabolite it makes or uses
	MRM = EdgeType{Metabolite, Reaction, Metabolite} // metabolite -> reaction, a hyperedge
)

// Graph is a cell graph. It is immutable once read; all slices belong to it.
type Graph struct {
	Genes       *Nodes   // always present
	Reactions   *Nodes   // nil without a metabolic part
	Metabolites *Nodes   // nil without a metabolic part
	Others      []*Nodes // of other types, ascending by type, bytewise
	Edges       []*Edges // ascending by Type.String(), bytewise

	// What names mean: see package names.
	OtherGenes *Nodes // genes that names may mean, and that are not in the graph; nil: none
	IgnoreCase bool   // names that differ by case are the same
}

// Nodes is one node table; a node's row is its index.
type Nodes struct {
	Type    string
	IDs     []string
	Columns []Column // extra columns, such as a reaction's gpr and subsystem
	LeftOut []string // unnamed index columns of the file

	index map[string]uint32
}

// RepeatedID is an id that two rows of a node table have.
type RepeatedID struct {
	ID           string
	First, Again int64
}

// NewNodes makes a node table and its id look-up. repeated is the first id that occurs again; nil
// if all are unique.
func NewNodes(
	nodeType string, ids []string, columns []Column,
) (nodes *Nodes, repeated *RepeatedID) {
	n := &Nodes{Type: nodeType, IDs: ids, Columns: columns,
		index: make(map[string]uint32, len(ids))}
	for row, id := range ids {
		if first, seen := n.index[id]; seen {
			return nil, &RepeatedID{id, int64(first), int64(row)}
		}
		n.index[id] = uint32(row)
	}
	return n, nil
}

// Len is the number of nodes; 0 for a nil table.
func (n *Nodes) Len() int {
	if n == nil {
		return 0
	}
	return len(n.IDs)
}

// Index returns the row of an id.
func (n *Nodes) Index(id string) (row uint32, ok bool) {
	row, ok = n.index[id]
	return row, ok
}

// IndexBytes is Index for bytes; it does not allocate.
func (n *Nodes) IndexBytes(id []byte) (row uint32, ok bool) {
	row, ok = n.index[string(id)]
	return row, ok
}

// Column returns the texts of an extra column, or nil if the table has no text column of that name,
// or is nil.
func (n *Nodes) Column(name string) []string { return n.column(name).texts() }

// Texts returns the texts of each row in an extra column of texts, or of lists of them; nil if the
// table has no such column, or is nil.
func (n *Nodes) Texts(name string) [][]string { return n.column(name).lists() }

// column returns the extra column of a name, or an empty one.
func (n *Nodes) column(name string) (found Column) {
	if n == nil {
		return found
	}
	for _, c := range n.Columns {
		if c.Name == name {
			return c
		}
	}
	return found
}

// EdgeType names the edges of one edge file.
type EdgeType struct{ Source, Relation, Target string }

// String is the name used for files and masks: source__relation__target.
func (t EdgeType) String() string { return t.Source + "__" + t.Relation + "__" + t.Target }

// ParseEdgeType splits a name source__relation__target.
func ParseEdgeType(name string) (EdgeType, error) {
	source, rest, ok := strings.Cut(name, "__")
	cut := strings.LastIndex(rest, "__")
	if !ok || cut < 1 {
		return EdgeType{}, fmt.Errorf("found edge type %q, expected source__relation__target", name)
	}
	return EdgeType{Source: source, Relation: rest[:cut], Target: rest[cut+2:]}, nil
}

// Ends are the node types of an edge's source and target. They are those in its name, except for
// metabolite__reaction__metabolite, which is a hyperedge table: a row says that its source, a
// metabolite, is part of its target, a reaction.
func (t EdgeType) Ends() (source, target string) {
	if t == MRM {
		return Metabolite, Reaction
	}
	return t.Source, t.Target
}

// Edges is one edge table in the order of its file: row = edge position.
// Src and Dst are node indices into the tables of Type.Ends.
type Edges struct {
	Type     EdgeType
	Src, Dst []uint32
	Columns  []Column // extra columns, such as stoichiometry
	LeftOut  []string // unnamed index columns of the file
}

// Len is the number of edges.
func (e *Edges) Len() int { return len(e.Src) }

// LeftOut lists the columns of the graph's files that the graph leaves out.
func (g *Graph) LeftOut() (columns []string) {
	for _, nodes := range g.NodeTables() {
		for _, name := range nodes.LeftOut {
			columns = append(columns, "nodes/"+nodes.Type+" "+name)
		}
	}
	for _, edges := range g.Edges {
		for _, name := range edges.LeftOut {
			columns = append(columns, "edges/"+edges.Type.String()+" "+name)
		}
	}
	return columns
}

// NodeTables returns the tables that exist, in canonical order: gene, reaction, metabolite, then
// others by type.
func (g *Graph) NodeTables() []*Nodes {
	tables := []*Nodes{g.Genes}
	if g.Reactions != nil {
		tables = append(tables, g.Reactions)
	}
	if g.Metabolites != nil {
		tables = append(tables, g.Metabolites)
	}
	return append(tables, g.Others...)
}

// Size counts the nodes and the edges of all types, which together are the mask positions.
func (g *Graph) Size() (nodes, edges int) {
	for _, table := range g.NodeTables() {
		nodes += table.Len()
	}
	for _, table := range g.Edges {
		edges += table.Len()
	}
	return nodes, edges
}

// NodesOf returns the table of a node type, or nil.
func (g *Graph) NodesOf(nodeType string) *Nodes {
	for _, nodes := range g.NodeTables() {
		if nodes.Type == nodeType {
			return nodes
		}
	}
	return nil
}

// Ends returns the tables of the nodes that an edge type connects.
func (g *Graph) Ends(t EdgeType) (sources, targets *Nodes) {
	source, target := t.Ends()
	return g.NodesOf(source), g.NodesOf(target)
}

// EdgesOf returns the edges of a type, or nil.
func (g *Graph) EdgesOf(t EdgeType) *Edges {
	for _, e := range g.Edges {
		if e.Type == t {
			return e
		}
	}
	return nil
}

// Sort puts the tables into canonical order; readers and writers of graphs call it once.
func (g *Graph) Sort() {
	slices.SortFunc(g.Others, func(a, b *Nodes) int { return cmp.Compare(a.Type, b.Type) })
	slices.SortFunc(g.Edges,
		func(a, b *Edges) int { return cmp.Compare(a.Type.String(), b.Type.String()) })
}

// Input identifies a file that was read, without its folder.
type Input = inputfile.Input
