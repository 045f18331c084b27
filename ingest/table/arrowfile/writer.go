package arrowfile

import (
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// Writer writes an Arrow IPC file whose bytes depend only on the fields, the values and their
// division into calls of Write.
type Writer struct {
	file   *os.File
	writer *ipc.FileWriter
	schema *arrow.Schema
}

// Create creates or replaces an Arrow IPC file. It must be closed.
func Create(path string, fields []arrow.Field) (*Writer, error) {
	return CreateAs(path, arrow.NewSchema(fields, nil))
}

// CreateAs is Create for a schema that may have metadata.
func CreateAs(path string, schema *arrow.Schema) (*Writer, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write table: %w", err)
	}
	writer, err := ipc.NewFileWriter(file, ipc.WithSchema(schema))
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("write table %s: %w", path, err)
	}
	return &Writer{file: file, writer: writer, schema: schema}, nil
}

// Write appends rows as one record batch. All columns have the same length.
func (w *Writer) Write(columns ...arrow.Array) error {
	if err := w.writer.Write(array.NewRecord(w.schema, columns, -1)); err != nil {
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
