package ingest

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Column is an extra column of a node or edge table, with a value per row. It is immutable.
//
// A column with a meaning has a fixed type, without nulls: a reaction's gpr and subsystem are utf8,
// the stoichiometry of RMR edges is float64 and finite. Any other column keeps the type, values and
// nulls of its file. Text files have no types; their columns are utf8, each cell as written.
type Column struct {
	Name   string
	Values arrow.Array
}

// TextColumn makes a utf8 column.
func TextColumn(name string, texts []string) Column {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(texts, nil)
	return Column{name, b.NewArray()}
}

// TextsColumn makes a column of lists of texts.
func TextsColumn(name string, texts [][]string) Column {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
	for _, list := range texts {
		b.Append(true)
		b.ValueBuilder().(*array.StringBuilder).AppendValues(list, nil)
	}
	return Column{name, b.NewArray()}
}

// NumberColumn makes a float64 column of numbers, which belong to it. NaN is an ordinary value.
func NumberColumn(name string, numbers []float64) Column {
	return Column{name, fixedWidth(arrow.PrimitiveTypes.Float64, len(numbers),
		arrow.Float64Traits.CastToBytes(numbers))}
}

// IndexColumn makes an int32 column of indices below 2^31, which belong to it.
func IndexColumn(name string, indices []uint32) Column {
	return Column{name, fixedWidth(arrow.PrimitiveTypes.Int32, len(indices),
		arrow.Uint32Traits.CastToBytes(indices))}
}

func fixedWidth(t arrow.DataType, length int, values []byte) arrow.Array {
	return array.MakeFromData(array.NewData(t, length,
		[]*memory.Buffer{nil, memory.NewBufferBytes(values)}, nil, 0, 0))
}

// texts returns the values of a utf8 column, or nil for another type.
func (c Column) texts() []string {
	values, ok := c.Values.(*array.String)
	if !ok {
		return nil
	}
	texts := make([]string, values.Len())
	for i := range texts {
		texts[i] = values.Value(i)
	}
	return texts
}

// lists returns the texts in each row of a column of texts or of lists of texts, without missing
// ones. It returns nil for other types.
func (c Column) lists() [][]string {
	values, isList := c.Values.(array.ListLike)
	items := c.Values
	if isList {
		items = values.ListValues()
	}
	text := textOf(items)
	if text == nil {
		return nil
	}
	all := make([][]string, c.Values.Len())
	for row := range all {
		start, end := int64(row), int64(row+1)
		if isList {
			start, end = values.ValueOffsets(row)
		}
		for i := start; i < end && c.Values.IsValid(row); i++ {
			if items.IsValid(int(i)) {
				all[row] = append(all[row], text(int(i)))
			}
		}
	}
	return all
}

// IsText reports whether the column's values are texts.
func (c Column) IsText() bool { return textOf(c.Values) != nil }

// textOf returns a function for the text in each row, nil for values that are not texts.
func textOf(a arrow.Array) func(row int) string {
	switch a := a.(type) {
	case interface{ Value(int) string }:
		return a.Value
	case *array.Dictionary:
		if entry := textOf(a.Dictionary()); entry != nil {
			return func(row int) string { return entry(a.GetValueIndex(row)) }
		}
	}
	return nil
}

