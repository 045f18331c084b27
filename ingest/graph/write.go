package graph

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table/arrowfile"
)

const typeHint = "rename the type"

// Write writes a graph as a folder of Arrow IPC files that Read reads back unchanged:
// nodes/gene.arrow and so on, and edges with the int32 columns src_index and dst_index. Each table
// is one uncompressed record batch, so that it can be memory-mapped. The bytes depend only on the
// graph. Ids and relations that Read would not accept are a fault.Input.
func Write(dir string, g *ingest.Graph) error {
	for _, part := range []string{"nodes", "edges"} {
		if err := os.MkdirAll(filepath.Join(dir, part), 0o777); err != nil {
			return fmt.Errorf("write graph: %w", err)
		}
	}
	for _, nodes := range g.NodeTables() {
		if err := writeNodes(filepath.Join(dir, "nodes"), nodes); err != nil {
			return err
		}
	}
	if err := writeNames(dir, g); err != nil {
		return err
	}
	for _, edges := range g.Edges {
		if wrong := WrongEdgeType(edges.Type); wrong != "" {
			return fault.New(fault.Input, typeHint, "write graph: edge type %s: its %s", edges.Type,
				wrong)
		}
		path := filepath.Join(dir, "edges", edges.Type.String()+".arrow")
		ends := []ingest.Column{ingest.IndexColumn(indexColumns[0], edges.Src),
			ingest.IndexColumn(indexColumns[1], edges.Dst)}
		if err := writeTable(path, ends, edges.Columns); err != nil {
			return err
		}
	}
	return nil
}

func writeNodes(dir string, nodes *ingest.Nodes) error {
	if wrong := WrongNodeType(nodes.Type); wrong != "" {
		return fault.New(fault.Input, typeHint, "write graph: node type %s", wrong)
	}
	for row, id := range nodes.IDs {
		if err := CheckID(nodes.Type, id); err != nil {
			return fault.New(fault.Input, fault.HintOf(err), "write graph: %s %d: %w", nodes.Type,
				row, err)
		}
	}
	path := filepath.Join(dir, nodes.Type+".arrow")
	return writeTable(path, []ingest.Column{ingest.TextColumn("id", nodes.IDs)}, nodes.Columns)
}

// writeTable writes the required columns, then the extra ones, as one record batch.
func writeTable(path string, required, extra []ingest.Column) error {
	var fields []arrow.Field
	var values []arrow.Array
	for i, c := range slices.Concat(required, extra) {
		fields = append(fields,
			arrow.Field{Name: c.Name, Type: c.Values.DataType(), Nullable: i >= len(required)})
		values = append(values, c.Values)
	}
	w, err := arrowfile.Create(path, fields)
	if err != nil {
		return err
	}
	return errors.Join(w.Write(values...), w.Close())
}
