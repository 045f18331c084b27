package ingest

import (
	"slices"
	"unicode/utf8"

	"tcbuild/ingest/table"
	"tcbuild/internal/fault"
)

// nodeMeanings are the further columns of a node table that have a meaning.
func nodeMeanings(nodeType string) map[string]columnKind {
	if nodeType == Reaction {
		return map[string]columnKind{"gpr": texts, "subsystem": texts}
	}
	return nil
}

// readNodes reads a node table: its ids and its further columns.
func readNodes(path, nodeType string) (*Nodes, error) {
	t, err := openGraphTable(path, "nodes")
	if err != nil {
		return nil, err
	}
	defer t.Close()
	at, err := t.require("id", texts)
	if err != nil {
		return nil, err
	}
	if err := t.gather(nodeMeanings(nodeType)); err != nil {
		return nil, err
	}
	var ids []string
	columns, err := t.read(func(b *table.Batch) (err error) {
		ids, err = appendIDs(ids, t, b, at)
		return err
	})
	if err != nil {
		return nil, err
	}
	nodes, duplicate := NewNodes(nodeType, ids, columns)
	if duplicate >= 0 {
		first := slices.Index(ids, ids[duplicate])
		return nil, fault.New(fault.Input, "remove one of the two rows", "read nodes %s: id %q is also in %s, expected unique ids",
			t.Where(int64(duplicate)), ids[duplicate], t.Where(int64(first)))
	}
	return nodes, nil
}

// appendIDs appends a batch's ids.
func appendIDs(ids []string, t *graphTable, b *table.Batch, column int) ([]string, error) {
	for i := range b.Len {
		switch id := b.Text(column, i); {
		case len(id) == 0:
			return nil, fault.New(fault.Input, "give every node an id", "read nodes %s: the id is empty", t.where(b, i))
		case !utf8.Valid(id):
			return nil, fault.New(fault.Input, "save the file as UTF-8 text", "read nodes %s: id %q is not valid UTF-8", t.where(b, i), id)
		default:
			ids = append(ids, string(id))
		}
	}
	return ids, nil
}
