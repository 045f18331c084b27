package table

import (
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// batchRows is the number of rows in a batch of a binary file.
const batchRows = 8192

// arrowSource reads an Arrow IPC file, one record batch at a time, in windows of batchRows.
type arrowSource struct {
	path    string
	in      *io.SectionReader
	reader  *ipc.FileReader
	columns []string
	kinds   []Kind
	typed   []bool  // columns that keep their type; their kind is Other
	blocks  []block // of the record batches

	record arrow.Record // the record batch being read, nil before the first
	next   int          // the next record batch to read
	at     int          // the next row in record
	row    int64        // the next row of the table
}

func openArrow(path string, in *io.SectionReader) (*arrowSource, error) {
	s := &arrowSource{path: path, in: in}
	err := guard(func() (err error) {
		if s.blocks, err = verifyFooter(in); err != nil {
			return err
		}
		memory := newAllocator(in.Size())
		if s.reader, err = ipc.NewFileReader(in, ipc.WithAllocator(memory)); err != nil {
			return err
		}
		for _, field := range s.reader.Schema().Fields() {
			s.columns = append(s.columns, field.Name)
			s.kinds = append(s.kinds, kindOf(field.Type))
		}
		s.typed = make([]bool, len(s.columns))
		return nil
	})
	if err != nil {
		return nil, damaged(path, "in its footer or schema", err)
	}
	return s, nil
}

func (s *arrowSource) names() []string { return s.columns }

func (s *arrowSource) kind(column int) Kind { return s.kinds[column] }

func (s *arrowSource) dataType(column int) arrow.DataType {
	return s.reader.Schema().Field(column).Type
}

func (s *arrowSource) keepType(column int) { s.kinds[column], s.typed[column] = Other, true }

func (s *arrowSource) where(row int64) string { return fmt.Sprintf("%s row %d", s.path, row) }

func (s *arrowSource) Close() error { return nil }

func (s *arrowSource) fill(b *Batch) error {
	err := guard(func() error {
		for s.record == nil || s.at == int(s.record.NumRows()) {
			if s.next == len(s.blocks) {
				return io.EOF
			}
			if err := s.blocks[s.next].verify(s.in, viewsOf(s.reader.Schema().Fields())); err != nil {
				return err
			}
			record, err := s.reader.Record(s.next)
			if err != nil {
				return err
			}
			if err := s.checkRows(record); err != nil {
				return err
			}
			s.record, s.at = record, 0
			s.next++
			for i, typed := range s.typed {
				if !typed {
					continue
				}
				if err := follow(array.NewSlice(record.Column(i), 0, record.NumRows())); err != nil {
					return fmt.Errorf("column %q: %w", s.columns[i], err)
				}
			}
		}
		to := min(s.at+batchRows, int(s.record.NumRows()))
		b.reset(s.kinds)
		for i, kind := range s.kinds {
			if s.typed[i] {
				b.arrays[i] = array.NewSlice(s.record.Column(i), int64(s.at), int64(to))
			}
			if kind == Other {
				continue
			}
			if err := b.vectors[i].load(s.record.Column(i), s.at, to); err != nil {
				return fmt.Errorf("column %q: %w", s.columns[i], err)
			}
		}
		b.Len = to - s.at
		s.row += int64(b.Len)
		s.at = to
		return nil
	})
	if err != nil && err != io.EOF {
		return damaged(s.path, fmt.Sprintf("from row %d on", s.row), err)
	}
	return err
}

// maxEmptyRows is more than writers put into one record batch. Arrow's null columns have no data
// that a wrong number of rows would contradict.
const maxEmptyRows = 1 << 24

// checkRows checks the number of rows of a record batch where loading its columns would not:
// reading as many as a damaged file states would not end.
func (s *arrowSource) checkRows(record arrow.Record) error {
	limit := int64(maxEmptyRows)
	for i, kind := range s.kinds {
		if kind != Other && record.Column(i).DataType().ID() != arrow.NULL {
			limit = math.MaxInt32 // Arrow's own limit
		}
	}
	if rows := record.NumRows(); rows < 0 || rows > limit || rows > 0 && len(s.columns) == 0 {
		return fmt.Errorf("found a record batch of %d rows and %d columns, expected at most %d rows", rows, len(s.columns), limit)
	}
	return nil
}
