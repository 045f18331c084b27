package parquetfile

import (
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"tcbuild/ingest/table/arrowfile"
)

// Writer writes a Parquet file whose bytes depend only on the names, the values and their division
// into calls of Write. In Numbers, NaN is a missing value.
type Writer struct {
	out    *keptErrors
	writer *file.Writer
}

// NewWriter begins a file of the columns, which are Numbers, Texts, OptionalTexts or Lists.
func NewWriter(out io.Writer, fields []arrowfile.Field) (*Writer, error) {
	text := func(name string, repetition parquet.Repetition) (schema.Node, error) {
		return schema.NewPrimitiveNodeLogical(name, repetition, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1)
	}
	var nodes schema.FieldList
	for _, field := range fields {
		var node schema.Node
		var err error
		switch field.Values.(type) {
		case arrowfile.Numbers:
			node = schema.NewFloat64Node(field.Name, parquet.Repetitions.Optional, -1)
		case arrowfile.Texts:
			node, err = text(field.Name, parquet.Repetitions.Required)
		case arrowfile.OptionalTexts:
			node, err = text(field.Name, parquet.Repetitions.Optional)
		case arrowfile.Lists:
			if node, err = text("element", parquet.Repetitions.Required); err == nil {
				node, err = schema.ListOfWithName(field.Name, node, parquet.Repetitions.Required, -1)
			}
		default:
			panic(fmt.Sprintf("no Parquet column of %T", field.Values))
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
		file.WithWriterProps(parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd))))
	return w, nil
}

// Write appends rows as one row group. The values of all fields have the same length.
func (w *Writer) Write(columns ...arrowfile.Values) error {
	group := w.writer.AppendRowGroup()
	for _, values := range columns {
		column, err := group.NextColumn()
		if err != nil {
			return err
		}
		switch column := column.(type) {
		case *file.Float64ColumnChunkWriter:
			_, err = column.WriteBatch(numbersThere(values.(arrowfile.Numbers)))
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
func numbersThere(numbers arrowfile.Numbers) (there []float64, definitions, repetitions []int16) {
	for _, number := range numbers {
		if math.IsNaN(number) {
			definitions = append(definitions, 0)
			continue
		}
		there, definitions = append(there, number), append(definitions, 1)
	}
	return there, definitions, nil
}

// textsThere are the texts that are not missing, and the levels of each, if the column has any.
func textsThere(values arrowfile.Values) (there []parquet.ByteArray, definitions, repetitions []int16) {
	switch values := values.(type) {
	case arrowfile.Texts:
		for _, text := range values {
			there = append(there, parquet.ByteArray(text))
		}
	case arrowfile.OptionalTexts:
		for _, text := range values {
			if text == nil {
				definitions = append(definitions, 0)
				continue
			}
			there, definitions = append(there, text), append(definitions, 1)
		}
	case arrowfile.Lists:
		for _, list := range values {
			if len(list) == 0 {
				definitions, repetitions = append(definitions, 0), append(repetitions, 0)
			}
			for k, text := range list {
				there = append(there, parquet.ByteArray(text))
				definitions, repetitions = append(definitions, 1), append(repetitions, int16(min(k, 1)))
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
