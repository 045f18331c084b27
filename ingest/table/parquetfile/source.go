// Package parquetfile reads Apache Parquet files as tables.
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

	chunks []chunk       // of each column in the open row group; nil if the kind is Other
	arrays []arrow.Array // of the columns that keep their type, with all rows of the open row group
	rows   int64         // rows in the open row group
	group  int           // the row group to open next
	left   int64         // rows left in the open row group
}

// leaf is the location and type of a column's values.
type leaf struct {
	index    int             // index among the file's leaf columns
	numbers  rows.NumberForm // of a column of numbers
	unsigned bool            // integers are unsigned
	scale    int32           // of decimals
	levels   levelMeanings   // of the values
	dataType arrow.DataType  // nil if Arrow has no such type
}

// levelMeanings interprets a value's definition level.
type levelMeanings struct {
	element int16 // at this level or above, the value's list has this element; 0 outside a list
	present int16 // at this level or above, the value is not missing
}

// Open opens a table. The caller keeps ownership of the file.
func Open(path string, in *io.SectionReader) (*Source, error) {
	s := &Source{Binary: rows.Binary{Path: path}, in: in, memory: rows.NewAllocator(in.Size())}
	err := rows.Guard(func() (err error) {
		if s.reader, err = file.NewParquetReader(in, file.WithReadProps(parquet.NewReaderProperties(s.memory))); err != nil {
			return err
		}
		s.describe(s.reader.MetaData().Schema)
		return checkFooter(s.reader)
	})
	if err != nil {
		return nil, rows.Damaged(path, "in its footer or schema", err)
	}
	return s, nil
}

// describe finds the columns, which are the top-level fields, and their single leaves.
func (s *Source) describe(all *schema.Schema) {
	leaves := make(map[schema.Node][]int)
	for i := range all.NumColumns() {
		leaves[all.ColumnRoot(i)] = append(leaves[all.ColumnRoot(i)], i)
	}
	for i := range all.Root().NumFields() {
		field := all.Root().Field(i)
		kind, at := rows.Other, leaf{}
		if indices := leaves[field]; len(indices) == 1 {
			column := all.Column(indices[0])
			kind, at = kindOfLeaf(column)
			at.index = indices[0]
			at.dataType = typeOfField(field, column)
			at.levels = levelMeanings{element: elementLevel(column), present: column.MaxDefinitionLevel()}
			switch {
			case column.MaxRepetitionLevel() == 1 && kind == rows.Text:
				kind = rows.List
			case column.MaxRepetitionLevel() > 0 || field.Type() == schema.Group:
				kind = rows.Other
			}
		}
		s.Add(field.Name(), kind)
		s.leaves = append(s.leaves, at)
	}
}

// kindOfLeaf is the kind of single values in a leaf column, and the form of its numbers.
func kindOfLeaf(column *schema.Column) (rows.Kind, leaf) {
	physical := column.PhysicalType()
	switch logical := column.LogicalType().(type) {
	case *schema.DecimalLogicalType:
		if rows.IsScale(logical.Scale()) {
			return rows.Number, leaf{numbers: rows.Decimals, scale: logical.Scale()}
		}
	case schema.Float16LogicalType:
		if physical == parquet.Types.FixedLenByteArray && column.TypeLength() == 2 {
			return rows.Number, leaf{numbers: rows.Floats}
		}
	case *schema.IntLogicalType:
		if physical == parquet.Types.Int32 || physical == parquet.Types.Int64 {
			return rows.Number, leaf{numbers: rows.Integers, unsigned: !logical.IsSigned()}
		}
	case schema.StringLogicalType, schema.EnumLogicalType:
		if physical == parquet.Types.ByteArray {
			return rows.Text, leaf{}
		}
	case schema.NoLogicalType, schema.UnknownLogicalType, schema.NullLogicalType:
		switch physical {
		case parquet.Types.Int32, parquet.Types.Int64, parquet.Types.Boolean:
			return rows.Number, leaf{numbers: rows.Integers}
		case parquet.Types.Float, parquet.Types.Double:
			return rows.Number, leaf{numbers: rows.Floats}
		case parquet.Types.ByteArray:
			return rows.Text, leaf{}
		}
	}
	return rows.Other, leaf{}
}

// elementLevel is the definition level of a leaf's repeated ancestor, at which its list has an
// element, or 0 without one.
func elementLevel(column *schema.Column) int16 {
	level := column.MaxDefinitionLevel()
	for node := column.SchemaNode(); node.Parent() != nil; node = node.Parent() {
		switch node.RepetitionType() {
		case parquet.Repetitions.Repeated:
			return level
		case parquet.Repetitions.Optional:
			level--
		}
	}
	return 0
}

func (s *Source) DataType(column int) arrow.DataType { return s.leaves[column].dataType }

func (s *Source) Fill(b *rows.Batch) error {
	return s.FillBy(b, func() (int, error) { return s.load(b) })
}

// load appends the next rows to b.
func (s *Source) load(b *rows.Batch) (int, error) {
	for s.left == 0 {
		if s.group == s.reader.NumRowGroups() {
			return 0, io.EOF
		}
		if err := s.openGroup(); err != nil {
			return 0, err
		}
	}
	from, n := s.rows-s.left, min(s.left, rows.BatchRows)
	for i, chunk := range s.chunks {
		if s.Typed[i] {
			b.Arrays[i] = array.NewSlice(s.arrays[i], from, from+n)
		}
		if chunk == nil {
			continue
		}
		b.Vectors[i].Numbers = s.leaves[i].numbers
		if err := chunk.load(&b.Vectors[i], int(n)); err != nil {
			return 0, fmt.Errorf("column %q: %w", s.Columns[i], err)
		}
	}
	s.left -= n
	return int(n), nil
}

func (s *Source) openGroup() error {
	group := s.reader.RowGroup(s.group)
	s.group++
	if s.left = group.NumRows(); s.left < 0 {
		return fmt.Errorf("row group %d has %d rows", s.group-1, s.left)
	}
	s.rows = s.left
	s.chunks, s.arrays = make([]chunk, len(s.Columns)), make([]arrow.Array, len(s.Columns))
	loaded := 0
	for i, kind := range s.Kinds {
		if kind == rows.Other && !s.Typed[i] {
			continue
		}
		loaded++
		stored, err := group.MetaData().ColumnChunk(s.leaves[i].index)
		if err != nil {
			return err
		}
		column := s.reader.MetaData().Schema.Column(s.leaves[i].index)
		pages, err := openPages(s.in, stored, column, s.memory)
		if err != nil {
			return fmt.Errorf("column %q: %w", s.Columns[i], err)
		}
		if column.MaxRepetitionLevel() == 0 && stored.NumValues() != s.rows {
			return fmt.Errorf("column %q: found %d values in row group %d, expected one in each of %d rows", s.Columns[i], stored.NumValues(), s.group-1, s.rows)
		}
		values := file.NewColumnReader(column, pages, s.memory, s.reader.BufferPool())
		if !s.Typed[i] {
			s.chunks[i] = newChunk(kind, s.leaves[i], values, stored.NumValues())
		} else if s.arrays[i], err = typedChunk(values, s.leaves[i].dataType, s.leaves[i].levels, s.rows); err != nil {
			return fmt.Errorf("column %q: %w", s.Columns[i], err)
		}
	}
	if loaded == 0 && s.left > rows.MaxEmptyRows { // no column would contradict a wrong number of rows
		return fmt.Errorf("row group %d has %d rows, expected at most %d", s.group-1, s.left, rows.MaxEmptyRows)
	}
	return nil
}
