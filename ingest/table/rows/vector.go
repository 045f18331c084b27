package rows

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
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

// vector reads the values of one column of a batch. Of integer, float and text, one is set; the
// values are valid in rows that are not missing.
type vector struct {
	kind     Kind
	null     func(i int) bool // nil if no value is
	integer  func(i int) int64
	float    func(i int) float64
	text     func(i int) []byte // also of numbers that have no Go type, in decimal
	list     array.ListLike
	elements *vector // of list
}

// newVector reads an array of a kind. Its offsets and indices must be right.
func newVector(kind Kind, a arrow.Array) vector {
	v := vector{kind: kind}
	if len(a.NullBitmapBytes()) > 0 {
		v.null = a.IsNull
	}
	switch a := a.(type) {
	case *array.Int8:
		v.integer = integers(a.Value)
	case *array.Int16:
		v.integer = integers(a.Value)
	case *array.Int32:
		v.integer = integers(a.Value)
	case *array.Int64:
		v.integer = a.Value
	case *array.Uint8:
		v.integer = integers(a.Value)
	case *array.Uint16:
		v.integer = integers(a.Value)
	case *array.Uint32:
		v.integer = integers(a.Value)
	case *array.Uint64:
		v.text = func(i int) []byte { return strconv.AppendUint(nil, a.Value(i), 10) }
	case *array.Boolean:
		v.integer = func(i int) int64 {
			if a.Value(i) {
				return 1
			}
			return 0
		}
	case *array.Null:
		v.null, v.integer = func(int) bool { return true }, func(int) int64 { return 0 }
	case *array.Float16:
		v.float = func(i int) float64 { return halfPrecision(a.Value(i).Uint16()) }
	case *array.Float32:
		v.float = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Float64:
		v.float = a.Value
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		v.text = func(i int) []byte { return decimalText(a.Value(i).BigInt(), scale) }
	case *array.Decimal256:
		scale := a.DataType().(*arrow.Decimal256Type).Scale
		v.text = func(i int) []byte { return decimalText(a.Value(i).BigInt(), scale) }
	case *array.Dictionary:
		entries := newVector(kind, a.Dictionary())
		v.null = func(i int) bool { return a.IsNull(i) || entries.missing(a.GetValueIndex(i)) }
		v.integer, v.float, v.text = through(a, entries.integer), through(a, entries.float),
			through(a, entries.text)
	case *array.String: // the usual one, without a call through an interface for each value
		v.text = func(i int) []byte { return bytesOf(a.Value(i)) }
	case interface{ Value(int) string }: // LargeString, StringView
		v.text = func(i int) []byte { return bytesOf(a.Value(i)) }
	case interface{ Value(int) []byte }: // Binary, LargeBinary, BinaryView
		v.text = a.Value
	case array.ListLike:
		elements := newVector(Text, a.ListValues())
		v.list, v.elements = a, &elements
	default:
		panic(fmt.Sprintf("found an array of %s, expected numbers, texts or lists of texts",
			a.DataType()))
	}
	return v
}

func (v *vector) missing(i int) bool {
	return v.null != nil && v.null(i) || v.float != nil && math.IsNaN(v.float(i))
}

func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

func integers[T int8 | int16 | int32 | uint8 | uint16 | uint32](
	value func(i int) T) func(i int) int64 {
	return func(i int) int64 { return int64(value(i)) }
}

// through reads a dictionary's values: row i has the value of its entry.
func through[T any](a *array.Dictionary, entry func(i int) T) func(i int) T {
	if entry == nil {
		return nil
	}
	return func(i int) T { return entry(a.GetValueIndex(i)) }
}

// textAt returns a text, or nil if it is missing.
func (v *vector) textAt(i int) []byte {
	if v.null != nil && v.null(i) {
		return nil
	}
	if text := v.text(i); text != nil {
		return text
	}
	return []byte{} // present but empty
}

// decimalText writes unscaled / 10^scale as a decimal number with all its digits.
func decimalText(unscaled *big.Int, scale int32) []byte {
	if scale <= 0 {
		return append(unscaled.Append(nil, 10), bytes.Repeat([]byte{'0'}, int(-scale))...)
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	return []byte(new(big.Rat).SetFrac(unscaled, power).FloatString(int(scale)))
}

// halfPrecision is the number of an IEEE 754 binary16. The Arrow library's own conversion is wrong
// below 2^-14.
func halfPrecision(stored uint16) float64 {
	bits := uint32(stored&0x8000)<<16 | uint32(stored&0x7fff)<<13
	if stored&0x7c00 == 0x7c00 { // infinite or NaN
		return float64(math.Float32frombits(bits | 0xff<<23))
	}
	return float64(math.Float32frombits(bits)) * 0x1p112 // the exponents' biases are 15 and 127
}
