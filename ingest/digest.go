package ingest

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/apache/arrow/go/v17/arrow"
)

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
