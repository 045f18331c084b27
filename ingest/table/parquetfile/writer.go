package parquetfile

import (
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// Writer writes a Parquet file whose bytes depend only on the names, the values and their division
// into calls of Write.
type Writer struct {
	out    *keptErrors
	writer *file.Writer
}

// NewWriter begins a file of float64 columns, in which NaN is a missing value, and of columns of
// utf8 and of lists of utf8.
func NewWriter(out io.Writer, fields []arrow.Field) (*Writer, error) {
	text := func(name string, nullable bool) (schema.Node, error) {
		repetition := parquet.Repetitions.Required
		if nullable {
			repetition = parquet.Repetitions.Optional
		}
		return schema.NewPrimitiveNodeLogical(name, repetition, schema.StringLogicalType{},
			parquet.Types.ByteArray, 0, -1)
	}
	var nodes schema.FieldList
	for _, field := range fields {
		var node schema.Node
		var err error
		switch field.Type.ID() {
		case arrow.FLOAT64:
			node = schema.NewFloat64Node(field.Name, parquet.Repetitions.Optional, -1)
		case arrow.STRING:
			node, err = text(field.Name, field.Nullable)
		case arrow.LIST:
			if node, err = text("element", false); err == nil {
				node, err = schema.ListOfWithName(field.Name, node, parquet.Repetitions.Required,
					-1)
			}
		default:
			panic(fmt.Sprintf("no Parquet column of %s", field.Type))
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
	w := &Writer{out: &keptErrors{out: out}}
	w.writer = file.NewParquetWriter(w.out, root,
		file.WithWriterProps(parquet.NewWriterProperties(
			parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCreatedBy(CreatedBy))))
	return w, nil
}

// CreatedBy names the writer in the footers of this package's files.
const CreatedBy = "tcbuild croissant"

// Write appends rows as one row group. All columns have the same length.
func (w *Writer) Write(columns ...arrow.Array) error {
	group := w.writer.AppendRowGroup()
	for _, values := range columns {
		column, err := group.NextColumn()
		if err != nil {
			return err
		}
		switch column := column.(type) {
		case *file.Float64ColumnChunkWriter:
			_, err = column.WriteBatch(numbersThere(values.(*array.Float64)))
		case *file.ByteArrayColumnChunkWriter:
			_, err = column.WriteBatch(textsThere(values))
		}
		if err != nil {
			return err
		}
		if err := column.Close(); err != nil {
			return err
		}
	}
	if err := group.Close(); err != nil {
		return err
	}
	return w.out.err
}

// Close completes the file, but does not close what it is written to.
func (w *Writer) Close() error {
	if err := w.writer.FlushWithFooter(); err != nil {
		return err
	}
	return w.out.err
}

// numbersThere are the numbers that are not missing, and the definition level of each.
func numbersThere(numbers *array.Float64) (there []float64, definitions, repetitions []int16) {
	for _, number := range numbers.Float64Values() {
		if math.IsNaN(number) {
			definitions = append(definitions, 0)
			continue
		}
		there, definitions = append(there, number), append(definitions, 1)
	}
	return there, definitions, nil
}

// textsThere are the texts that are not missing, and the levels of each, if the column has any.
// Those of a column without missing texts are ignored.
func textsThere(values arrow.Array) (there []parquet.ByteArray, definitions, repetitions []int16) {
	switch values := values.(type) {
	case *array.String:
		for i := range values.Len() {
			if values.IsNull(i) {
				definitions = append(definitions, 0)
				continue
			}
			there, definitions = append(there, parquet.ByteArray(values.Value(i))),
				append(definitions, 1)
		}
	case *array.List:
		texts := values.ListValues().(*array.String)
		for i := range values.Len() {
			start, end := values.ValueOffsets(i)
			if start == end {
				definitions, repetitions = append(definitions, 0), append(repetitions, 0)
			}
			for k := start; k < end; k++ {
				there = append(there, parquet.ByteArray(texts.Value(int(k))))
				definitions, repetitions = append(definitions, 1),
					append(repetitions, int16(min(k-start, 1)))
			}
		}
	}
	return there, definitions, repetitions
}

// keptErrors keeps the first error of writing: the Parquet library loses some, and panics on
// others.
type keptErrors struct {
	out io.Writer
	err error
}

func (k *keptErrors) Write(p []byte) (int, error) {
	if k.err == nil {
		_, k.err = k.out.Write(p)
	}
	return len(p), nil
}
