package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// graphTable reads a table of a graph: the required columns, which readNodes and readEdges take
// from each batch, and the extra ones, which it collects itself.
type graphTable struct {
	*table.Reader
	path, what string // what is "nodes" or "edges"
	// names are the columns' names; those that mean a reserved one are that, such as src for Src
	names    []string
	required []string
	extra    []extraColumn
	leftOut  []string
}

// extraColumn collects an extra column, a batch at a time.
type extraColumn struct {
	name   string
	at     int            // index in the table
	values arrow.DataType // type of the chunks
	take   func(t *graphTable, b *table.Batch, at int) (arrow.Array, error)
	chunks []arrow.Array
}

// openGraphTable opens a table some of whose column names are reserved.
func openGraphTable(file *inputfile.File, what string, reserved ...string) (*graphTable, error) {
	r, err := table.OpenFile(file)
	if err != nil {
		return nil, err
	}
	t := &graphTable{Reader: r, path: file.Path(), what: what, names: slices.Clone(r.Columns())}
	for _, name := range reserved {
		at, found, err := ingest.FindReserved(r.Columns(), name)
		if err != nil {
			r.Close()
			return nil, fault.New(fault.Input, fault.HintOf(err), "read %s %s: %w", what, t.path,
				err)
		}
		if found {
			t.names[at] = name
		}
	}
	return t, nil
}

// require finds a required column and checks the kind of its values.
func (t *graphTable) require(name string, kind columnKind) (at int, err error) {
	if at = slices.Index(t.names, name); at < 0 {
		return 0, fault.New(fault.Input, fmt.Sprintf("add the column, or rename one to %s", name),
			"read %s %s: found columns %s, expected %s",
			t.what, t.path, strings.Join(t.Columns(), ", "), name)
	}
	t.required = append(t.required, name)
	return at, t.check(at, kind)
}

