// Package rows has what all table formats share: the batches of rows that they are read into, and
// what is read from a text as a number.
package rows

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
)

// Kind is the kind of a column's values.
type Kind int

const (
	Unknown Kind = iota // text files do not say
	Number              // integers, floating-point numbers, decimals or booleans (0 and 1)
	Text
	List  // lists of texts
	Other // anything else, whose values cannot be read
)

func (k Kind) String() string {
	return [...]string{"untyped", "number", "text", "list of texts", "unsupported"}[k]
}

// A Source reads the rows of one file format.
type Source interface {
	// Columns are the column names in file order.
	Columns() []string
	// Kind is the kind of a column's values.
	Kind(column int) Kind
	// Type is the type of a column's values in the file. It is utf8 for text files, and nil for
	// Parquet types without an equivalent in Arrow or that Batch.Array cannot return.
	Type(column int) arrow.DataType
	// KeepType says that a column is read only by Batch.Array, so that it need not be converted.
	// Call it before Fill. Type must not be nil.
	KeepType(column int)
	// Metadata is what an Arrow file's schema says of a column under a key, "" if nothing.
	Metadata(column int, key string) string
	// Pandas returns the value of the key pandas in the schema of an Arrow or Parquet file, or "".
	Pandas() string
	// Fill replaces the rows of b with the next ones, at least one, or returns io.EOF.
	Fill(b *Batch) error
	// Where names a row for messages: "edges.tsv:12" counts lines from 1 (a header is line 1),
	// "edges.parquet row 10" counts rows from 0. The row must have been read.
	Where(row int64) string
	io.Closer
}

// Binary is what the Sources of binary formats share.
type Binary struct {
	Path  string
	Names []string
	Kinds []Kind
	Typed []bool // columns that keep their type; their kind is Other
	row   int64  // the next row of the table
}

func (s *Binary) Columns() []string      { return s.Names }
func (s *Binary) Kind(column int) Kind   { return s.Kinds[column] }
func (s *Binary) KeepType(column int)    { s.Kinds[column], s.Typed[column] = Other, true }
func (s *Binary) Where(row int64) string { return fmt.Sprintf("%s row %d", s.Path, row) }
func (s *Binary) Close() error           { return nil }

func (s *Binary) Metadata(int, string) string { return "" }

// Add appends a column.
func (s *Binary) Add(name string, kind Kind) {
	s.Names, s.Kinds, s.Typed = append(s.Names, name), append(s.Kinds, kind), append(s.Typed, false)
}

// BatchRows is the number of rows in a batch of a binary file.
const BatchRows = 8192

// MaxEmptyRows is more than writers put into one record batch or row group. Where no column has
// data, nothing would contradict a wrong number of rows.
var MaxEmptyRows int64 = 1 << 24

// FillBy fills a batch with the next rows, which load returns with their number.
func (s *Binary) FillBy(b *Batch, load func() (columns []arrow.Array, rows int, err error)) error {
	b.Len = 0
	err := Guard(func() error {
		columns, rows, err := load()
		if err != nil {
			return err
		}
		b.fill(s, columns, rows)
		return nil
	})
	if err != nil && err != io.EOF {
		return Damaged(s.Path, fmt.Sprintf("from row %d on", s.row), err)
	}
	s.row += int64(b.Len)
	return err
}

// Reads reports whether a column is read.
func (s *Binary) Reads(column int) bool { return s.Kinds[column] != Other || s.Typed[column] }

// Damaged says that a file ended early or cannot be decoded; reached is how far reading got. It
// keeps an err that is already more specific.
func Damaged(path, reached string, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || fault.System(err) {
		return fmt.Errorf("read %s %s: %w", path, reached, err)
	}
	return fault.New(fault.Input, "copy or download the file again",
		"read %s: the file is truncated or damaged %s: %w", path, reached, err)
}

// Guard runs a reader of a binary format. On a damaged file these readers panic, with an index out
// of range or their own errors; Guard returns the panic as err.
func Guard(read func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fault.Recovered(cause)
		}
	}()
	return read()
}

// Allocator panics on buffer sizes that only a damaged file asks for. Guard recovers from that
// panic; it could not recover from running out of memory.
type Allocator struct {
	memory.GoAllocator
	limit int
}

// UsualBuffer is a buffer size that any file may ask for: 256 MiB, as well compressed data needs
// much more than the file's size.
var UsualBuffer int64 = 1 << 28

// MostBytes is the most that compressed data of a file may ask for: UsualBuffer, or 64 times the
// file's size if that is more.
func MostBytes(fileSize int64) int64 { return max(UsualBuffer, 64*fileSize) }

// NewAllocator allows buffers of a size.
func NewAllocator(limit int64) *Allocator { return &Allocator{limit: int(limit)} }

func (a *Allocator) Allocate(size int) []byte {
	if size < 0 || size > a.limit {
		panic(fmt.Sprintf("found a buffer of %d bytes", size))
	}
	return a.GoAllocator.Allocate(size)
}

func (a *Allocator) Reallocate(size int, b []byte) []byte {
	if size < 0 || size > a.limit {
		panic(fmt.Sprintf("found a buffer of %d bytes", size))
	}
	return a.GoAllocator.Reallocate(size, b)
}