// TypeName is the name of a column's type, as Graph.Digest hashes it. ok is false for a type that a
// graph cannot store. The names are Arrow's; nested types are named:
//
//	list<T>, large_list<T>, fixed_size_list<T>[n], map<K, V>, struct<"name": T, …>
//	dictionary<T, index type>, followed by ", ordered" if the order of the entries matters
func TypeName(t arrow.DataType) (name string, ok bool) {
	nested := func(format string, parts ...arrow.DataType) (string, bool) {
		names := make([]any, len(parts))
		for i, part := range parts {
			if names[i], ok = TypeName(part); !ok {
				return "", false
			}
		}
		return fmt.Sprintf(format, names...), true
	}
	switch t := t.(type) {
	case *arrow.NullType, *arrow.BooleanType,
		*arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type,
		*arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type,
		*arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type,
		*arrow.Decimal128Type, *arrow.Decimal256Type,
		*arrow.Date32Type, *arrow.Date64Type, *arrow.Time32Type, *arrow.Time64Type,
		*arrow.TimestampType, *arrow.DurationType,
		*arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType,
		*arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType,
		*arrow.FixedSizeBinaryType:
		return fmt.Sprint(t), true
	case *arrow.ListType:
		return nested("list<%s>", t.Elem())
	case *arrow.LargeListType:
		return nested("large_list<%s>", t.Elem())
	case *arrow.FixedSizeListType:
		return nested("fixed_size_list<%s>["+strconv.Itoa(int(t.Len()))+"]", t.Elem())
	case *arrow.MapType:
		return nested("map<%s, %s>", t.KeyType(), t.ItemType())
	case *arrow.StructType:
		var fields []string
		for _, field := range t.Fields() {
			name, ok := TypeName(field.Type)
			if !ok {
				return "", false
			}
			fields = append(fields, strconv.Quote(field.Name)+": "+name)
		}
		return "struct<" + strings.Join(fields, ", ") + ">", true
	case *arrow.DictionaryType:
		if t.Ordered {
			return nested("dictionary<%s, %s, ordered>", t.ValueType, t.IndexType)
		}
		return nested("dictionary<%s, %s>", t.ValueType, t.IndexType)
	}
	return "", false
}

// Encoder returns a function that appends the bytes of a row's value. Two values of one type are
// equal if their bytes are:
//
//	byte 0 for a null, or byte 1 and
//	    numbers, times        their bytes, little-endian; floats bit for bit, with NaN and -0
//	    bool                  byte 0 or 1
//	    text, bytes           uint64 length in bytes, and the bytes
//	    lists, maps           uint64 length, and each element; a map's are structs of key and value
//	    structs               each field as a value
//
// A dictionary value is encoded as its entry. The type must be one that TypeName knows.
func (c Column) Encoder() func(to []byte, row int) []byte { return encoder(c.Values) }

func encoder(a arrow.Array) func(to []byte, row int) []byte {
	if dictionary, ok := a.(*array.Dictionary); ok {
		entry := encoder(dictionary.Dictionary()) // which may be null too
		return func(to []byte, row int) []byte {
			if a.IsNull(row) {
				return append(to, 0)
			}
			return entry(to, dictionary.GetValueIndex(row))
		}
	}
	if a.DataType().ID() == arrow.NULL {
		return func(to []byte, row int) []byte { return append(to, 0) }
	}
	value := valueEncoder(a)
	if a.NullN() == 0 {
		return func(to []byte, row int) []byte { return value(append(to, 1), row) }
	}
	return func(to []byte, row int) []byte {
		if a.IsNull(row) {
			return append(to, 0)
		}
		return value(append(to, 1), row)
	}
}

func valueEncoder(a arrow.Array) func(to []byte, row int) []byte {
	length := func(to []byte, n int) []byte {
		return binary.LittleEndian.AppendUint64(to, uint64(n))
	}
	switch a := a.(type) {
	case *array.Boolean:
		return func(to []byte, row int) []byte {
			if a.Value(row) {
				return append(to, 1)
			}
			return append(to, 0)
		}
	case interface{ Value(int) string }:
		return func(to []byte, row int) []byte {
			text := a.Value(row)
			return append(length(to, len(text)), text...)
		}
	case interface{ Value(int) []byte }:
		return func(to []byte, row int) []byte {
			bytes := a.Value(row)
			return append(length(to, len(bytes)), bytes...)
		}
	case array.ListLike:
		element := encoder(a.ListValues())
		return func(to []byte, row int) []byte {
			start, end := a.ValueOffsets(row)
			to = length(to, int(end-start))
			for i := start; i < end; i++ {
				to = element(to, int(i))
			}
			return to
		}
	case *array.Struct:
		fields := make([]func([]byte, int) []byte, a.NumField())
		for i := range fields {
			fields[i] = encoder(a.Field(i))
		}
		return func(to []byte, row int) []byte {
			for _, field := range fields {
				to = field(to, row)
			}
			return to
		}
	}
	width := a.DataType().(arrow.FixedWidthDataType).Bytes()
	var bytes []byte
	if buffer := a.Data().Buffers()[1]; buffer != nil { // none in an empty array
		bytes = buffer.Bytes()[a.Data().Offset()*width:]
	}
	return func(to []byte, row int) []byte { return append(to, bytes[row*width:(row+1)*width]...) }
}
