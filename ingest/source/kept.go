package source

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
	"tcbuild/ingest/table"
)

// KeptType is the type of a column that edges keep.
type KeptType string

const (
	KeptNumber  KeptType = "number"  // float64
	KeptInteger KeptType = "integer" // int64
	KeptText    KeptType = "text"    // utf8
)

func (t KeptType) arrow() arrow.DataType {
	switch t {
	case KeptNumber:
		return arrow.PrimitiveTypes.Float64
	case KeptInteger:
		return arrow.PrimitiveTypes.Int64
	default:
		return arrow.BinaryTypes.String
	}
}

// keptColumn is a column of a table whose values edges keep. A missing value is a null.
type keptColumn struct {
	column int
	name   string
	kind   KeptType
}

// keptColumns finds the columns to keep, in the order of the file; numbers has those of the names in
// keep, sorted. None may be called like the columns that are there already.
func keptColumns(reader *table.Reader, numbers []int, keep map[string]KeptType, place string, taken ...string) (kept []keptColumn, err error) {
	for k, key := range slices.Sorted(maps.Keys(keep)) {
		name := reader.Columns()[numbers[k]]
		if slices.Contains(taken, name) {
			return nil, usage("keep other columns, or rename it by naming the file's columns", "%s.keep: there is a column %q already", place, name)
		}
		taken = append(taken[:len(taken):len(taken)], name)
		kept = append(kept, keptColumn{numbers[k], name, keep[key]})
	}
	slices.SortFunc(kept, func(a, b keptColumn) int { return a.column - b.column })
	return kept, nil
}

// cell is a value of a kept column.
type cell struct {
	missing bool
	number  float64
	integer int64
	text    []byte // valid as long as its batch
}

func (k keptColumn) read(batch *table.Batch, i int) (c cell, err error) {
	switch k.kind {
	case KeptNumber:
		c.number, c.missing, err = batch.Number(k.column, i)
	case KeptInteger:
		c.integer, c.missing, err = batch.Integer(k.column, i)
	default:
		c.text, c.missing = batch.Text(k.column, i), batch.Missing(k.column, i)
		err = checkUTF8(c.text)
	}
	return c, err
}

// checkUTF8 returns an error for a text that no graph could carry.
func checkUTF8(text []byte) error {
	if utf8.Valid(text) {
		return nil
	}
	return fault.New(fault.Input, "save the file as UTF-8 text", "found %s, which is not valid UTF-8", fault.Quote(text))
}

func (k keptColumn) builder() array.Builder {
	return array.NewBuilder(memory.DefaultAllocator, k.kind.arrow())
}

func (c cell) appendTo(builder array.Builder) {
	if c.missing {
		builder.AppendNull()
		return
	}
	switch b := builder.(type) {
	case *array.Float64Builder:
		b.Append(c.number)
	case *array.Int64Builder:
		b.Append(c.integer)
	case *array.StringBuilder:
		b.BinaryBuilder.Append(c.text)
	}
}
