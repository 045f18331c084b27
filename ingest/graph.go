// Package ingest reads cell graphs and perturbation sets into typed values.
package ingest

import (
	"fmt"
	"sort"
	"strings"

	"tcbuild/ingest/inputfile"
)

// Node types of a cell graph.
const (
	Gene       = "gene"
	Reaction   = "reaction"
	Metabolite = "metabolite"
)

// The two edge types of the metabolic part.
var (
	GPR = EdgeType{Gene, "gpr", Reaction}       // gene -> reaction it takes part in
	RMR = EdgeType{Reaction, "rmr", Metabolite} // reaction -> metabolite it makes or uses
)

// Graph is a cell graph. It is immutable once read; all slices belong to it.
type Graph struct {
	Genes       *Nodes   // always present
	Reactions   *Nodes   // nil without a metabolic part
	Metabolites *Nodes   // nil without a metabolic part
	Edges       []*Edges // ascending by Type.String(), bytewise
}

// Nodes is one node table; a node's row is its index.
type Nodes struct {
	Type    string // Gene, Reaction or Metabolite
	IDs     []string
	Columns []Column // extra columns, such as a reaction's gpr and subsystem

	index map[string]uint32
}

// NewNodes makes a node table and its id look-up. duplicate is the row of the first id that
// occurred before, or -1 if all are unique.
func NewNodes(nodeType string, ids []string, columns []Column) (nodes *Nodes, duplicate int) {
	n := &Nodes{Type: nodeType, IDs: ids, Columns: columns, index: make(map[string]uint32, len(ids))}
	for row, id := range ids {
		if _, seen := n.index[id]; seen {
			return nil, row
		}
		n.index[id] = uint32(row)
	}
	return n, -1
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

// Column returns the texts of an extra column, or nil if the table has no text column of that name.
func (n *Nodes) Column(name string) []string {
	for _, c := range n.Columns {
		if c.Name == name {
			return c.texts()
		}
	}
	return nil
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

// Edges is one edge table in the order of its file: row = edge position.
// Src and Dst are node indices into the tables of Type.Source and Type.Target.
type Edges struct {
	Type     EdgeType
	Src, Dst []uint32
	Columns  []Column // extra columns, such as stoichiometry
}

// Len is the number of edges.
func (e *Edges) Len() int { return len(e.Src) }

// NodeTables returns the tables that exist, in canonical order: gene, reaction, metabolite.
func (g *Graph) NodeTables() []*Nodes {
	tables := []*Nodes{g.Genes}
	if g.Reactions != nil {
		tables = append(tables, g.Reactions)
	}
	if g.Metabolites != nil {
		tables = append(tables, g.Metabolites)
	}
	return tables
}

// NodesOf returns the table of a node type, or nil.
func (g *Graph) NodesOf(nodeType string) *Nodes {
	switch nodeType {
	case Gene:
		return g.Genes
	case Reaction:
		return g.Reactions
	default:
		return g.Metabolites
	}
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

// SortEdges puts the edge tables into canonical order; readers and writers of graphs call it once.
func (g *Graph) SortEdges() {
	sort.Slice(g.Edges, func(i, j int) bool { return g.Edges[i].Type.String() < g.Edges[j].Type.String() })
}

// Input identifies a file that was read, without its folder.
type Input = inputfile.Input
