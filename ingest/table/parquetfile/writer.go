package parquetfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// Writer writes a Parquet file whose bytes depend only on the names, the values and their division
// into row groups.
type Writer struct {
	out        io.Writer
	end        int64 // of what was written
	root       *schema.GroupNode
	properties *parquet.WriterProperties
	footer     *metadata.FileMetaData
}

const magic = "PAR1"

// NewWriter begins a file of columns of utf8, bool, int32, int64, float32 and float64, and of lists
// of utf8 and uint32. Lists and their elements are never missing; a float64 NaN is a missing value.
func NewWriter(out io.Writer, fields []arrow.Field) (*Writer, error) {
	properties := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithCreatedBy("tcbuild"),
		parquet.WithDataPageSize(8 << 20)} // so few pages begin in the middle of a list
	var nodes schema.FieldList
	for _, field := range fields {
		values, path, nullable := field.Type, field.Name, field.Nullable
		list, isList := values.(*arrow.ListType)
		if isList {
			values, path, nullable = list.Elem(), path+".list.element", false
		}
		if arrow.IsInteger(values.ID()) { // positions, which ascend
			properties = append(properties, parquet.WithDictionaryFor(path, false),
				parquet.WithEncodingFor(path, parquet.Encodings.DeltaBinaryPacked))
		}
		node, err := newNode(field.Name, values, nullable)
		if err == nil && isList {
			node, err = schema.ListOfWithName(field.Name, node, parquet.Repetitions.Required, -1)
		}
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return nil, err
	}
	w := &Writer{out: out, root: root, properties: parquet.NewWriterProperties(properties...)}
	empty, err := w.encode()
	if err != nil {
		return nil, err
	}
	w.footer = empty.footer
	return w, w.write([]byte(magic))
}

var columnTypes = map[arrow.Type]parquet.Type{
	arrow.STRING: parquet.Types.ByteArray, arrow.BOOL: parquet.Types.Boolean,
	arrow.FLOAT32: parquet.Types.Float, arrow.FLOAT64: parquet.Types.Double,
	arrow.INT32: parquet.Types.Int32, arrow.UINT32: parquet.Types.Int32,
	arrow.INT64: parquet.Types.Int64,
}

// newNode makes a column of a schema, or the element of a list.
func newNode(name string, values arrow.DataType, nullable bool) (schema.Node, error) {
	physical, known := columnTypes[values.ID()]
	if !known {
		panic(fmt.Sprintf("no Parquet column of %s", values))
	}
	repetition, logical := parquet.Repetitions.Required, schema.LogicalType(schema.NoLogicalType{})
	if nullable || values.ID() == arrow.FLOAT64 {
		repetition = parquet.Repetitions.Optional
	}
	switch values.ID() {
	case arrow.STRING:
		logical = schema.StringLogicalType{}
	case arrow.UINT32:
		logical = schema.NewIntLogicalType(32, false)
	}
	return schema.NewPrimitiveNodeLogical(name, repetition, logical, physical, 0, -1)
}

// RowGroup is a row group of a Writer's file, in memory.
type RowGroup struct {
	content []byte
	footer  *metadata.FileMetaData // of a file that begins with magic, then has content
}

// Encode makes a row group of columns of one length. It is safe for concurrent use.
func (w *Writer) Encode(columns ...arrow.Array) (*RowGroup, error) { return w.encode(columns) }

// encode makes a file of each group in memory: the library cannot write groups at the same time.
func (w *Writer) encode(groups ...[]arrow.Array) (*RowGroup, error) {
	var whole bytes.Buffer
	writer := file.NewParquetWriter(&whole, w.root, file.WithWriterProps(w.properties))
	for _, columns := range groups {
		group := writer.AppendRowGroup()
		for _, values := range columns {
			column, err := group.NextColumn()
			if err != nil {
				return nil, err
			}
			if err := writeColumn(column, values); err != nil {
				return nil, err
			}
		}
		if err := group.Close(); err != nil {
			return nil, err
		}
	}
	if err := writer.FlushWithFooter(); err != nil {
		return nil, err
	}
	reader, err := file.NewParquetReader(bytes.NewReader(whole.Bytes()))
	if err != nil {
		return nil, err
	}
	content := whole.Bytes()
	footer := int(binary.LittleEndian.Uint32(content[len(content)-8:])) + 8
	return &RowGroup{content[len(magic) : len(content)-footer], reader.MetaData()}, nil
}

