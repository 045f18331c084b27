package table

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// parquetSource reads a Parquet file in batches of up to batchRows rows. A batch ends with its row
// group at the latest.
type parquetSource struct {
	path    string
	in      *io.SectionReader
	reader  *file.Reader
	memory  *allocator
	columns []string
	kinds   []Kind
	leaves  []leaf // of each column

	chunks []chunk       // of each column in the open row group; nil if the kind is Other
	typed  []bool        // columns that keep their type; their kind is Other
	arrays []arrow.Array // of those columns, with all rows of the open row group
	rows   int64         // rows in the open row group
	group  int           // the row group to open next
	left   int64         // rows left in the open row group
	row    int64         // the next row of the table
}

// leaf is the location and type of a column's values.
type leaf struct {
	index    int            // index among the file's leaf columns
	numbers  numberForm     // of a column of numbers
	unsigned bool           // integers are unsigned
	scale    int32          // of decimals
	levels   levelMeanings  // of the values
	dataType arrow.DataType // nil if Arrow has no such type
}

// levelMeanings interprets a value's definition level.
type levelMeanings struct {
	element int16 // at this level or above, the value's list has this element; 0 outside a list
	present int16 // at this level or above, the value is not missing
}

func openParquet(path string, in *io.SectionReader) (*parquetSource, error) {
	s := &parquetSource{path: path, in: in, memory: newAllocator(in.Size())}
	err := guard(func() (err error) {
		if s.reader, err = file.NewParquetReader(in, file.WithReadProps(parquet.NewReaderProperties(s.memory))); err != nil {
			return err
		}
		s.describe(s.reader.MetaData().Schema)
		return nil
	})
	if err != nil {
		return nil, damaged(path, "in its footer or schema", err)
	}
	return s, nil
}

// describe finds the columns, which are the top-level fields, and their single leaves.
func (s *parquetSource) describe(all *schema.Schema) {
	leaves := make(map[schema.Node][]int)
	for i := range all.NumColumns() {
		leaves[all.ColumnRoot(i)] = append(leaves[all.ColumnRoot(i)], i)
	}
	for i := range all.Root().NumFields() {
		field := all.Root().Field(i)
		kind, at := Other, leaf{}
		if indices := leaves[field]; len(indices) == 1 {
			column := all.Column(indices[0])
			kind, at = kindOfLeaf(column)
			at.index = indices[0]
			at.dataType = typeOfField(field, column)
			at.levels = levelMeanings{element: elementLevel(column), present: column.MaxDefinitionLevel()}
			switch {
			case column.MaxRepetitionLevel() == 1 && kind == Text:
				kind = List
			case column.MaxRepetitionLevel() > 0 || field.Type() == schema.Group:
				kind = Other
			}
		}
		s.columns = append(s.columns, field.Name())
		s.kinds = append(s.kinds, kind)
		s.leaves = append(s.leaves, at)
	}
	s.typed = make([]bool, len(s.columns))
}

// kindOfLeaf is the kind of single values in a leaf column, and the form of its numbers.
func kindOfLeaf(column *schema.Column) (Kind, leaf) {
	physical := column.PhysicalType()
	switch logical := column.LogicalType().(type) {
	case *schema.DecimalLogicalType:
		if isScale(logical.Scale()) {
			return Number, leaf{numbers: decimals, scale: logical.Scale()}
		}
	case schema.Float16LogicalType:
		if physical == parquet.Types.FixedLenByteArray && column.TypeLength() == 2 {
			return Number, leaf{numbers: floats}
		}
	case *schema.IntLogicalType:
		if physical == parquet.Types.Int32 || physical == parquet.Types.Int64 {
			return Number, leaf{numbers: integers, unsigned: !logical.IsSigned()}
		}
	case schema.StringLogicalType, schema.EnumLogicalType:
		if physical == parquet.Types.ByteArray {
			return Text, leaf{}
		}
	case schema.NoLogicalType, schema.UnknownLogicalType, schema.NullLogicalType:
		switch physical {
		case parquet.Types.Int32, parquet.Types.Int64, parquet.Types.Boolean:
			return Number, leaf{numbers: integers}
		case parquet.Types.Float, parquet.Types.Double:
			return Number, leaf{numbers: floats}
		case parquet.Types.ByteArray:
			return Text, leaf{}
		}
	}
	return Other, leaf{}
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

func (s *parquetSource) names() []string { return s.columns }

func (s *parquetSource) kind(column int) Kind { return s.kinds[column] }

func (s *parquetSource) dataType(column int) arrow.DataType { return s.leaves[column].dataType }

func (s *parquetSource) keepType(column int) { s.kinds[column], s.typed[column] = Other, true }

func (s *parquetSource) where(row int64) string { return fmt.Sprintf("%s row %d", s.path, row) }

func (s *parquetSource) Close() error { return nil }

func (s *parquetSource) fill(b *Batch) error {
	err := guard(func() error {
		for s.left == 0 {
			if s.group == s.reader.NumRowGroups() {
				return io.EOF
			}
			if err := s.openGroup(); err != nil {
				return err
			}
		}
		b.reset(s.kinds)
		rows := int(min(s.left, batchRows))
		for i, chunk := range s.chunks {
			if s.typed[i] {
				from := s.rows - s.left
				b.arrays[i] = array.NewSlice(s.arrays[i], from, from+int64(rows))
			}
			if chunk == nil {
				continue
			}
			b.vectors[i].numbers = s.leaves[i].numbers
			if err := chunk.load(&b.vectors[i], rows); err != nil {
				return fmt.Errorf("column %q: %w", s.columns[i], err)
			}
		}
		b.Len = rows
		s.row += int64(rows)
		s.left -= int64(rows)
		return nil
	})
	if err != nil && err != io.EOF {
		return damaged(s.path, fmt.Sprintf("from row %d on", s.row), err)
	}
	return err
}

func (s *parquetSource) openGroup() error {
	group := s.reader.RowGroup(s.group)
	s.group++
	if s.left = group.NumRows(); s.left < 0 {
		return fmt.Errorf("row group %d has %d rows", s.group-1, s.left)
	}
	s.rows = s.left
	s.chunks, s.arrays = make([]chunk, len(s.columns)), make([]arrow.Array, len(s.columns))
	loaded := 0
	for i, kind := range s.kinds {
		if kind == Other && !s.typed[i] {
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
			return err
		}
		values := file.NewColumnReader(column, pages, s.memory, s.reader.BufferPool())
		if !s.typed[i] {
			s.chunks[i] = newChunk(kind, s.leaves[i], values, stored.NumValues())
		} else if s.arrays[i], err = typedChunk(values, s.leaves[i].dataType, s.leaves[i].levels, s.rows); err != nil {
			return fmt.Errorf("column %q: %w", s.columns[i], err)
		}
	}
	if loaded == 0 && s.left > maxEmptyRows { // no column would contradict a wrong number of rows
		return fmt.Errorf("row group %d has %d rows, expected at most %d", s.group-1, s.left, maxEmptyRows)
	}
	return nil
}
