package parquetfile

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"tcbuild/ingest/table/rows"
)

// typeOfField is the Arrow type of a top-level field with one leaf: that of the leaf, or a list of
// it. It is nil for types that typedChunk does not read: decimals of more than 128 bits, INT96,
// structs, maps, and lists of those.
func typeOfField(field schema.Node, column *schema.Column) arrow.DataType {
	leaf := typeOfLeaf(column)
	_, isList := field.LogicalType().(schema.ListLogicalType)
	switch {
	case leaf == nil:
		return nil
	case field.Type() == schema.Primitive && column.MaxRepetitionLevel() == 0:
		return leaf
	case isList && column.MaxRepetitionLevel() == 1 && len(column.ColumnPath()) == 3:
		return arrow.ListOf(leaf)
	}
	return nil
}

// typeOfLeaf is the Arrow type of single values in a leaf column, or nil.
func typeOfLeaf(column *schema.Column) arrow.DataType {
	logical := column.LogicalType()
	if decimal, ok := logical.(*schema.DecimalLogicalType); ok {
		if decimal.Precision() > 38 || decimal.Scale() < 0 || decimal.Scale() > 38 {
			return nil
		}
		return &arrow.Decimal128Type{Precision: decimal.Precision(), Scale: decimal.Scale()}
	}
	switch column.PhysicalType() {
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case parquet.Types.Float:
		return arrow.PrimitiveTypes.Float32
	case parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64
	case parquet.Types.Int32, parquet.Types.Int64:
		return typeOfInteger(column.PhysicalType(), logical)
	case parquet.Types.ByteArray:
		switch logical.(type) {
		case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
			return arrow.BinaryTypes.String
		case schema.NoLogicalType, schema.UnknownLogicalType, schema.BSONLogicalType:
			return arrow.BinaryTypes.Binary
		}
	case parquet.Types.FixedLenByteArray:
		switch logical.(type) {
		case schema.Float16LogicalType:
			return arrow.FixedWidthTypes.Float16
		case schema.NoLogicalType, schema.UnknownLogicalType, schema.UUIDLogicalType:
			return &arrow.FixedSizeBinaryType{ByteWidth: column.TypeLength()}
		}
	}
	return nil
}

func typeOfInteger(physical parquet.Type, logical schema.LogicalType) arrow.DataType {
	units := map[schema.TimeUnitType]arrow.TimeUnit{
		schema.TimeUnitMillis: arrow.Millisecond, schema.TimeUnitMicros: arrow.Microsecond, schema.TimeUnitNanos: arrow.Nanosecond,
	}
	plain := arrow.PrimitiveTypes.Int64
	if physical == parquet.Types.Int32 {
		plain = arrow.PrimitiveTypes.Int32
	}
	switch logical := logical.(type) {
	case *schema.IntLogicalType:
		signed := map[int8]arrow.DataType{8: arrow.PrimitiveTypes.Int8, 16: arrow.PrimitiveTypes.Int16,
			32: arrow.PrimitiveTypes.Int32, 64: arrow.PrimitiveTypes.Int64}
		unsigned := map[int8]arrow.DataType{8: arrow.PrimitiveTypes.Uint8, 16: arrow.PrimitiveTypes.Uint16,
			32: arrow.PrimitiveTypes.Uint32, 64: arrow.PrimitiveTypes.Uint64}
		if logical.IsSigned() {
			return signed[logical.BitWidth()]
		}
		return unsigned[logical.BitWidth()]
	case schema.DateLogicalType:
		return arrow.FixedWidthTypes.Date32
	case *schema.TimeLogicalType:
		if logical.TimeUnit() == schema.TimeUnitMillis {
			return arrow.FixedWidthTypes.Time32ms
		}
		return &arrow.Time64Type{Unit: units[logical.TimeUnit()]}
	case *schema.TimestampLogicalType:
		timestamp := &arrow.TimestampType{Unit: units[logical.TimeUnit()]}
		if logical.IsAdjustedToUTC() {
			timestamp.TimeZone = "UTC"
		}
		return timestamp
	case schema.NullLogicalType:
		return arrow.Null
	case schema.NoLogicalType, schema.UnknownLogicalType:
		return plain
	}
	return nil
}

