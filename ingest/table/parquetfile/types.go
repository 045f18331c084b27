package parquetfile

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"tcbuild/ingest/table/rows"
)

// leaf is a column: a top-level field with one leaf, single values or lists of them.
type leaf struct {
	index  int            // among the file's leaf columns
	values arrow.DataType // of single values; nil if they are not read
	levels file.LevelInfo
	kind   rows.Kind
	typed  arrow.DataType // as which the column is kept; nil if Arrow has no such type
}

func (l leaf) isList() bool { return l.levels.RepLevel > 0 }

func newLeaf(field schema.Node, column *schema.Column, index int) leaf {
	l := leaf{index: index, values: typeOfLeaf(column), kind: rows.Other}
	if l.values == nil {
		return l
	}
	var path []schema.Node
	for node := column.SchemaNode(); node.Parent() != nil; node = node.Parent() {
		path = append(path, node)
	}
	l.levels.NullSlotUsage = 1
	for _, node := range slices.Backward(path) {
		l.levels.Increment(node)
	}
	_, isList := field.LogicalType().(schema.ListLogicalType)
	if l.kind = rows.KindOf(l.values); isDocument(column.LogicalType()) {
		l.kind = rows.Other
	}
	switch repetition := column.MaxRepetitionLevel(); {
	case repetition == 0 && field.Type() == schema.Primitive:
		l.typed = l.values
		return l
	case repetition == 1 && isList && len(column.ColumnPath()) == 3:
		l.typed = arrow.ListOf(l.values)
	}
	if l.kind == rows.Text && column.MaxRepetitionLevel() == 1 {
		l.kind = rows.List
	} else {
		l.kind = rows.Other
	}
	return l
}

// isDocument reports whether texts are JSON or BSON, which are not read as texts.
func isDocument(logical schema.LogicalType) bool {
	switch logical.(type) {
	case schema.JSONLogicalType, schema.BSONLogicalType:
		return true
	}
	return false
}

// typeOfLeaf is the Arrow type of single values in a leaf column. It is nil for those that are not
// read: INT96, intervals, and decimals of more than 256 bits.
func typeOfLeaf(column *schema.Column) arrow.DataType {
	logical := column.LogicalType()
	if decimal, ok := logical.(*schema.DecimalLogicalType); ok {
		precision, scale := decimal.Precision(), decimal.Scale()
		switch {
		case scale < 0 || scale > precision:
		case precision <= 38:
			return &arrow.Decimal128Type{Precision: precision, Scale: scale}
		case precision <= 76:
			return &arrow.Decimal256Type{Precision: precision, Scale: scale}
		}
		return nil
	}
	switch column.PhysicalType() {
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case parquet.Types.Float:
		return arrow.PrimitiveTypes.Float32
	case parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64
	case parquet.Types.Int32:
		return typeOfInteger(logical, arrow.PrimitiveTypes.Int32)
	case parquet.Types.Int64:
		return typeOfInteger(logical, arrow.PrimitiveTypes.Int64)
	case parquet.Types.ByteArray:
		switch logical.(type) {
		case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
			return arrow.BinaryTypes.String
		case schema.NoLogicalType, schema.UnknownLogicalType, schema.NullLogicalType, schema.BSONLogicalType:
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

// typeOfInteger is the Arrow type of integers, which is plain if they are nothing else.
func typeOfInteger(logical schema.LogicalType, plain arrow.DataType) arrow.DataType {
	units := map[schema.TimeUnitType]arrow.TimeUnit{
		schema.TimeUnitMillis: arrow.Millisecond, schema.TimeUnitMicros: arrow.Microsecond, schema.TimeUnitNanos: arrow.Nanosecond,
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
