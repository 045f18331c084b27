package graph

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/internal/inorder"
)

// The columns that name an edge's nodes, by id or by index.
var (
	idColumns    = []string{"src", "dst"}
	indexColumns = []string{"src_index", "dst_index"}
	// EndColumns are the names of an edge table's columns that no other column can have.
	EndColumns = slices.Concat(idColumns, indexColumns)
)

// edgeColumns returns the reserved names of an edge table's columns. Those that are typed have
// values of one kind.
func edgeColumns(edgeType ingest.EdgeType) (reserved []string, typed map[string]columnKind) {
	if edgeType == ingest.RMR || edgeType == ingest.MRM {
		return append(slices.Clone(EndColumns), "stoichiometry"),
			map[string]columnKind{"stoichiometry": numbers}
	}
	return EndColumns, nil
}

// readEdges reads an edge table. Its rows connect nodes of two tables.
func readEdges(
	file *inputfile.File, edgeType ingest.EdgeType, sources, targets *ingest.Nodes,
) (*ingest.Edges, error) {
	reserved, typed := edgeColumns(edgeType)
	t, err := openGraphTable(file, "edges", reserved...)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	has := func(names []string) bool {
		isColumn := func(name string) bool { return slices.Contains(t.names, name) }
		return slices.ContainsFunc(names, isColumn)
	}
	columns, kind, byIndex := idColumns, texts, has(indexColumns)
	switch {
	case has(idColumns) && byIndex:
		return nil, fault.New(fault.Input, "keep one pair and remove the other",
			"read edges %s: found columns of ids (src, dst) and of indices "+
				"(src_index, dst_index), expected one pair", file.Path())
	case byIndex:
		columns, kind = indexColumns, integers
	}
	src := endpoint{nodes: sources, name: columns[0], byIndex: byIndex}
	dst := endpoint{nodes: targets, name: columns[1], byIndex: byIndex}
	for _, end := range []*endpoint{&src, &dst} {
		if end.column, err = t.require(end.name, kind); err != nil {
			return nil, err
		}
		isInt32 := arrow.TypeEqual(t.Type(end.column), arrow.PrimitiveTypes.Int32)
		if end.whole = byIndex && isInt32; end.whole {
			t.KeepType(end.column)
		}
	}
	if err := t.gather(typed); err != nil {
		return nil, err
	}
	edges := &ingest.Edges{Type: edgeType, LeftOut: t.leftOut}
	edges.Columns, err = t.read(func(b *table.Batch) (err error) {
		if edges.Src, err = src.append(edges.Src, t, b); err != nil {
			return err
		}
		if edges.Dst, err = dst.append(edges.Dst, t, b); err != nil {
			return err
		}
		return checkPositions(file.Path(), len(edges.Src))
	})
	if err != nil {
		return nil, err
	}
	return edges, nil
}

// endpoint reads the source or target column of an edge table into node indices.
type endpoint struct {
	nodes   *ingest.Nodes
	column  int
	name    string
	byIndex bool
	whole   bool // int32 indices, as Write writes them, are read as whole arrays

	last      []byte // the previous id, as sources come in runs
	lastIndex uint32
}

func (e *endpoint) append(indices []uint32, t *graphTable, b *table.Batch) ([]uint32, error) {
	switch {
	case e.whole:
		return e.appendArray(indices, t, b)
	case e.byIndex:
		return e.appendIndices(indices, t, b)
	}
	return e.appendIDs(indices, t, b)
}

// appendArray takes the memory of a table's first array, which mostly is its only one.
func (e *endpoint) appendArray(indices []uint32, t *graphTable, b *table.Batch) ([]uint32, error) {
	values := b.Array(e.column).(*array.Int32)
	added := arrow.Uint32Traits.CastFromBytes(arrow.Int32Traits.CastToBytes(values.Int32Values()))
	largest := uint32(0) // a negative number is larger than any index
	for _, index := range added {
		largest = max(largest, index)
	}
	if len(values.NullBitmapBytes()) > 0 || int64(largest) >= int64(e.nodes.Len()) {
		for i, index := range values.Int32Values() {
			if missing := values.IsNull(i); missing || int64(added[i]) >= int64(e.nodes.Len()) {
				return nil, e.badIndex(t.where(b, i), int64(index), missing, nil)
			}
		}
	}
	if indices == nil {
		return slices.Clip(added), nil
	}
	return append(indices, added...), nil
}

