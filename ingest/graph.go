// Package ingest has the types into which inputs are read: cell graphs, and samples, which a
// perturbation set streams in batches.
package ingest

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

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
	OtherGenes  *Nodes // genes that names may mean, and that are not in the graph; nil: none
	IgnoreCase  bool   // names that differ by case are the same
	NameSources []NameSource
}

// NameSource is a file that gave the genes of a graph their names.
type NameSource struct {
	Input
	Source  string `json:"source,omitempty"`  // the public source, such as sgd_features
	Address string `json:"address,omitempty"` // of the release, where the settings have it
}

// Nodes is one node table; a node's row is its index.
type Nodes struct {
	Type    string
	IDs     []string
	Columns []Column // extra columns, such as a reaction's gpr and subsystem
	LeftOut []string // unnamed index columns of the file

	index map[string]uint32
}

// NewNodes makes a node table and its id look-up. duplicate is the row of the first id that
// occurred before, or -1 if all are unique.
func NewNodes(nodeType string, ids []string, columns []Column) (nodes *Nodes, duplicate int) {
	n := &Nodes{Type: nodeType, IDs: ids, Columns: columns,
		index: make(map[string]uint32, len(ids))}
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

// Column returns the texts of an extra column, or nil if the table has no text column of that name,
// or is nil.
func (n *Nodes) Column(name string) []string {
	if n == nil {
		return nil
	}
	for _, c := range n.Columns {
		if c.Name == name {
			return c.texts()
		}
	}
	return nil
}

// Texts returns the texts of each row in an extra column of texts, or of lists of them; nil if the
// table has no such column, or is nil.
func (n *Nodes) Texts(name string) [][]string {
	if n == nil {
		return nil
	}
	for _, c := range n.Columns {
		if c.Name == name {
			return c.lists()
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
	sort.Slice(g.Others, func(i, j int) bool { return g.Others[i].Type < g.Others[j].Type })
	sort.Slice(g.Edges,
		func(i, j int) bool { return g.Edges[i].Type.String() < g.Edges[j].Type.String() })
}

// Input identifies a file that was read, without its folder.
type Input = inputfile.Input

// Digest is the hex SHA-256 of the graph's content. It depends on the types, ids, edges, extra
// columns and names in order, not on the files that held them. It hashes these bytes, with
// little-endian integers and each text as its length in bytes (uint64) and its UTF-8 bytes:
//
//	text "tcbuild graph 2"
//	uint64 number of node tables; each, in canonical order:
//	    text type; uint64 n; n ids (text); columns
//	uint64 number of edge tables; each, ascending by name:
//	    text name; uint64 n; n sources (uint32); n targets (uint32); columns
//	if names may mean other genes, or the graph ignores case:
//	    text "names"; uint64 1 if it ignores case, or 0
//	    uint64 n; n ids (text) of other genes; columns
//
//	columns: uint64 number; each:
//	    text name; text type, as TypeName writes it; n values, as Column.Encoder writes them
//
// The cost is one pass over the graph's memory.
func (g *Graph) Digest() string { return g.digest(true) }

// StructureDigest is Digest without what only says what names mean: the columns name and aliases of
// genes, other genes, and case. Masks do not depend on them.
func (g *Graph) StructureDigest() string { return g.digest(false) }

func (g *Graph) digest(names bool) string {
	sum := sha256.New()
	w := digester{bufio.NewWriterSize(sum, 64<<10)}
	w.text("tcbuild graph 2")
	tables := g.NodeTables()
	w.uint64(uint64(len(tables)))
	for _, nodes := range tables {
		w.text(nodes.Type)
		columns := nodes.Columns
		if !names {
			columns = nodes.withoutNames()
		}
		w.nodes(nodes, columns)
	}
	w.uint64(uint64(len(g.Edges)))
	for _, edges := range g.Edges {
		w.text(edges.Type.String())
		w.uint64(uint64(edges.Len()))
		w.uint32s(edges.Src)
		w.uint32s(edges.Dst)
		w.columns(edges.Columns)
	}
	if names && (g.OtherGenes != nil || g.IgnoreCase) {
		w.text("names")
		ignoreCase := uint64(0)
		if g.IgnoreCase {
			ignoreCase = 1
		}
		w.uint64(ignoreCase)
		others := cmp.Or(g.OtherGenes, new(Nodes))
		w.nodes(others, others.Columns)
	}
	w.Flush() // a hash never fails
	return hex.EncodeToString(sum.Sum(nil))
}

// withoutNames returns the columns, but for those that say what names of genes mean.
func (n *Nodes) withoutNames() (columns []Column) {
	for _, c := range n.Columns {
		isName := n.Type == Gene && (c.Name == NameColumn || c.Name == AliasesColumn)
		if !isName || c.lists() == nil {
			columns = append(columns, c)
		}
	}
	return columns
}

// digester writes the serialisation. Its writes cannot fail, because a hash's cannot.
type digester struct{ *bufio.Writer }

func (w digester) uint64(n uint64) {
	w.Write(binary.LittleEndian.AppendUint64(w.AvailableBuffer(), n))
}

func (w digester) uint32s(values []uint32) { w.Write(arrow.Uint32Traits.CastToBytes(values)) }

func (w digester) nodes(nodes *Nodes, columns []Column) {
	w.uint64(uint64(nodes.Len()))
	for _, id := range nodes.IDs {
		w.text(id)
	}
	w.columns(columns)
}

func (w digester) text(text string) {
	w.uint64(uint64(len(text)))
	w.WriteString(text)
}

func (w digester) columns(columns []Column) {
	w.uint64(uint64(len(columns)))
	for _, c := range columns {
		name, _ := TypeName(c.Values.DataType())
		w.text(c.Name)
		w.text(name)
		appendValue := c.Encoder()
		for row := range c.Values.Len() {
			w.Write(appendValue(w.AvailableBuffer(), row))
		}
	}
}
