// Package parquetfile reads Apache Parquet files as tables. It reads pages with the Parquet
// library, but not rows: of a file with a wrong bit, the library's reader of rows crashes the
// program.
package parquetfile

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"tcbuild/ingest/table/rows"
)

// Source reads a Parquet file in batches of up to rows.BatchRows rows. A batch ends with its row
// group at the latest.
type Source struct {
	rows.Binary
	in     *io.SectionReader
	reader *file.Reader
	memory *rows.Allocator
	leaves []leaf // of each column

	columns []*column // of the open row group; nil if a column is not read
	group   int       // the row group to open next
	left    int64     // rows left in the open row group
	window  int64     // rows to read next: fewer if texts are long
}

// Open opens a table. The caller keeps ownership of the file.
func Open(path string, in *io.SectionReader) (*Source, error) {
	s := &Source{
		Binary: rows.Binary{Path: path}, in: in, memory: rows.NewAllocator(rows.MostBytes(in.Size())),
		window: firstRows,
	}
	err := rows.Guard(func() (err error) {
		if s.reader, err = file.NewParquetReader(in,
			file.WithReadProps(parquet.NewReaderProperties(s.memory))); err != nil {
			return err
		}
		durations, err := durations(s.reader.MetaData())
		if err != nil {
			return err
		}
		s.describe(s.reader.MetaData().Schema, durations)
		return checkFooter(s.reader.MetaData(), in.Size())
	})
	if err != nil {
		return nil, rows.Damaged(path, "in its footer or schema", err)
	}
	return s, nil
}

// describe finds the columns, which are the top-level fields, and their single leaves.
func (s *Source) describe(all *schema.Schema, durations map[string]arrow.DataType) {
	leaves := make(map[schema.Node][]int)
	for i := range all.NumColumns() {
		leaves[all.ColumnRoot(i)] = append(leaves[all.ColumnRoot(i)], i)
	}
	for i := range all.Root().NumFields() {
		field, l := all.Root().Field(i), leaf{kind: rows.Other}
		if indices := leaves[field]; len(indices) == 1 {
			l = newLeaf(field, all.Column(indices[0]), indices[0])
			if duration := durations[field.Name()]; duration != nil &&
				l.typed == arrow.PrimitiveTypes.Int64 {
				l.values, l.typed, l.kind = duration, duration, rows.Other
			}
		}
		s.Add(field.Name(), l.kind)
		s.leaves = append(s.leaves, l)
	}
}

func (s *Source) Type(column int) arrow.DataType { return s.leaves[column].typed }

func (s *Source) Pandas() string {
	if text := s.reader.MetaData().KeyValueMetadata().FindValue("pandas"); text != nil {
		return *text
	}
	return ""
}

func (s *Source) Fill(b *rows.Batch) error { return s.FillBy(b, s.load) }

// load returns the next rows.
func (s *Source) load() ([]arrow.Array, int, error) {
	for s.left == 0 {
		if s.group == s.reader.NumRowGroups() {
			return nil, 0, io.EOF
		}
		if err := s.openGroup(); err != nil {
			return nil, 0, err
		}
	}
	n := min(s.left, s.window)
	columns := make([]arrow.Array, len(s.columns))
	for i, column := range s.columns {
		if column == nil {
			continue
		}
		var err error
		if columns[i], err = column.next(int(n)); err != nil {
			return nil, 0, fmt.Errorf("column %q: %w", s.Names[i], err)
		}
	}
	s.left -= n
	s.adapt(columns)
	return columns, int(n), nil
}

const (
	firstRows   = 256      // read before the length of texts is known
	batchTexts  = 32 << 20 // bytes; a batch with more makes the next one smaller
	growingRows = 4        // how many times smaller, or larger
)

// adapt makes the next batch smaller if these columns have long texts, and larger if short.
func (s *Source) adapt(columns []arrow.Array) {
	bytes := 0
	for _, column := range columns {
		if texts, ok := column.(array.BinaryLike); ok {
			bytes += len(texts.ValueBytes())
		}
	}
	switch {
	case bytes > batchTexts:
		s.window = max(s.window/growingRows, 1)
	case bytes < batchTexts/growingRows:
		s.window = min(growingRows*s.window, rows.BatchRows)
	}
}

func (s *Source) openGroup() error {
	group := s.reader.RowGroup(s.group)
	s.group++
	if s.left = group.NumRows(); s.left < 0 {
		return fmt.Errorf("row group %d has %d rows", s.group-1, s.left)
	}
	s.columns = make([]*column, len(s.Names))
	opened := 0
	for i, l := range s.leaves {
		if !s.Reads(i) {
			continue
		}
		opened++
		stored, err := group.MetaData().ColumnChunk(l.index)
		if err != nil {
			return err
		}
		described := s.reader.MetaData().Schema.Column(l.index)
		pages, err := openPages(s.in, stored, described, s.memory)
		if err != nil {
			return fmt.Errorf("column %q: %w", s.Names[i], err)
		}
		s.columns[i] = newColumn(l, described, pages, s.left, s.memory, s.reader.BufferPool())
	}
	// no column would contradict a wrong number of rows
	if opened == 0 && s.left > rows.MaxEmptyRows {
		return fmt.Errorf("row group %d has %d rows, expected at most %d", s.group-1, s.left,
			rows.MaxEmptyRows)
	}
	return nil
}