// Append writes a row group. Only then is it known where its columns are in the file.
func (w *Writer) Append(group *RowGroup) error {
	move := func(offset *int64) {
		if offset != nil {
			*offset += w.end - int64(len(magic))
		}
	}
	for _, rows := range group.footer.RowGroups {
		rows.Ordinal = nil // counts the groups of its own file, and has 16 bits
		move(rows.FileOffset)
		for _, column := range rows.Columns {
			move(&column.FileOffset)
			move(&column.MetaData.DataPageOffset)
			move(column.MetaData.DictionaryPageOffset)
		}
	}
	if err := w.footer.AppendRowGroups(group.footer); err != nil {
		return err
	}
	return w.write(group.content)
}

// Write appends rows as one row group. All columns have the same length.
func (w *Writer) Write(columns ...arrow.Array) error {
	group, err := w.Encode(columns...)
	if err != nil {
		return err
	}
	return w.Append(group)
}

// Close completes the file, but does not close what it is written to.
func (w *Writer) Close() error {
	var end bytes.Buffer
	size, err := w.footer.WriteTo(&end, nil)
	if err != nil {
		return err
	}
	return w.write(append(binary.LittleEndian.AppendUint32(end.Bytes(), uint32(size)), magic...))
}

func (w *Writer) write(content []byte) error {
	n, err := w.out.Write(content)
	w.end += int64(n)
	return err
}

func writeColumn(column file.ColumnChunkWriter, values arrow.Array) (err error) {
	items := values
	if list, isList := values.(*array.List); isList {
		items = list.ListValues()
	}
	switch column := column.(type) {
	case *file.Float64ColumnChunkWriter:
		_, err = column.WriteBatch(present(values, func(i int) (float64, bool) {
			number := items.(*array.Float64).Value(i)
			return number, items.IsValid(i) && !math.IsNaN(number)
		}))
	case *file.ByteArrayColumnChunkWriter:
		_, err = column.WriteBatch(present(values, func(i int) (parquet.ByteArray, bool) {
			return parquet.ByteArray(items.(*array.String).Value(i)), items.IsValid(i)
		}))
	case *file.BooleanColumnChunkWriter:
		_, err = column.WriteBatch(present(values, valuesOf(items.(*array.Boolean))))
	case *file.Float32ColumnChunkWriter:
		_, err = column.WriteBatch(present(values, valuesOf(items.(*array.Float32))))
	case *file.Int64ColumnChunkWriter:
		_, err = column.WriteBatch(present(values, valuesOf(items.(*array.Int64))))
	case *file.Int32ColumnChunkWriter:
		if positions, isUnsigned := items.(*array.Uint32); isUnsigned {
			_, err = column.WriteBatch(present(values,
				func(i int) (int32, bool) { return int32(positions.Value(i)), true }))
			break
		}
		_, err = column.WriteBatch(present(values, valuesOf(items.(*array.Int32))))
	}
	if err != nil {
		return err
	}
	return column.Close()
}

func valuesOf[T any](values interface {
	Value(i int) T
	IsValid(i int) bool
}) func(i int) (T, bool) {
	return func(i int) (T, bool) { return values.Value(i), values.IsValid(i) }
}

// present returns the values that are not missing, and the levels of each row or element. The
// library ignores the levels of a column that lacks none.
func present[T any](column arrow.Array, value func(i int) (T, bool)) (
	there []T, definitions, repetitions []int16) {
	list, isList := column.(*array.List)
	if !isList {
		for i := range column.Len() {
			v, isThere := value(i)
			if !isThere {
				definitions = append(definitions, 0)
				continue
			}
			there, definitions = append(there, v), append(definitions, 1)
		}
		return there, definitions, nil
	}
	for row := range list.Len() {
		start, end := list.ValueOffsets(row)
		if start == end {
			definitions, repetitions = append(definitions, 0), append(repetitions, 0)
		}
		for k := start; k < end; k++ {
			v, _ := value(int(k))
			there, definitions = append(there, v), append(definitions, 1)
			repetitions = append(repetitions, int16(min(k-start, 1)))
		}
	}
	return there, definitions, repetitions
}
