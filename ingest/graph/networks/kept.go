package networks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest/table"
)

// KeptType is the type of a column that a graph keeps of a table.
type KeptType string

const (
	KeptNumber  KeptType = "number"  // float64
	KeptInteger KeptType = "integer" // int64
	KeptText    KeptType = "text"    // utf8
)

// Kept is a column of a table whose values the graph keeps. A missing value becomes a null.
type Kept struct {
	Name   string
	number int
	kind   KeptType
}

// NewKept returns the columns to keep, in the order of the file. numbers has the column number of
// each name in keep, in the order of the sorted names. No column may have a name in taken.
func NewKept(
	in *table.Reader, numbers []int, keep map[string]KeptType, place conf.Place, taken ...string,
) (kept []Kept, err error) {
	for k, key := range slices.Sorted(maps.Keys(keep)) {
		name := in.Columns()[numbers[k]]
		if slices.Contains(taken, name) {
			return nil, fault.New(fault.Usage,
				"keep other columns, or rename it by naming the file's columns",
				"read settings: %s.keep: there is a column %q already", place, name)
		}
		kept = append(kept, Kept{name, numbers[k], keep[key]})
	}
	slices.SortFunc(kept, func(a, b Kept) int { return cmp.Compare(a.number, b.number) })
	return kept, nil
}

// Builder makes a builder of the column's values.
func (k Kept) Builder() array.Builder {
	types := map[KeptType]arrow.DataType{
		KeptNumber:  arrow.PrimitiveTypes.Float64,
		KeptInteger: arrow.PrimitiveTypes.Int64,
		KeptText:    arrow.BinaryTypes.String,
	}
	return array.NewBuilder(memory.DefaultAllocator, types[k.kind])
}

// Value is a value of a kept column.
type Value struct {
	missing bool
	number  float64
	integer int64
	text    []byte // valid as long as its batch
}

// Read reads the value of row i of a batch.
func (k Kept) Read(batch *table.Batch, i int) (v Value, err error) {
	switch k.kind {
	case KeptNumber:
		v.number, v.missing, err = batch.Number(k.number, i)
	case KeptInteger:
		v.integer, v.missing, err = batch.Integer(k.number, i)
	default:
		v.text, v.missing = batch.Text(k.number, i), batch.Missing(k.number, i)
		err = table.CheckUTF8(v.text)
	}
	if err != nil {
		err = fault.New(fault.Input, fault.HintOf(err), "column %s: %w", fault.Quote(k.Name), err)
	}
	return v, err
}

// AppendTo appends the value to a builder of its column.
func (v Value) AppendTo(builder array.Builder) {
	if v.missing {
		builder.AppendNull()
		return
	}
	switch b := builder.(type) {
	case *array.Float64Builder:
		b.Append(v.number)
	case *array.Int64Builder:
		b.Append(v.integer)
	case *array.StringBuilder:
		b.BinaryBuilder.Append(v.text)
	default:
		panic(fmt.Sprintf("a column is kept as %T", b))
	}
}
