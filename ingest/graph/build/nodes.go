package build

import (
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// nodeRow is an id and its row in the table.
type nodeRow struct {
	id  string
	row int64
}

// readNodes reads a table of nodes: genes ascending bytewise, others in the order of their rows.
func readNodes(
	files *inputfile.Files, spec NodesSpec, account *ingest.Account,
) (*ingest.Nodes, error) {
	columns := append([]string{spec.Column}, slices.Sorted(maps.Keys(spec.Keep))...)
	rows, numbers, err := where.OpenTable(files, spec.TextSpec, spec.RowsSpec, columns...)
	if err != nil {
		return nil, err
	}
	kept, err := networks.NewKept(rows.Reader, numbers[1:], spec.Keep, spec.Place, "id")
	if err != nil {
		rows.Close()
		return nil, err
	}
	builders := make([]array.Builder, len(kept))
	for k := range kept {
		builders[k] = kept[k].Builder()
	}
	var read []nodeRow
	err = rows.Each(account.Made, account, func(batch *table.Batch, i int) error {
		id := batch.Text(numbers[0], i)
		read = append(read, nodeRow{string(id), batch.First + int64(i)})
		for k, column := range kept {
			value, err := column.Read(batch, i)
			if err != nil {
				return err
			}
			value.AppendTo(builders[k])
		}
		if err := graph.CheckID(spec.Type, string(id)); err != nil {
			return fault.New(fault.Input, fault.HintOf(err), "column %q: %w", spec.Column, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(read) == 0 {
		return nil, fault.New(fault.Input, "",
			"read %s %s: found no %s in %s, expected at least one", account.Made, spec.File,
			account.Made, ingest.Plural(account.Rows, "row", ""))
	}
	if spec.Type == ingest.Gene {
		slices.SortStableFunc(read, func(a, b nodeRow) int { return strings.Compare(a.id, b.id) })
	}
	ids := make([]string, len(read))
	for k := range read {
		ids[k] = read[k].id
	}
	var values []ingest.Column
	for k, column := range kept {
		values = append(values, ingest.Column{Name: column.Name, Values: builders[k].NewArray()})
	}
	nodes, repeated := ingest.NewNodes(spec.Type, ids, values)
	if repeated != nil {
		return nil, fault.New(fault.Input, "remove one of them",
			"read %s %s: found %s %q twice, first at %s", account.Made,
			rows.Where(read[repeated.Again].row), spec.Type, repeated.ID,
			rows.Where(read[repeated.First].row))
	}
	account.Kept = nodes.Len()
	return nodes, nil
}
