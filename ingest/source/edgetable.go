package source

import (
	"bytes"
	"fmt"
	"math"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// open prepares an edge table for reading.
func (t *EdgeTableSpec) open(files *inputfile.Files, loops SelfLoops) (*edgeFile, error) {
	name, err := t.nameReader(files)
	if err != nil {
		return nil, err
	}
	reader, err := t.TextSpec.open(files)
	if err != nil {
		return nil, err
	}
	edges := &relation{name: t.Relation, weight: -1, loops: loops}
	edges.keep, edges.refusal = t.condition()
	columns := []string{t.Source, t.Target}
	if t.Weight != "" {
		columns = append(columns, t.Weight)
	}
	numbers, err := findColumns(reader, t.File, columns)
	if err != nil {
		reader.Close()
		return nil, err
	}
	if t.Weight != "" {
		edges.weight = numbers[2]
		edges.carried = reader.Columns()[numbers[2]]
	}
	return &edgeFile{
		path: t.File, reader: reader, source: numbers[0], target: numbers[1],
		name: name, undirected: t.Undirected, relations: []*relation{edges},
	}, nil
}

// condition returns the condition that an edge's weight must meet, and a description of the rows
// that do not meet it.
func (t *EdgeTableSpec) condition() (keep func(weight float64) bool, refusal string) {
	switch {
	case t.isSet():
		return t.Cutoff.condition("weight")
	case t.Nonzero:
		return func(weight float64) bool { return weight != 0 && !math.IsNaN(weight) }, "with a weight of 0 or none"
	default:
		return func(float64) bool { return true }, ""
	}
}

// nameReader reads names literally or, in a table with an id list, by number.
func (t *EdgeTableSpec) nameReader(files *inputfile.Files) (nameReader, error) {
	if t.IDs == "" {
		return func(batch *table.Batch, column, i int) ([]byte, error) { return batch.Text(column, i), nil }, nil
	}
	ids, err := readIDs(files, t.IDs)
	if err != nil {
		return nil, err
	}
	return func(batch *table.Batch, column, i int) ([]byte, error) {
		number, missing, err := batch.Integer(column, i)
		if err != nil {
			return nil, err
		}
		line := number - int64(t.IndexBase)
		if missing || line < 0 || line >= int64(len(ids)) {
			return nil, fmt.Errorf("found %q, expected a number from %d to %d, as %s has %s ids",
				batch.Text(column, i), t.IndexBase, len(ids)-1+t.IndexBase, t.IDs, grouped(len(ids)))
		}
		return ids[line], nil
	}, nil
}

// readIDs reads a file with an id per line.
func readIDs(files *inputfile.Files, path string) ([][]byte, error) {
	reader, err := openTable(files, path, table.TextOptions{Delimiter: '\t', Columns: []string{"id"}})
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	var ids [][]byte
	err = eachRow(reader, func(batch *table.Batch, i int) error {
		id := batch.Text(0, i)
		if len(id) == 0 {
			return fault.New(fault.Input, "", "read ids %s: the line is empty, expected an id", reader.Where(batch.First+int64(i)))
		}
		ids = append(ids, bytes.Clone(id))
		return nil
	})
	return ids, err
}
