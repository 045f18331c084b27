package arrowfile

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/ingest/table/rows"
)

// kindOf is the kind that an Arrow type's values can be read as.
func kindOf(t arrow.DataType) rows.Kind {
	switch t := t.(type) {
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type,
		*arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type,
		*arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type, *arrow.BooleanType, *arrow.NullType:
		return rows.Number
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType,
		*arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		return rows.Text
	case arrow.DecimalType:
		if rows.IsScale(t.GetScale()) {
			return rows.Number
		}
	case *arrow.DictionaryType:
		if kind := kindOf(t.ValueType); kind == rows.Text || kind == rows.Number {
			return kind
		}
	case arrow.ListLikeType:
		if kindOf(t.Elem()) == rows.Text {
			return rows.List
		}
	}
	return rows.Other
}

// load copies the rows [from, to) of an array. It follows all their offsets and indices, so that a
// damaged file panics now, not in a method of Batch.
func load(v *rows.Vector, a arrow.Array, from, to int) error {
	switch v.Kind {
	case rows.Text:
		text := textsOf(a)
		for i := from; i < to; i++ {
			v.Texts = append(v.Texts, text(i))
		}
	case rows.List:
		list := a.(array.ListLike)
		text := textsOf(list.ListValues())
		for i := from; i < to; i++ {
			if !a.IsNull(i) {
				start, end := list.ValueOffsets(i)
				for j := start; j < end; j++ {
					v.Texts = append(v.Texts, text(int(j)))
				}
			}
			v.Ends = append(v.Ends, len(v.Texts))
		}
	default:
		if len(a.NullBitmapBytes()) == 0 {
			v.Valid = slices.Grow(v.Valid, to-from)[:to-from]
			for i := range v.Valid {
				v.Valid[i] = true
			}
		} else {
			for i := from; i < to; i++ {
				v.Valid = append(v.Valid, a.IsValid(i))
			}
		}
		return loadNumbers(v, a, from, to)
	}
	return nil
}

func loadNumbers(v *rows.Vector, a arrow.Array, from, to int) error {
	v.Numbers = rows.Integers
	switch a := a.(type) {
	case *array.Int8:
		v.Integers = rows.AppendNumbers(v.Integers, a.Int8Values()[from:to])
	case *array.Int16:
		v.Integers = rows.AppendNumbers(v.Integers, a.Int16Values()[from:to])
	case *array.Int32:
		v.Integers = rows.AppendNumbers(v.Integers, a.Int32Values()[from:to])
	case *array.Int64:
		v.Integers = rows.AppendNumbers(v.Integers, a.Int64Values()[from:to])
	case *array.Uint8:
		v.Integers = rows.AppendNumbers(v.Integers, a.Uint8Values()[from:to])
	case *array.Uint16:
		v.Integers = rows.AppendNumbers(v.Integers, a.Uint16Values()[from:to])
	case *array.Uint32:
		v.Integers = rows.AppendNumbers(v.Integers, a.Uint32Values()[from:to])
	case *array.Uint64:
		values := a.Uint64Values()[from:to]
		for i, n := range values {
			if n > math.MaxInt64 && v.Valid[i] {
				return rows.ErrUnsignedRange
			}
		}
		v.Integers = rows.AppendNumbers(v.Integers, values)
	case *array.Boolean:
		for i := from; i < to; i++ {
			n := int64(0)
			if a.Value(i) {
				n = 1
			}
			v.Integers = append(v.Integers, n)
		}
	case *array.Float16:
		v.Numbers = rows.Floats
		for _, n := range a.Values()[from:to] {
			v.Floats = append(v.Floats, rows.HalfPrecision(n.Uint16()))
		}
	case *array.Float32:
		v.Numbers = rows.Floats
		v.Floats = rows.AppendNumbers(v.Floats, a.Float32Values()[from:to])
	case *array.Float64:
		v.Numbers = rows.Floats
		v.Floats = append(v.Floats, a.Float64Values()[from:to]...)
	case *array.Decimal128:
		v.Numbers = rows.Decimals
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		for i := from; i < to; i++ {
			v.Texts = append(v.Texts, rows.DecimalText(a.Value(i).BigInt(), scale))
		}
	case *array.Decimal256:
		v.Numbers = rows.Decimals
		scale := a.DataType().(*arrow.Decimal256Type).Scale
		for i := from; i < to; i++ {
			v.Texts = append(v.Texts, rows.DecimalText(a.Value(i).BigInt(), scale))
		}
	case *array.Dictionary:
		return loadEntries(v, a, from, to)
	case *array.Null:
		clear(v.Valid)
		v.Integers = append(v.Integers, make([]int64, to-from)...)
	default:
		return fmt.Errorf("found an array of %s, expected numbers", a.DataType())
	}
	return nil
}

// loadEntries appends the numbers of a dictionary.
func loadEntries(v *rows.Vector, a *array.Dictionary, from, to int) error {
	entries := rows.Vector{Kind: rows.Number}
	if err := load(&entries, a.Dictionary(), 0, a.Dictionary().Len()); err != nil {
		return err
	}
	v.Numbers = entries.Numbers
	for i := from; i < to; i++ {
		row := i - from
		if !v.Valid[row] {
			appendMissing(v)
			continue
		}
		entry := a.GetValueIndex(i)
		v.Valid[row] = entries.Valid[entry]
		switch v.Numbers {
		case rows.Integers:
			v.Integers = append(v.Integers, entries.Integers[entry])
		case rows.Floats:
			v.Floats = append(v.Floats, entries.Floats[entry])
		default:
			v.Texts = append(v.Texts, entries.Texts[entry])
		}
	}
	return nil
}

// appendMissing appends a zero where a number is missing; valid tells the two apart.
func appendMissing(v *rows.Vector) {
	switch v.Numbers {
	case rows.Integers:
		v.Integers = append(v.Integers, 0)
	case rows.Floats:
		v.Floats = append(v.Floats, 0)
	default:
		v.Texts = append(v.Texts, nil)
	}
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
