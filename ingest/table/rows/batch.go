package rows

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A Batch is a number of consecutive rows. Results of its methods are valid as long as the batch.
// Columns and rows count from 0, rows within the batch.
type Batch struct {
	First int64 // table row of the batch's first row
	Len   int   // number of rows

	// A text file's batch: the fields of all rows in row order, as ranges of Data.
	Data   []byte
	Fields []Span
	Width  int // fields in a row

	// An Arrow or Parquet file's batch; nil for text.
	vectors []vector
	arrays  []arrow.Array // of the columns that keep their type, which have no vector

	formatted []byte   // texts made from numbers
	elements  [][]byte // of lists
}

// Span is the half-open range [Start, End) of a batch's data.
type Span struct{ Start, End uint32 }

// fill replaces the rows of a batch with the rows of arrays. A column whose kind is Other has none,
// unless it keeps its type.
func (b *Batch) fill(s *Binary, arrays []arrow.Array, rows int) {
	b.vectors, b.arrays = make([]vector, len(s.Kinds)), arrays
	b.Len, b.formatted, b.elements = rows, b.formatted[:0], b.elements[:0]
	for i, kind := range s.Kinds {
		if b.vectors[i].kind = kind; kind != Other {
			b.vectors[i] = newVector(kind, arrays[i])
		}
	}
}

// Twin returns a batch of the same rows, for another goroutine. It is valid as long as b.
func (b *Batch) Twin() *Batch {
	twin := *b
	twin.formatted, twin.elements = nil, nil
	return &twin
}

// Own returns a batch of the same rows that stays valid when the next one is read.
func (b *Batch) Own() *Batch {
	own := b.Twin()
	own.Data, own.Fields = slices.Clone(b.Data), slices.Clone(b.Fields)
	return own
}

// Text returns the bytes of a field. Numbers are formatted in decimal. A missing value in Arrow or
// Parquet is empty, and so is every field of kind List or Other.
func (b *Batch) Text(column, i int) []byte {
	if b.vectors == nil {
		f := b.Fields[i*b.Width+column]
		return b.Data[f.Start:f.End:f.End]
	}
	v := &b.vectors[column]
	start := len(b.formatted)
	switch {
	case v.text != nil:
		return v.textAt(i)
	case v.kind != Number || v.missing(i):
		return nil
	case v.integer != nil:
		b.formatted = strconv.AppendInt(b.formatted, v.integer(i), 10)
	case v.float != nil:
		value, format := v.float(i), byte('g')
		if value == math.Trunc(value) && math.Abs(value) < 1<<53 { // an id: 1000000, not 1e+06
			format = 'f'
		}
		b.formatted = strconv.AppendFloat(b.formatted, value, format, -1, 64)
	}
	return b.formatted[start:len(b.formatted):len(b.formatted)]
}

// Missing reports whether a field has no value, in the sense of Number.
func (b *Batch) Missing(column, i int) bool {
	if b.vectors == nil {
		return IsMissing(bytes.TrimSpace(b.Text(column, i)))
	}
	v := &b.vectors[column]
	return (v.kind == Text || v.kind == Number) && v.missing(i)
}

// Number returns the value of a field, which may be infinite. A missing field is NaN. Missing are
// null and NaN in Arrow and Parquet, and in text whatever pandas.read_csv takes for missing by
// default, such as an empty field, NA, NaN, N/A, None and null; "." and "-" are not missing. Blanks
// around a text are ignored. Errors say what was found instead of a number; they include numbers
// beyond float64 and integers that float64 cannot hold exactly.
func (b *Batch) Number(column, i int) (value float64, missing bool, err error) {
	if b.vectors == nil {
		text := b.Text(column, i)
		if len(text) == 1 && text[0]-'0' <= 9 { // as most cells of many a matrix
			return float64(text[0] - '0'), false, nil
		}
		return parseNumber(text)
	}
	switch v := &b.vectors[column]; {
	case v.kind != Text && v.kind != Number:
		return 0, false, fmt.Errorf("found a value of %s type, expected a number", v.kind)
	case v.missing(i):
		return math.NaN(), true, nil
	case v.integer != nil:
		n := v.integer(i)
		if !exact(n) {
			return 0, false, fmt.Errorf(
				"found integer %d, which a 64-bit floating-point number cannot hold exactly", n)
		}
		return float64(n), false, nil
	case v.float != nil:
		return v.float(i), false, nil
	default:
		return parseNumber(v.textAt(i))
	}
}

// Finite is Number, but an infinite value is an error too.
func (b *Batch) Finite(column, i int) (float64, error) {
	value, _, err := b.Number(column, i)
	if err == nil && math.IsInf(value, 0) {
		err = errInfinite
	}
	return value, err
}

var errInfinite = errors.New("found an infinite value, expected a finite number or a missing one")

// Contents returns the first row of the batch whose field in a text column is a number, even one
// too large for Number; the first whose field is a number in another notation, such as 0,5; and the
// first whose field is other text. Each is -1 if there is no such row.
func (b *Batch) Contents(column int) (number, odd, other int) {
	number, odd, other = -1, -1, -1
	for i := 0; i < b.Len && (number < 0 || odd < 0 || other < 0); i++ {
		switch spelling := spellingOf(b.Text(column, i)); {
		case spelling == aNumber && number < 0:
			number = i
		case spelling == oddNumber && odd < 0:
			odd = i
		case spelling == otherText && other < 0:
			other = i
		}
	}
	return number, odd, other
}

// Integer is Number for integers. Fractions are errors too.
func (b *Batch) Integer(column, i int) (value int64, missing bool, err error) {
	if b.vectors == nil {
		return parseInteger(b.Text(column, i))
	}
	switch v := &b.vectors[column]; {
	case v.kind == Text:
		return parseInteger(v.textAt(i))
	case v.kind == Number && v.integer != nil && !v.missing(i):
		return v.integer(i), false, nil
	}
	number, missing, err := b.Number(column, i)
	if missing || err != nil {
		return 0, missing, err
	}
	if value = int64(number); float64(value) != number || !exact(value) {
		return 0, false, fmt.Errorf("found %v, expected an integer", number)
	}
	return value, false, nil
}

// List returns the elements of a field of kind List; nil if it is missing or the column has another
// kind. A missing element is nil.
func (b *Batch) List(column, i int) [][]byte {
	if b.vectors == nil || b.vectors[column].kind != List || b.vectors[column].missing(i) {
		return nil
	}
	v, first := &b.vectors[column], len(b.elements)
	for start, end := v.list.ValueOffsets(i); start < end; start++ {
		b.elements = append(b.elements, v.elements.textAt(int(start)))
	}
	return b.elements[first:]
}

// Array returns a column's values in their own type, missing ones as nulls. The fields of a text
// file are utf8 and never missing. In Arrow and Parquet files, KeepType must have been called for
// the column. Unlike the rest of a batch, the array stays valid. Its offsets lie inside its
// buffers; its texts may not be UTF-8.
func (b *Batch) Array(column int) arrow.Array {
	if b.vectors != nil {
		return b.arrays[column]
	}
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	texts.Reserve(b.Len)
	for i := range b.Len {
		texts.BinaryBuilder.Append(b.Text(column, i))
	}
	return texts.NewArray()
}
