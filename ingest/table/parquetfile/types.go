package parquetfile

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
	flatbuffers "github.com/google/flatbuffers/go"

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

// durations are the top-level columns that are durations, with their types. Parquet has integers
// for them. Arrow's writers say so in the file's metadata, in a schema as in an Arrow stream:
// ffffffff, a length, and a flatbuffer. The slots are vtable offsets from Arrow's
// format/{Message,Schema}.fbs.
func durations(file *metadata.FileMetaData) (found map[string]arrow.DataType, err error) {
	const (
		messageHeader, schemaFields, fieldName = 8, 6, 4
		fieldTypeKind, fieldType, durationUnit = 8, 10, 4
		duration, milliseconds, prefix         = 18, 1, 8
	)
	stored := file.KeyValueMetadata().FindValue("ARROW:schema")
	if stored == nil {
		return nil, nil
	}
	found = make(map[string]arrow.DataType)
	message, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(*stored, "="))
	if err == nil {
		err = rows.Guard(func() error {
			message = message[prefix:]
			child := func(t flatbuffers.Table, slot flatbuffers.VOffsetT) flatbuffers.Table {
				return flatbuffers.Table{Bytes: message,
					Pos: t.Indirect(t.Pos + flatbuffers.UOffsetT(t.Offset(slot)))}
			}
			schema := child(flatbuffers.Table{Bytes: message,
				Pos: flatbuffers.GetUOffsetT(message)}, messageHeader)
			fields := flatbuffers.UOffsetT(schema.Offset(schemaFields))
			for i := range schema.VectorLen(fields) {
				field := flatbuffers.Table{Bytes: message,
					Pos: schema.Indirect(schema.Vector(fields) + flatbuffers.UOffsetT(4*i))}
				if field.GetByteSlot(fieldTypeKind, 0) == duration {
					name := field.ByteVector(field.Pos +
						flatbuffers.UOffsetT(field.Offset(fieldName)))
					kind := child(field, fieldType)
					found[string(name)] = &arrow.DurationType{Unit: arrow.TimeUnit(
						kind.GetInt16Slot(durationUnit, milliseconds))}
				}
			}
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("its ARROW:schema: %w", err)
	}
	return found, nil
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
		case schema.NoLogicalType, schema.UnknownLogicalType, schema.NullLogicalType,
			schema.BSONLogicalType:
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
		schema.TimeUnitMillis: arrow.Millisecond, schema.TimeUnitMicros: arrow.Microsecond,
		schema.TimeUnitNanos: arrow.Nanosecond,
	}
	switch logical := logical.(type) {
	case *schema.IntLogicalType:
		signed := map[int8]arrow.DataType{
			8: arrow.PrimitiveTypes.Int8, 16: arrow.PrimitiveTypes.Int16,
			32: arrow.PrimitiveTypes.Int32, 64: arrow.PrimitiveTypes.Int64,
		}
		unsigned := map[int8]arrow.DataType{
			8: arrow.PrimitiveTypes.Uint8, 16: arrow.PrimitiveTypes.Uint16,
			32: arrow.PrimitiveTypes.Uint32, 64: arrow.PrimitiveTypes.Uint64,
		}
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
