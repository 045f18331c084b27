package table

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/fault"
)

var errUnsignedRange = fault.New(fault.Input, "store the column as signed integers or as floating-point numbers",
	"found an unsigned integer of 2^63 or more, expected a smaller one")

// reset empties a batch and gives it a vector of each kind.
func (b *Batch) reset(kinds []Kind) {
	if b.vectors == nil {
		b.vectors, b.arrays = make([]vector, len(kinds)), make([]arrow.Array, len(kinds))
	}
	for i := range b.vectors {
		v := &b.vectors[i]
		v.kind = kinds[i]
		v.valid, v.integers, v.floats = v.valid[:0], v.integers[:0], v.floats[:0]
		v.texts, v.ends = v.texts[:0], v.ends[:0]
	}
	b.formatted = b.formatted[:0]
}

// kindOf is the kind that an Arrow type's values can be read as.
func kindOf(t arrow.DataType) Kind {
	switch t := t.(type) {
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type,
		*arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type,
		*arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type, *arrow.BooleanType, *arrow.NullType:
		return Number
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType,
		*arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		return Text
	case arrow.DecimalType:
		if isScale(t.GetScale()) {
			return Number
		}
	case *arrow.DictionaryType:
		if kind := kindOf(t.ValueType); kind == Text || kind == Number {
			return kind
		}
	case arrow.ListLikeType:
		if kindOf(t.Elem()) == Text {
			return List
		}
	}
	return Other
}

// load copies the rows [from, to) of an array. It follows all their offsets and indices, so that a
// damaged file panics now, not in a method of Batch.
func (v *vector) load(a arrow.Array, from, to int) error {
	switch v.kind {
	case Text:
		text := textsOf(a)
		for i := from; i < to; i++ {
			v.texts = append(v.texts, text(i))
		}
	case List:
		list := a.(array.ListLike)
		text := textsOf(list.ListValues())
		for i := from; i < to; i++ {
			if !a.IsNull(i) {
				start, end := list.ValueOffsets(i)
				for j := start; j < end; j++ {
					v.texts = append(v.texts, text(int(j)))
				}
			}
			v.ends = append(v.ends, len(v.texts))
		}
	default:
		if len(a.NullBitmapBytes()) == 0 {
			v.valid = slices.Grow(v.valid, to-from)[:to-from]
			for i := range v.valid {
				v.valid[i] = true
			}
		} else {
			for i := from; i < to; i++ {
				v.valid = append(v.valid, a.IsValid(i))
			}
		}
		return v.loadNumbers(a, from, to)
	}
	return nil
}

func (v *vector) loadNumbers(a arrow.Array, from, to int) error {
	v.numbers = integers
	switch a := a.(type) {
	case *array.Int8:
		v.integers = appendNumbers(v.integers, a.Int8Values()[from:to])
	case *array.Int16:
		v.integers = appendNumbers(v.integers, a.Int16Values()[from:to])
	case *array.Int32:
		v.integers = appendNumbers(v.integers, a.Int32Values()[from:to])
	case *array.Int64:
		v.integers = appendNumbers(v.integers, a.Int64Values()[from:to])
	case *array.Uint8:
		v.integers = appendNumbers(v.integers, a.Uint8Values()[from:to])
	case *array.Uint16:
		v.integers = appendNumbers(v.integers, a.Uint16Values()[from:to])
	case *array.Uint32:
		v.integers = appendNumbers(v.integers, a.Uint32Values()[from:to])
	case *array.Uint64:
		values := a.Uint64Values()[from:to]
		for i, n := range values {
			if n > math.MaxInt64 && v.valid[i] {
				return errUnsignedRange
			}
		}
		v.integers = appendNumbers(v.integers, values)
	case *array.Boolean:
		for i := from; i < to; i++ {
			n := int64(0)
			if a.Value(i) {
				n = 1
			}
			v.integers = append(v.integers, n)
		}
	case *array.Float16:
		v.numbers = floats
		for _, n := range a.Values()[from:to] {
			v.floats = append(v.floats, halfPrecision(n.Uint16()))
		}
	case *array.Float32:
		v.numbers = floats
		v.floats = appendNumbers(v.floats, a.Float32Values()[from:to])
	case *array.Float64:
		v.numbers = floats
		v.floats = append(v.floats, a.Float64Values()[from:to]...)
	case *array.Decimal128:
		v.numbers = decimals
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		for i := from; i < to; i++ {
			v.texts = append(v.texts, decimalText(a.Value(i).BigInt(), scale))
		}
	case *array.Decimal256:
		v.numbers = decimals
		scale := a.DataType().(*arrow.Decimal256Type).Scale
		for i := from; i < to; i++ {
			v.texts = append(v.texts, decimalText(a.Value(i).BigInt(), scale))
		}
	case *array.Dictionary:
		return v.loadEntries(a, from, to)
	case *array.Null:
		clear(v.valid)
		v.integers = append(v.integers, make([]int64, to-from)...)
	default:
		return fmt.Errorf("found an array of %s, expected numbers", a.DataType())
	}
	return nil
}

// loadEntries appends the numbers of a dictionary.
func (v *vector) loadEntries(a *array.Dictionary, from, to int) error {
	entries := vector{kind: Number}
	if err := entries.load(a.Dictionary(), 0, a.Dictionary().Len()); err != nil {
		return err
	}
	v.numbers = entries.numbers
	for i := from; i < to; i++ {
		row := i - from
		if !v.valid[row] {
			v.appendMissing()
			continue
		}
		entry := a.GetValueIndex(i)
		v.valid[row] = entries.valid[entry]
		switch v.numbers {
		case integers:
			v.integers = append(v.integers, entries.integers[entry])
		case floats:
			v.floats = append(v.floats, entries.floats[entry])
		default:
			v.texts = append(v.texts, entries.texts[entry])
		}
	}
	return nil
}

// appendMissing appends a zero where a number is missing; valid tells the two apart.
func (v *vector) appendMissing() {
	switch v.numbers {
	case integers:
		v.integers = append(v.integers, 0)
	case floats:
		v.floats = append(v.floats, 0)
	default:
		v.texts = append(v.texts, nil)
	}
}

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
