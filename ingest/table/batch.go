package table

import (
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
)

// A Batch is a number of consecutive rows. What its methods return is valid as
// long as the batch. Columns and rows count from 0; rows within the batch.
type Batch struct {
	First int64 // row of the table that is the batch's first
	Len   int   // number of rows

	// A text file's batch: the fields of all rows, row after row, as ranges of data.
	data   []byte
	fields []span
	width  int // fields in a row

	// An Arrow or Parquet file's batch; nil for text.
	vectors []vector
	arrays  []arrow.Array // of the columns that keep their type, which have no vector

	formatted []byte // texts made from numbers
}

// span is the half-open range [start, end) of a batch's data.
type span struct{ start, end uint32 }

// vector holds the values of one column of a batch. Only the slices of its kind are used.
type vector struct {
	kind     Kind
	numbers  numberForm // Number: which slice has the values
	valid    []bool     // Number: false is a missing value
	integers []int64    // Number
	floats   []float64  // Number
	// Text: nil is a missing value; List: the elements of all rows; Number: decimals as they are
	// written
	texts [][]byte
	ends  []int // List: row i has texts[ends[i-1]:ends[i]]
}

// numberForm is how a column of a binary format holds its numbers.
type numberForm int

const (
	floats numberForm = iota
	integers
	decimals
)

// Text returns the bytes of a field. A number is formatted in decimal; what is
// missing in Arrow or Parquet is empty. For List and Other it is empty.
func (b *Batch) Text(column, i int) []byte {
	if b.vectors == nil {
		f := b.fields[i*b.width+column]
		return b.data[f.start:f.end:f.end]
	}
	v := &b.vectors[column]
	switch {
	case v.kind == Text:
		return v.texts[i]
	case v.kind != Number || !v.valid[i]:
		return nil
	case v.numbers == decimals:
		return v.texts[i]
	}
	start := len(b.formatted)
	if v.numbers == integers {
		b.formatted = strconv.AppendInt(b.formatted, v.integers[i], 10)
	} else {
		b.formatted = strconv.AppendFloat(b.formatted, v.floats[i], 'g', -1, 64)
	}
	return b.formatted[start:len(b.formatted):len(b.formatted)]
}

// Number returns the value of a field, which may be infinite. missing fields have the value NaN:
// null and NaN in Arrow and Parquet, in text what pandas.read_csv takes for missing by default,
// such as an empty field, NA, NaN, N/A, None and null; "." and "-" are not missing. Blanks around a
// text do not count. The error says what was found in place of a number; a number beyond float64
// and an integer that float64 cannot hold exactly are such errors too.
func (b *Batch) Number(column, i int) (value float64, missing bool, err error) {
	if b.vectors == nil {
		return parseNumber(b.Text(column, i))
	}
	switch v := &b.vectors[column]; {
	case v.kind == Text:
		return parseNumber(v.texts[i])
	case v.kind != Number:
		return 0, false, fmt.Errorf("found a value of an %s type, expected a number", v.kind)
	case !v.valid[i]:
		return math.NaN(), true, nil
	case v.numbers == decimals:
		return parseNumber(v.texts[i])
	case v.numbers == integers:
		n := v.integers[i]
		if !exact(n) {
			return 0, false, fmt.Errorf("integer %d is not exact as a 64-bit floating-point number", n)
		}
		return float64(n), false, nil
	default:
		return v.floats[i], math.IsNaN(v.floats[i]), nil
	}
}

// Contents returns the first row of the batch whose field in a text column is a number, if only one
// that Number refuses for its size, and the first whose field is neither a number nor missing; -1
// where there is none.
func (b *Batch) Contents(column int) (number, other int) {
	number, other = -1, -1
	for i := 0; i < b.Len && (number < 0 || other < 0); i++ {
		switch spelling := spellingOf(b.Text(column, i)); {
		case spelling == aNumber && number < 0:
			number = i
		case spelling == otherText && other < 0:
			other = i
		}
	}
	return number, other
}

// Integer is Number for integers; the error also covers fractions.
func (b *Batch) Integer(column, i int) (value int64, missing bool, err error) {
	if b.vectors == nil {
		return parseInteger(b.Text(column, i))
	}
	switch v := &b.vectors[column]; {
	case v.kind == Text:
		return parseInteger(v.texts[i])
	case v.kind == Number && v.numbers == integers && v.valid[i]:
		return v.integers[i], false, nil
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

// List returns the elements of a field of kind List, nil when it is missing or
// the column is of another kind. A missing element is nil.
func (b *Batch) List(column, i int) [][]byte {
	if b.vectors == nil || b.vectors[column].kind != List {
		return nil
	}
	v := &b.vectors[column]
	start := 0
	if i > 0 {
		start = v.ends[i-1]
	}
	return v.texts[start:v.ends[i]]
}
