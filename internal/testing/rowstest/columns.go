package rowstest

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Numbers, Texts, OptionalTexts (nil is missing) and Lists make columns.

func Numbers(values []float64) arrow.Array {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return b.NewArray()
}

func Texts(values []string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return b.NewArray()
}

func OptionalTexts(values [][]byte) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for _, text := range values {
		if text == nil {
			b.AppendNull()
		} else {
			b.BinaryBuilder.Append(text)
		}
	}
	return b.NewArray()
}

func Lists(values [][]string) arrow.Array {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
	for _, list := range values {
		b.Append(true)
		b.ValueBuilder().(*array.StringBuilder).AppendValues(list, nil)
	}
	return b.NewArray()
}

// Field is the field of a column. nullable is for texts that may be missing.
func Field(name string, column arrow.Array, nullable bool) arrow.Field {
	return arrow.Field{Name: name, Type: column.DataType(), Nullable: nullable}
}