func (e *endpoint) appendIndices(
	indices []uint32, t *graphTable, b *table.Batch,
) ([]uint32, error) {
	for i := range b.Len {
		index, missing, err := b.Integer(e.column, i)
		if err != nil || missing || uint64(index) >= uint64(e.nodes.Len()) {
			return nil, e.badIndex(t.where(b, i), index, missing, err)
		}
		indices = append(indices, uint32(index))
	}
	return indices, nil
}

func (e *endpoint) appendIDs(indices []uint32, t *graphTable, b *table.Batch) ([]uint32, error) {
	for i := range b.Len {
		id := b.Text(e.column, i)
		if len(e.last) == 0 || !bytes.Equal(id, e.last) {
			index, ok := e.nodes.IndexBytes(id)
			if !ok {
				hint := fmt.Sprintf("add it to nodes/%s, or remove the edge", e.nodes.Type)
				return nil, fault.New(fault.Input, hint,
					"read edges %s: %s %q is not in nodes/%s, expected one of its %s ids",
					t.where(b, i), e.name, id, e.nodes.Type, ingest.Grouped(e.nodes.Len()))
			}
			e.last, e.lastIndex = append(e.last[:0], id...), index
		}
		indices = append(indices, e.lastIndex)
	}
	return indices, nil
}

func (e *endpoint) badIndex(where string, index int64, missing bool, err error) error {
	found := fmt.Sprintf("found %d, expected an integer", index)
	switch {
	case err != nil:
		found = err.Error()
	case missing:
		found = "found no value, expected an integer"
	}
	return fault.New(fault.Input, "indices count the rows of the node table from 0",
		"read edges %s: %s: %s from 0 to %d, the rows of nodes/%s",
		where, e.name, found, e.nodes.Len()-1, e.nodes.Type)
}

// EdgeReport counts the unusual edges of one edge type. They are kept.
type EdgeReport struct {
	Type       ingest.EdgeType
	Edges      int // all edges
	Duplicates int // edges with the same source and target as an earlier edge
	SelfLoops  int // edges from a node to itself
}

// OddEdges counts the self loops and repeated edges of each edge type, in the order of g.Edges.
func OddEdges(g *ingest.Graph) []EdgeReport {
	reports := make([]EdgeReport, len(g.Edges))
	_ = inorder.All(len(reports), func(i int) error {
		sources, targets := g.Ends(g.Edges[i].Type)
		reports[i] = countOddEdges(g.Edges[i], sources, targets)
		return nil
	})
	return reports
}

// countOddEdges counts self loops and repeated edges, in time and memory linear in the table's
// size: it groups edges by source and marks each target with the last source that led to it.
func countOddEdges(e *ingest.Edges, sources, targets *ingest.Nodes) EdgeReport {
	report := EdgeReport{Type: e.Type, Edges: e.Len()}
	ends := make([]int, sources.Len()+1)
	for i, src := range e.Src {
		ends[src+1]++
		if src == e.Dst[i] && sources == targets {
			report.SelfLoops++
		}
	}
	for i := range sources.Len() {
		ends[i+1] += ends[i]
	}
	gathered := make([]uint32, e.Len())
	next := slices.Clone(ends)
	for i, src := range e.Src {
		gathered[next[src]] = e.Dst[i]
		next[src]++
	}
	marks := make([]uint32, targets.Len()) // 1 + source
	for src := range sources.Len() {
		for _, dst := range gathered[ends[src]:ends[src+1]] {
			if marks[dst] == uint32(src)+1 {
				report.Duplicates++
			}
			marks[dst] = uint32(src) + 1
		}
	}
	return report
}
