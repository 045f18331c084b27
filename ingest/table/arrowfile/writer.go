package arrowfile

import (
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Values are the values of one column of an Arrow file: Indices, Numbers, Texts, Lists or Typed.
type Values interface {
	dataType() arrow.DataType
	array() arrow.Array
}

// Indices become an int32 column; each is below 2^31.
type Indices []uint32

// Numbers become a float64 column; a missing value stays NaN.
type Numbers []float64

// Texts become a utf8 column.
type Texts []string

// OptionalTexts become a utf8 column; nil is null.
type OptionalTexts [][]byte

// Lists become a list<utf8> column.
type Lists [][]string

// Typed is an array that becomes a column unchanged.
func Typed(values arrow.Array) Values { return typed{values} }

type typed struct{ values arrow.Array }

// Writer writes an Arrow IPC file whose bytes depend only on the names, the values and their
// division into calls of Write.
type Writer struct {
	file   *os.File
	writer *ipc.FileWriter
	schema *arrow.Schema
}

// Field is a column to write. Only the type of Values counts.
type Field struct {
	Name     string
	Values   Values
	Metadata arrow.Metadata // of the column, in the schema
}

// Create creates or replaces an Arrow IPC file. It must be closed.
func Create(path string, fields []Field) (*Writer, error) {
	columns := make([]arrow.Field, len(fields))
	for i, field := range fields {
		nullable := false
		switch field.Values.(type) {
		case typed, OptionalTexts:
			nullable = true
		}
		columns[i] = arrow.Field{Name: field.Name, Type: field.Values.dataType(), Nullable: nullable, Metadata: field.Metadata}
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write table: %w", err)
	}
	schema := arrow.NewSchema(columns, nil)
	writer, err := ipc.NewFileWriter(file, ipc.WithSchema(schema))
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("write table %s: %w", path, err)
	}
	return &Writer{file: file, writer: writer, schema: schema}, nil
}

// Write appends rows as one record batch. The values of all fields have the same length.
func (w *Writer) Write(columns ...Values) error {
	arrays := make([]arrow.Array, len(columns))
	for i, values := range columns {
		arrays[i] = values.array()
	}
	record := array.NewRecord(w.schema, arrays, -1)
	if err := w.writer.Write(record); err != nil {
		return fmt.Errorf("write table %s: %w", w.file.Name(), err)
	}
	return nil
}

// Close completes the file, which is not readable before.
func (w *Writer) Close() error {
	if err := errors.Join(w.writer.Close(), w.file.Close()); err != nil {
		return fmt.Errorf("write table %s: %w", w.file.Name(), err)
	}
	return nil
}

func (Indices) dataType() arrow.DataType       { return arrow.PrimitiveTypes.Int32 }
func (Numbers) dataType() arrow.DataType       { return arrow.PrimitiveTypes.Float64 }
func (Texts) dataType() arrow.DataType         { return arrow.BinaryTypes.String }
func (OptionalTexts) dataType() arrow.DataType { return arrow.BinaryTypes.String }
func (Lists) dataType() arrow.DataType         { return arrow.ListOf(arrow.BinaryTypes.String) }

func (v typed) dataType() arrow.DataType { return v.values.DataType() }
func (v typed) array() arrow.Array       { return v.values }

func (v Indices) array() arrow.Array {
	return fixedWidth(v.dataType(), len(v), arrow.Uint32Traits.CastToBytes(v))
}

func (v Numbers) array() arrow.Array {
	return fixedWidth(v.dataType(), len(v), arrow.Float64Traits.CastToBytes(v))
}

// fixedWidth makes an array without missing values that shares the bytes.
func fixedWidth(t arrow.DataType, length int, values []byte) arrow.Array {
	return array.MakeFromData(array.NewData(t, length, []*memory.Buffer{nil, memory.NewBufferBytes(values)}, nil, 0, 0))
}

func (v Texts) array() arrow.Array {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	b.AppendValues(v, nil)
	return b.NewArray()
}

func (v OptionalTexts) array() arrow.Array {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	for _, text := range v {
		if text == nil {
			b.AppendNull()
		} else {
			b.BinaryBuilder.Append(text)
		}
	}
	return b.NewArray()
}

func (v Lists) array() arrow.Array {
	b := array.NewListBuilder(memory.NewGoAllocator(), arrow.BinaryTypes.String)
	for _, list := range v {
		b.Append(true)
		b.ValueBuilder().(*array.StringBuilder).AppendValues(list, nil)
	}
	return b.NewArray()
}
