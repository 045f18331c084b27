package ingest

import (
	"io"
	"slices"
	"unicode/utf8"

	"tcbuild/ingest/table"
	"tcbuild/internal/fault"
)

// readNodes reads a node table: its ids and its further columns.
func readNodes(path, nodeType string) (*Nodes, error) {
	var nodes *Nodes
	columns, err := readCarried(path, "nodes", []string{"id"}, func(r *table.Reader, carry func(*table.Batch) error) error {
		ids, err := readIDs(r, carry)
		if err != nil {
			return err
		}
		var duplicate int
		if nodes, duplicate = NewNodes(nodeType, ids, nil); duplicate >= 0 {
			first := slices.Index(ids, ids[duplicate])
			return fault.New(fault.Input, "remove one of the two rows", "read nodes %s: id %q is also in %s, expected unique ids",
				r.Where(int64(duplicate)), ids[duplicate], r.Where(int64(first)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	nodes.Columns = columns
	return nodes, nil
}

// readIDs reads the id column to its end.
func readIDs(r *table.Reader, carry func(*table.Batch) error) ([]string, error) {
	column := slices.Index(r.Columns(), "id")
	var ids []string
	for {
		b, err := r.Next()
		if err == io.EOF {
			return ids, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range b.Len {
			switch id := b.Text(column, i); {
			case len(id) == 0:
				return nil, fault.New(fault.Input, "give every node an id", "read nodes %s: the id is empty", r.Where(b.First+int64(i)))
			case !utf8.Valid(id):
				return nil, fault.New(fault.Input, "save the file as UTF-8 text", "read nodes %s: id %q is not valid UTF-8", r.Where(b.First+int64(i)), id)
			}
		}
		ids = appendTexts(ids, b, column)
		if err := carry(b); err != nil {
			return nil, err
		}
	}
}
