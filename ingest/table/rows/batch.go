package rows

import (
	"bytes"
	"fmt"
	"math"
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
	Vectors []Vector
	Arrays  []arrow.Array // of the columns that keep their type, which have no vector

	formatted []byte // texts made from numbers
}

// Span is the half-open range [Start, End) of a batch's data.
type Span struct{ Start, End uint32 }

// reset empties a batch and gives it a vector of each kind.
func (b *Batch) reset(kinds []Kind) {
	if b.Vectors == nil {
		b.Vectors, b.Arrays = make([]Vector, len(kinds)), make([]arrow.Array, len(kinds))
	}
	for i := range b.Vectors {
		v := &b.Vectors[i]
		*v = Vector{Kind: kinds[i], Valid: v.Valid[:0], Integers: v.Integers[:0], Floats: v.Floats[:0], Texts: v.Texts[:0], Ends: v.Ends[:0]}
	}
	b.formatted = b.formatted[:0]
}

// Text returns the bytes of a field. Numbers are formatted in decimal. A missing value in Arrow or
// Parquet is empty, and so is every field of kind List or Other.
func (b *Batch) Text(column, i int) []byte {
	if b.Vectors == nil {
		f := b.Fields[i*b.Width+column]
		return b.Data[f.Start:f.End:f.End]
	}
	v := &b.Vectors[column]
	switch {
	case v.Kind == Text:
		return v.Texts[i]
	case v.Kind != Number || !v.Valid[i]:
		return nil
	case v.Numbers == Decimals:
		return v.Texts[i]
	}
	start := len(b.formatted)
	if v.Numbers == Integers {
		b.formatted = strconv.AppendInt(b.formatted, v.Integers[i], 10)
	} else {
		b.formatted = strconv.AppendFloat(b.formatted, v.Floats[i], 'g', -1, 64)
	}
	return b.formatted[start:len(b.formatted):len(b.formatted)]
}

// Missing reports whether a field has no value, in the sense of Number.
func (b *Batch) Missing(column, i int) bool {
	if b.Vectors == nil {
		return IsMissing(bytes.TrimSpace(b.Text(column, i)))
	}
	switch v := &b.Vectors[column]; v.Kind {
	case Text:
		return v.Texts[i] == nil
	case Number:
		return !v.Valid[i]
	}
	return false
}

// Number returns the value of a field, which may be infinite. A missing field is NaN. Missing are
// null and NaN in Arrow and Parquet, and in text whatever pandas.read_csv takes for missing by
// default, such as an empty field, NA, NaN, N/A, None and null; "." and "-" are not missing. Blanks
// around a text are ignored. Errors say what was found instead of a number; they include numbers
// beyond float64 and integers that float64 cannot hold exactly.
func (b *Batch) Number(column, i int) (value float64, missing bool, err error) {
	if b.Vectors == nil {
		text := b.Text(column, i)
		if len(text) == 1 && text[0]-'0' <= 9 { // as most cells of many a matrix
			return float64(text[0] - '0'), false, nil
		}
		return parseNumber(text)
	}
	switch v := &b.Vectors[column]; {
	case v.Kind == Text:
		return parseNumber(v.Texts[i])
	case v.Kind != Number:
		return 0, false, fmt.Errorf("found a value of %s type, expected a number", v.Kind)
	case !v.Valid[i]:
		return math.NaN(), true, nil
	case v.Numbers == Decimals:
		return parseNumber(v.Texts[i])
	case v.Numbers == Integers:
		n := v.Integers[i]
		if !exact(n) {
			return 0, false, fmt.Errorf("found integer %d, which a 64-bit floating-point number cannot hold exactly", n)
		}
		return float64(n), false, nil
	default:
		return v.Floats[i], math.IsNaN(v.Floats[i]), nil
	}
}

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
	if b.Vectors == nil {
		return parseInteger(b.Text(column, i))
	}
	switch v := &b.Vectors[column]; {
	case v.Kind == Text:
		return parseInteger(v.Texts[i])
	case v.Kind == Number && v.Numbers == Integers && v.Valid[i]:
		return v.Integers[i], false, nil
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
	if b.Vectors == nil || b.Vectors[column].Kind != List {
		return nil
	}
	v := &b.Vectors[column]
	start := 0
	if i > 0 {
		start = v.Ends[i-1]
	}
	return v.Texts[start:v.Ends[i]]
}

// Array returns a column's values in their own type, missing ones as nulls. The fields of a text
// file are utf8 and never missing. In Arrow and Parquet files, KeepType must have been called for
// the column. Unlike the rest of a batch, the array stays valid. Its offsets lie inside its
// buffers; its texts may not be UTF-8.
func (b *Batch) Array(column int) arrow.Array {
	if b.Vectors != nil {
		return b.Arrays[column]
	}
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	texts.Reserve(b.Len)
	for i := range b.Len {
		texts.BinaryBuilder.Append(b.Text(column, i))
	}
	return texts.NewArray()
}
