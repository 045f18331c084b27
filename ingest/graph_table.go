package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// graphTable reads a table of a graph: the required columns, which readNodes and readEdges take
// from each batch, and the extra ones, which it collects itself.
type graphTable struct {
	*table.Reader
	path, what string // what is "nodes" or "edges"
	required   []string
	extra      []extraColumn
}

// extraColumn collects an extra column, a batch at a time.
type extraColumn struct {
	name   string
	at     int            // index in the table
	values arrow.DataType // type of the chunks
	take   func(t *graphTable, b *table.Batch, at int) (arrow.Array, error)
	chunks []arrow.Array
}

func openGraphTable(file *inputfile.File, what string) (*graphTable, error) {
	r, err := table.OpenFile(file, table.TextOptions{})
	if err != nil {
		return nil, err
	}
	return &graphTable{Reader: r, path: file.Path(), what: what}, nil
}

// require finds a required column and checks the kind of its values.
func (t *graphTable) require(name string, kind columnKind) (at int, err error) {
	if at = slices.Index(t.Columns(), name); at < 0 {
		return 0, fault.New(fault.Input, fmt.Sprintf("add the column, or rename one to %s", name),
			"read %s %s: found columns %s, expected %s", t.what, t.path, strings.Join(t.Columns(), ", "), name)
	}
	t.required = append(t.required, name)
	return at, t.check(at, kind)
}

// gather prepares all columns except the required ones; meanings are the kinds of those with a
// meaning.
func (t *graphTable) gather(meanings map[string]columnKind) error {
	for at, name := range t.Columns() {
		if slices.Contains(t.required, name) {
			continue
		}
		kind := meanings[name]
		if err := t.check(at, kind); err != nil {
			return err
		}
		column := extraColumn{name: name, at: at}
		switch kind {
		case texts:
			column.values, column.take = arrow.BinaryTypes.String, takeTexts
		case numbers:
			column.values, column.take = arrow.PrimitiveTypes.Float64, takeNumbers
		default:
			t.KeepType(at)
			column.values, column.take = t.Type(at), takeTyped
		}
		t.extra = append(t.extra, column)
	}
	return nil
}

// read reads the table to its end and passes each batch to required.
func (t *graphTable) read(required func(b *table.Batch) error) ([]Column, error) {
	for b, err := range t.Batches() {
		if err != nil {
			return nil, err
		}
		if err := required(b); err != nil {
			return nil, err
		}
		for i := range t.extra {
			c := &t.extra[i]
			chunk, err := c.take(t, b, c.at)
			if err != nil {
				return nil, err
			}
			c.chunks = append(c.chunks, chunk)
		}
	}
	return t.columns()
}

// columns returns the complete extra columns.
func (t *graphTable) columns() ([]Column, error) {
	var columns []Column
	for _, c := range t.extra {
		if len(c.chunks) == 0 {
			c.chunks = []arrow.Array{array.MakeFromData(noValues(c.values))}
		}
		values, err := array.Concatenate(c.chunks, memory.DefaultAllocator)
		if err != nil {
			return nil, fault.New(fault.Input, "store texts of more than 2 GiB as large_utf8 in an Arrow file, or remove the column",
				"read %s %s: column %q of type %s: %w", t.what, t.path, c.name, c.values, err)
		}
		columns = append(columns, Column{c.name, values})
	}
	return columns, nil
}

// noValues is the data of an array without values. The library's builders lack some types.
func noValues(t arrow.DataType) arrow.ArrayData {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, 8))} // no bitmap, and the offset 0
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return array.NewDataWithDictionary(t, 0, buffers, 0, 0, noValues(t.ValueType).(*array.Data))
	case arrow.NestedType:
		var fields []arrow.ArrayData
		for _, field := range t.Fields() {
			fields = append(fields, noValues(field.Type))
		}
		return array.NewData(t, 0, buffers[:len(t.Layout().Buffers)], fields, 0, 0)
	}
	return array.NewBuilder(memory.DefaultAllocator, t).NewArray().Data()
}

// where names a row of a batch, for messages.
func (t *graphTable) where(b *table.Batch, i int) string { return t.Where(b.First + int64(i)) }