// gather prepares all columns except the required ones; meanings are the kinds of those with a
// meaning.
func (t *graphTable) gather(meanings map[string]columnKind) error {
	indexes := t.Indexes()
	for at, name := range t.names {
		if slices.Contains(t.required, name) {
			continue
		}
		if indexes[t.Columns()[at]] {
			t.leftOut = append(t.leftOut, name)
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
func (t *graphTable) read(required func(b *table.Batch) error) ([]ingest.Column, error) {
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
func (t *graphTable) columns() ([]ingest.Column, error) {
	var columns []ingest.Column
	for _, c := range t.extra {
		if len(c.chunks) == 0 {
			c.chunks = []arrow.Array{array.MakeFromData(noValues(c.values))}
		}
		values, err := array.Concatenate(c.chunks, memory.DefaultAllocator)
		if err != nil {
			return nil, fault.New(fault.Input,
				"store texts of more than 2 GiB as large_utf8 in an Arrow file, "+
					"or remove the column",
				"read %s %s: column %q of type %s: %w", t.what, t.path, c.name, c.values, err)
		}
		columns = append(columns, ingest.Column{Name: c.name, Values: values})
	}
	return columns, nil
}

// noValues is the data of an array without values. The library's builders lack some types.
func noValues(t arrow.DataType) arrow.ArrayData {
	// no bitmap, and the offset 0
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, 8))}
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

// columnKind is the kind of values that a graph's column must have: those that its meaning
// requires, or any that a graph can store.
type columnKind int

const (
	anything columnKind = iota
	texts
	integers
	numbers
)

// check returns an error if a column's type, as its file states it, does not fit its kind. It
// passes text columns, whose cells are checked one by one.
func (t *graphTable) check(at int, kind columnKind) error {
	name, found := t.Columns()[at], "a type without an equivalent in Arrow"
	values := t.Type(at)
	if values != nil {
		found = fmt.Sprintf("type %s", values)
	}
	refuse := func(expected, hint string) error {
		return fault.New(fault.Input, hint,
			"read %s %s: column %q: found %s, expected %s", t.what, t.path, name, found, expected)
	}
	isText := t.Kind(at) == table.Text || t.Kind(at) == table.Unknown
	isNumber := t.Kind(at) == table.Number && values != nil
	isInteger := isNumber && arrow.IsInteger(values.ID())
	isNull := isNumber && values.ID() == arrow.NULL
	switch {
	case isText && kind != anything:
	case kind == texts && !isInteger && !isNull:
		// A floating-point number does not preserve how it was written: 7 or 7.0, 100000 or 1e5.
		return refuse("text or integers", "store the column as text")
	case kind == integers && !isInteger:
		// Some floating-point types cannot hold every index.
		return refuse("integers", "store the column as integers")
	case kind == numbers && (!isNumber || values.ID() == arrow.BOOL):
		return refuse("numbers", "store the column as floating-point numbers")
	case kind == anything:
		if _, ok := ingest.TypeName(values); !ok {
			return refuse("a type that a graph can store",
				"store the column as numbers or text, or remove it")
		}
	}
	return nil
}

// takeTexts takes the texts of a batch. A missing one becomes "".
func takeTexts(t *graphTable, b *table.Batch, at int) (arrow.Array, error) {
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	texts.Reserve(b.Len)
	for i := range b.Len {
		text := b.Text(at, i)
		if !utf8.Valid(text) {
			return nil, t.notUTF8(b, at, i, text)
		}
		texts.BinaryBuilder.Append(text)
	}
	return texts.NewArray(), nil
}

// takeNumbers takes the numbers of a batch, which must all be present and finite.
func takeNumbers(t *graphTable, b *table.Batch, at int) (arrow.Array, error) {
	numbers := array.NewFloat64Builder(memory.DefaultAllocator)
	numbers.Reserve(b.Len)
	for i := range b.Len {
		number, missing, err := b.Number(at, i)
		switch {
		case missing:
			err = errors.New("found no value, expected a finite number")
		case err == nil && math.IsInf(number, 0):
			err = fmt.Errorf("found %v, expected a finite number", number)
		}
		if err != nil {
			return nil, fault.New(fault.Input,
				"give every row a finite number, or remove the column",
				"read %s %s: column %s: %w", t.what, t.where(b, i), t.Columns()[at], err)
		}
		numbers.Append(number)
	}
	return numbers.NewArray(), nil
}

// takeTyped takes the values of a batch in their own type.
func takeTyped(t *graphTable, b *table.Batch, at int) (arrow.Array, error) {
	values := b.Array(at)
	if i, text, found := firstInvalid(values); found {
		return nil, t.notUTF8(b, at, i, []byte(text))
	}
	return values, nil
}

func (t *graphTable) notUTF8(b *table.Batch, at, i int, text []byte) error {
	return fault.New(fault.Input, "save the file as UTF-8 text",
		"read %s %s: %q in column %q is not valid UTF-8", t.what, t.where(b, i), text,
		t.Columns()[at])
}

// firstInvalid returns the first row with text, possibly nested, that is not UTF-8.
func firstInvalid(a arrow.Array) (row int, text string, found bool) {
	var within func(row int) (text string, found bool)
	switch a := a.(type) {
	case interface{ Value(int) string }:
		within = func(row int) (string, bool) {
			text := a.Value(row)
			return text, !utf8.ValidString(text)
		}
	case *array.Dictionary:
		_, text, found = firstInvalid(a.Dictionary())
		return 0, text, found
	case array.ListLike:
		within = func(row int) (string, bool) {
			start, end := a.ValueOffsets(row)
			_, text, found := firstInvalid(array.NewSlice(a.ListValues(), start, end))
			return text, found
		}
	case *array.Struct:
		within = func(row int) (text string, found bool) {
			for i := 0; i < a.NumField() && !found; i++ {
				value := array.NewSlice(a.Field(i), int64(row), int64(row)+1)
				_, text, found = firstInvalid(value)
			}
			return text, found
		}
	default:
		return 0, "", false
	}
	for row := range a.Len() {
		if a.IsNull(row) {
			continue
		}
		if text, found := within(row); found {
			return row, text, true
		}
	}
	return 0, "", false
}
