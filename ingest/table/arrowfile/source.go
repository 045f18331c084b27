// Package arrowfile reads Apache Arrow IPC files as tables, and writes them.
package arrowfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"tcbuild/fault"
	"tcbuild/ingest/table/rows"
)

// Source reads an Arrow IPC file, one record batch at a time: in windows of rows.BatchRows, or
// whole if no value has to be converted.
type Source struct {
	rows.Binary
	reader *ipc.FileReader

	record arrow.Record // the record batch being read, nil before the first
	next   int          // the next record batch to read
	at     int          // the next row in record
}

// StreamError returns the error for an Arrow stream. It has no footer, so missing batches at its
// end would go unnoticed.
func StreamError(path string) error {
	return fault.New(fault.Input,
		"read it with pyarrow.ipc.open_stream, "+
			"and write it with pyarrow.ipc.new_file or pyarrow.feather.write_feather",
		"open table %s: found an Arrow stream, expected an Arrow file (Feather version 2)", path)
}

// Open opens a table. The caller keeps ownership of the file.
func Open(path string, in *io.SectionReader) (*Source, error) {
	magic := make([]byte, len(fileMagic))
	switch in.ReadAt(magic, 0); {
	case strings.HasPrefix(string(magic), "FEA1"):
		return nil, fault.New(fault.Input,
			"write it with pyarrow.feather.write_feather(TABLE, FILE, version=2)",
			"open table %s: found Feather version 1, expected version 2, which is an Arrow file",
			path)
	case string(magic[:4]) == "\xff\xff\xff\xff":
		return nil, StreamError(path)
	}
	s := &Source{Binary: rows.Binary{Path: path}}
	err := rows.Guard(func() (err error) {
		if s.reader, err = open(in, true, rows.MostBytes(in.Size())); err != nil {
			return err
		}
		for _, field := range s.reader.Schema().Fields() {
			s.Add(field.Name, rows.KindOf(typeOf(field)))
		}
		return nil
	})
	if err != nil {
		return nil, rows.Damaged(path, "in its footer or schema", err)
	}
	return s, nil
}

// Type is the type of a column. No array has an extension type: its values are not read.
func (s *Source) Type(column int) arrow.DataType {
	return typeOf(s.reader.Schema().Field(column))
}

// Metadata is what the schema says of a column under a key.
func (s *Source) Metadata(column int, key string) string {
	value, _ := s.reader.Schema().Field(column).Metadata.GetValue(key)
	return value
}

func (s *Source) Pandas() string {
	metadata := s.reader.Schema().Metadata()
	value, _ := metadata.GetValue("pandas")
	return value
}

func (s *Source) Fill(b *rows.Batch) error {
	return s.FillBy(b, s.load)
}

// load returns the next rows, which end with their record batch at the latest.
func (s *Source) load() ([]arrow.Array, int, error) {
	for s.record == nil || s.at == int(s.record.NumRows()) {
		if s.next == s.reader.NumRecords() {
			return nil, 0, io.EOF
		}
		if err := s.openRecord(); err != nil {
			return nil, 0, err
		}
	}
	from, to := s.at, int(s.record.NumRows())
	if slices.ContainsFunc(s.Kinds, func(kind rows.Kind) bool { return kind != rows.Other }) {
		to = min(to, from+rows.BatchRows)
	}
	columns := make([]arrow.Array, len(s.Names))
	for i := range columns {
		if s.Reads(i) {
			columns[i] = array.NewSlice(s.record.Column(i), int64(from), int64(to))
		}
	}
	s.at = to
	return columns, to - from, nil
}

// openRecord opens the next record batch.
func (s *Source) openRecord() error {
	record, err := s.reader.Record(s.next)
	if err != nil {
		return err
	}
	if err := s.checkRows(record); err != nil {
		return err
	}
	s.record, s.at = record, 0
	s.next++
	for i := range s.Names {
		if !s.Reads(i) {
			continue
		}
		if err := follow(array.NewSlice(record.Column(i), 0, record.NumRows())); err != nil {
			return fmt.Errorf("column %q: %w", s.Names[i], err)
		}
	}
	return nil
}

// checkRows checks the number of rows of a record batch where loading its columns would not:
// reading as many as a damaged file states would not end.
func (s *Source) checkRows(record arrow.Record) error {
	limit := rows.MaxEmptyRows
	for i, kind := range s.Kinds {
		stored := record.Column(i).DataType().ID()
		if kind != rows.Other && stored != arrow.NULL || s.Typed[i] && arrow.IsInteger(stored) {
			limit = math.MaxInt32 // Arrow's own limit
		}
	}
	if n := record.NumRows(); n < 0 || n > limit || n > 0 && len(s.Names) == 0 {
		return fmt.Errorf(
			"found a record batch of %d rows and %d columns, expected at most %d rows",
			n, len(s.Names), limit)
	}
	return nil
}

// NewReader reads an Arrow IPC file by record batches, for callers that know its schema and check
// its bytes themselves, and which is not compressed. It checks the lengths in all metadata first,
// and does not allow buffers that are larger than the file, so that a damaged file cannot exhaust
// the memory. Such a file may still make the reader panic, here or
// later. The caller keeps ownership of the file.
func NewReader(file io.ReaderAt, size int64) (*ipc.FileReader, error) {
	const padding = 64 // that the Arrow reader adds
	return open(io.NewSectionReader(file, 0, size), false, size+padding)
}

// open checks the lengths in a file's metadata and, if asked, its compressed buffers, and opens a
// reader that allocates buffers of at most limit bytes.
func open(in *io.SectionReader, frames bool, limit int64) (*ipc.FileReader, error) {
	if err := verify(in, frames); err != nil {
		return nil, err
	}
	return ipc.NewFileReader(in, ipc.WithAllocator(rows.NewAllocator(limit)))
}

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