// typedChunk reads a column of a whole row group into an array of its type.
func typedChunk(values file.ColumnChunkReader, t arrow.DataType, levels levelMeanings, count int64) (arrow.Array, error) {
	b := array.NewBuilder(memory.DefaultAllocator, t)
	leaf := b
	if list, ok := b.(*array.ListBuilder); ok {
		leaf = list.ValueBuilder()
	}
	window := int(min(max(count, 1), rows.BatchRows))
	var err error
	switch values := values.(type) {
	case *file.BooleanColumnChunkReader:
		err = appendChunk(values, window, b, levels, leaf.(*array.BooleanBuilder).Append)
	case *file.Int32ColumnChunkReader:
		err = appendChunk(values, window, b, levels, integerAppender[int32](leaf))
	case *file.Int64ColumnChunkReader:
		err = appendChunk(values, window, b, levels, integerAppender[int64](leaf))
	case *file.Float32ColumnChunkReader:
		err = appendChunk(values, window, b, levels, leaf.(*array.Float32Builder).Append)
	case *file.Float64ColumnChunkReader:
		err = appendChunk(values, window, b, levels, leaf.(*array.Float64Builder).Append)
	case *file.ByteArrayColumnChunkReader:
		err = appendChunk(values, window, b, levels, bytesAppender[parquet.ByteArray](leaf))
	case *file.FixedLenByteArrayColumnChunkReader:
		err = appendChunk(values, window, b, levels, bytesAppender[parquet.FixedLenByteArray](leaf))
	}
	if err == nil && int64(b.Len()) != count {
		err = errShortChunk
	}
	if err != nil {
		return nil, err
	}
	return b.NewArray(), nil
}

type chunkReader[T any] interface {
	ReadBatch(size int64, values []T, definitions, repetitions []int16) (levels int64, read int, err error)
	Err() error
}

// appendChunk appends all rows of a chunk, which it reads window values at a time. Single values go
// to b, which add appends to; lists of these values go to a list builder.
func appendChunk[T any](r chunkReader[T], window int, b array.Builder, levels levelMeanings, add func(T)) error {
	list, _ := b.(*array.ListBuilder)
	leaf := b
	if list != nil {
		leaf = list.ValueBuilder()
	}
	values, definitions, repetitions := make([]T, window), make([]int16, window), make([]int16, window)
	for {
		n, _, err := r.ReadBatch(int64(window), values, definitions, repetitions)
		if err == nil {
			err = r.Err()
		}
		if err == nil {
			err = levels.check(definitions[:n], repetitions[:n])
		}
		if err != nil || n == 0 {
			return err
		}
		next := 0
		for i := range n {
			definition := definitions[i]
			if list != nil && repetitions[i] == 0 {
				// below it, the list is missing; at it, the list is empty
				list.Append(definition >= levels.element-1)
			}
			switch {
			case levels.present == 0 || definition == levels.present:
				add(values[next])
				next++
			case list == nil || definition >= levels.element:
				leaf.AppendNull()
			}
		}
	}
}

// integerAppender stores an integer in the type that its logical type requires.
func integerAppender[T int32 | int64](b array.Builder) func(T) {
	switch b := b.(type) {
	case *array.Int8Builder:
		return func(v T) { b.Append(int8(v)) }
	case *array.Int16Builder:
		return func(v T) { b.Append(int16(v)) }
	case *array.Int32Builder:
		return func(v T) { b.Append(int32(v)) }
	case *array.Int64Builder:
		return func(v T) { b.Append(int64(v)) }
	case *array.Uint8Builder:
		return func(v T) { b.Append(uint8(v)) }
	case *array.Uint16Builder:
		return func(v T) { b.Append(uint16(v)) }
	case *array.Uint32Builder:
		return func(v T) { b.Append(uint32(v)) }
	case *array.Uint64Builder:
		return func(v T) { b.Append(uint64(v)) }
	case *array.Date32Builder:
		return func(v T) { b.Append(arrow.Date32(v)) }
	case *array.Time32Builder:
		return func(v T) { b.Append(arrow.Time32(v)) }
	case *array.Time64Builder:
		return func(v T) { b.Append(arrow.Time64(v)) }
	case *array.TimestampBuilder:
		return func(v T) { b.Append(arrow.Timestamp(v)) }
	case *array.Decimal128Builder:
		return func(v T) { b.Append(decimal128.FromI64(int64(v))) }
	case *array.NullBuilder:
		return func(T) { b.AppendNull() }
	}
	panic("no builder of integers: " + b.Type().String())
}

// bytesAppender stores bytes in the type that their logical type requires.
func bytesAppender[T parquet.ByteArray | parquet.FixedLenByteArray](b array.Builder) func(T) {
	switch b := b.(type) {
	case *array.StringBuilder:
		return func(v T) { b.BinaryBuilder.Append(v) }
	case *array.BinaryBuilder:
		return func(v T) { b.Append(v) }
	case *array.FixedSizeBinaryBuilder:
		return func(v T) { b.Append(v) }
	case *array.Float16Builder:
		return func(v T) { b.Append(float16.FromBits(binary.LittleEndian.Uint16(v))) }
	case *array.Decimal128Builder:
		return func(v T) { b.Append(decimal128.FromBigInt(bigEndian(v))) }
	}
	panic("no builder of bytes: " + b.Type().String())
}
