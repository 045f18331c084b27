package table

import (
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
)

// A Batch is a number of consecutive rows. Results of its methods are valid as long as the batch.
// Columns and rows count from 0, rows within the batch.
type Batch struct {
	First int64 // table row of the batch's first row
	Len   int   // number of rows

	// A text file's batch: the fields of all rows in row order, as ranges of data.
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

// vector holds the values of one column of a batch. Only the slices for its kind are used.
type vector struct {
	kind     Kind
	numbers  numberForm // Number: the slice that holds the values
	valid    []bool     // Number: false if the value is missing
	integers []int64    // Number
	floats   []float64  // Number
	// Text: nil is a missing value; List: the elements of all rows; Number: decimals as written
	texts [][]byte
	ends  []int // List: row i has texts[ends[i-1]:ends[i]]
}

// numberForm is the representation of numbers in a column of a binary format.
type numberForm int

const (
	floats numberForm = iota
	integers
	decimals
)

// Text returns the bytes of a field. Numbers are formatted in decimal. A missing value in Arrow or
// Parquet is empty, and so is every field of kind List or Other.
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

// Number returns the value of a field, which may be infinite. A missing field is NaN. Missing are
// null and NaN in Arrow and Parquet, and in text whatever pandas.read_csv takes for missing by
// default, such as an empty field, NA, NaN, N/A, None and null; "." and "-" are not missing. Blanks
// around a text are ignored. Errors say what was found instead of a number; they include numbers
// beyond float64 and integers that float64 cannot hold exactly.
func (b *Batch) Number(column, i int) (value float64, missing bool, err error) {
	if b.vectors == nil {
		return parseNumber(b.Text(column, i))
	}
	switch v := &b.vectors[column]; {
	case v.kind == Text:
		return parseNumber(v.texts[i])
	case v.kind != Number:
		return 0, false, fmt.Errorf("found a value of %s type, expected a number", v.kind)
	case !v.valid[i]:
		return math.NaN(), true, nil
	case v.numbers == decimals:
		return parseNumber(v.texts[i])
	case v.numbers == integers:
		n := v.integers[i]
		if !exact(n) {
			return 0, false, fmt.Errorf("found integer %d, which a 64-bit floating-point number cannot hold exactly", n)
		}
		return float64(n), false, nil
	default:
		return v.floats[i], math.IsNaN(v.floats[i]), nil
	}
}

// Contents returns the first row of the batch whose field in a text column is a number, even one
// too large for Number, and the first whose field is neither a number nor missing. Each is -1 if
// there is no such row.
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

// Integer is Number for integers. Fractions are errors too.
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

// List returns the elements of a field of kind List; nil if it is missing or the column has another
// kind. A missing element is nil.
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
