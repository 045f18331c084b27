package rows

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/fault"
)

// KindOf is the kind that an Arrow type's values can be read as.
func KindOf(t arrow.DataType) Kind {
	switch t := t.(type) {
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type,
		*arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type,
		*arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type,
		*arrow.Decimal128Type, *arrow.Decimal256Type, *arrow.BooleanType, *arrow.NullType:
		return Number
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType,
		*arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		return Text
	case *arrow.DictionaryType:
		if kind := KindOf(t.ValueType); kind == Text || kind == Number {
			return kind
		}
	case arrow.ListLikeType:
		if KindOf(t.Elem()) == Text {
			return List
		}
	}
	return Other
}

// vector has the values of one column of a batch by row. Its slices may be an array's memory: a
// column has arrays of one type, so that they are always that, or always its own.
type vector struct {
	kind   Kind
	text   func(i int) []byte // Text, and the elements of a List; nil is missing
	list   array.ListLike     // List
	texts  [][]byte           // instead of text
	starts []int32            // instead of list: see Column

	form     numberForm // Number: the slice that has the values
	valid    []bool     // Number: false if the value is missing; nil: all are there
	integers []int64
	floats   []float64
	decimals [][]byte // as written
}

// numberForm is the representation of a column's numbers.
type numberForm int

const (
	floats numberForm = iota
	integers
	decimals
)

var errUnsignedRange = fault.New(fault.Input, "store the column as signed integers or as floating-point numbers",
	"found an unsigned integer of 2^63 or more, expected a smaller one")

// load replaces the vector's values with a column's, whose offsets and indices are right.
func (v *vector) load(kind Kind, c Column) error {
	a := c.Array
	v.kind, v.texts, v.starts = kind, c.Texts, c.Starts
	switch {
	case a == nil: // texts
	case kind == Text:
		v.text = textsOf(a)
	case kind == List:
		v.list = a.(array.ListLike)
		v.text = textsOf(v.list.ListValues())
	default:
		if v.valid = nil; len(a.NullBitmapBytes()) > 0 || a.DataType().ID() == arrow.DICTIONARY {
			v.valid = make([]bool, a.Len())
			for i := range v.valid {
				v.valid[i] = a.IsValid(i)
			}
		}
		return v.loadNumbers(a)
	}
	return nil
}

func (v *vector) loadNumbers(a arrow.Array) error {
	v.form = integers
	switch a := a.(type) {
	case *array.Int8:
		v.integers = appendNumbers(v.integers[:0], a.Int8Values())
	case *array.Int16:
		v.integers = appendNumbers(v.integers[:0], a.Int16Values())
	case *array.Int32:
		v.integers = appendNumbers(v.integers[:0], a.Int32Values())
	case *array.Int64:
		v.integers = a.Int64Values()
	case *array.Uint8:
		v.integers = appendNumbers(v.integers[:0], a.Uint8Values())
	case *array.Uint16:
		v.integers = appendNumbers(v.integers[:0], a.Uint16Values())
	case *array.Uint32:
		v.integers = appendNumbers(v.integers[:0], a.Uint32Values())
	case *array.Uint64:
		for i, n := range a.Uint64Values() {
			if n > math.MaxInt64 && (v.valid == nil || v.valid[i]) {
				return errUnsignedRange
			}
		}
		v.integers = appendNumbers(v.integers[:0], a.Uint64Values())
	case *array.Boolean:
		v.integers = slices.Grow(v.integers[:0], a.Len())[:a.Len()]
		clear(v.integers)
		for i := range v.integers {
			if a.Value(i) {
				v.integers[i] = 1
			}
		}
	case *array.Float16:
		v.form, v.floats = floats, v.floats[:0]
		for _, n := range a.Values() {
			v.floats = append(v.floats, halfPrecision(n.Uint16()))
		}
	case *array.Float32:
		v.form, v.floats = floats, appendNumbers(v.floats[:0], a.Float32Values())
	case *array.Float64:
		v.form, v.floats = floats, a.Float64Values()
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		v.form, v.decimals = decimals, v.decimals[:0]
		for i := range a.Len() {
			v.decimals = append(v.decimals, decimalText(a.Value(i).BigInt(), scale))
		}
	case *array.Decimal256:
		scale := a.DataType().(*arrow.Decimal256Type).Scale
		v.form, v.decimals = decimals, v.decimals[:0]
		for i := range a.Len() {
			v.decimals = append(v.decimals, decimalText(a.Value(i).BigInt(), scale))
		}
	case *array.Dictionary:
		return v.loadEntries(a)
	case *array.Null:
		v.valid, v.integers = make([]bool, a.Len()), make([]int64, a.Len())
	default:
		return fmt.Errorf("found an array of %s, expected numbers", a.DataType())
	}
	return nil
}

// loadEntries loads the numbers of a dictionary, whose entries may be missing, too.
func (v *vector) loadEntries(a *array.Dictionary) error {
	var entries vector
	if err := entries.load(Number, Column{Array: a.Dictionary()}); err != nil {
		return err
	}
	v.form = entries.form
	v.integers, v.floats, v.decimals = make([]int64, a.Len()), make([]float64, a.Len()), make([][]byte, a.Len())
	for i := range v.valid {
		if !v.valid[i] {
			continue
		}
		entry := a.GetValueIndex(i)
		v.valid[i] = entries.valid == nil || entries.valid[entry]
		switch v.form {
		case integers:
			v.integers[i] = entries.integers[entry]
		case floats:
			v.floats[i] = entries.floats[entry]
		default:
			v.decimals[i] = entries.decimals[entry]
		}
	}
	return nil
}

// textAt returns a text, or nil if it is missing.
func (v *vector) textAt(i int) []byte {
	if v.texts != nil {
		return v.texts[i]
	}
	return v.text(i)
}

// missing reports whether a number is missing.
func (v *vector) missing(i int) bool { return v.valid != nil && !v.valid[i] }

func appendNumbers[To, From int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](to []To, from []From) []To {
	to = slices.Grow(to, len(from))
	for _, n := range from {
		to = append(to, To(n))
	}
	return to
}

// textsOf returns a function that reads one value of a text array, or nil if it is missing.
func textsOf(a arrow.Array) func(i int) []byte {
	valueOf := func(i int) []byte { panic(fmt.Sprintf("found an array of %s, expected texts", a.DataType())) }
	switch a := a.(type) {
	case interface{ Value(int) string }: // String, LargeString, StringView
		valueOf = func(i int) []byte {
			text := a.Value(i)
			return unsafe.Slice(unsafe.StringData(text), len(text))
		}
	case interface{ Value(int) []byte }: // Binary, LargeBinary, BinaryView
		valueOf = a.Value
	case *array.Dictionary:
		entry := textsOf(a.Dictionary())
		valueOf = func(i int) []byte { return entry(a.GetValueIndex(i)) }
	}
	return func(i int) []byte {
		if a.IsNull(i) {
			return nil
		}
		if text := valueOf(i); text != nil {
			return text
		}
		return []byte{} // present but empty
	}
}
