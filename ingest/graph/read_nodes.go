package graph

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// nodeMeanings are the extra columns of a node table that have a meaning.
func nodeMeanings(nodeType string) map[string]columnKind {
	if nodeType == ingest.Reaction {
		return map[string]columnKind{"gpr": texts, "subsystem": texts}
	}
	return nil
}

// ReadNodes reads one node table of a dataset.
func ReadNodes(path, nodeType string) (*ingest.Nodes, error) {
	file, err := inputfile.OpenShared(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readNodes(file, nodeType)
}

// readNodes reads a node table: its ids and its extra columns.
func readNodes(file *inputfile.File, nodeType string) (*ingest.Nodes, error) {
	t, err := openGraphTable(file, "nodes")
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
		ids, err = appendIDs(ids, nodeType, t, b, at)
		return err
	})
	if err != nil {
		return nil, err
	}
	nodes, duplicate := ingest.NewNodes(nodeType, ids, columns)
	if duplicate >= 0 {
		first := slices.Index(ids, ids[duplicate])
		return nil, fault.New(fault.Input, "remove one of the two rows",
			"read nodes %s: id %q is also in %s, expected unique ids",
			t.Where(int64(duplicate)), ids[duplicate], t.Where(int64(first)))
	}
	return nodes, nil
}

func appendIDs(ids []string, nodeType string, t *graphTable, b *table.Batch, column int) ([]string, error) {
	for i := range b.Len {
		id := string(b.Text(column, i))
		if wrong, hint := WrongID(nodeType, id); wrong != "" {
			return nil, fault.New(fault.Input, hint, "read nodes %s: id %q %s", t.where(b, i), id, wrong)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// WrongID says why a text cannot be the id of a node, or returns "".
func WrongID(nodeType, id string) (wrong, hint string) {
	switch {
	case id == "":
		return "is empty", "give every node an id"
	case !utf8.ValidString(id):
		return "is not valid UTF-8", "save the file as UTF-8 text"
	case strings.TrimSpace(id) != id:
		return "begins or ends with a space", "remove the space, here and in the edge tables"
	case len(id) > 1 && id[0] == '"' && id[len(id)-1] == '"':
		return "is in quotes", ingest.QuotesHint
	case strings.ContainsFunc(id, unicode.IsControl):
		return "contains a control character", "remove it; a line break or a tab may come from another file format"
	case nodeType == ingest.Gene && strings.Contains(id, "|"):
		return "contains a |, which separates the genes of a perturbation set", "give the gene one name"
	}
	return "", ""
}
