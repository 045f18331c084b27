package arrowfile

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

var errOffset = errors.New("found an offset or index outside its values")

// follow follows every offset and index of an array, so that a damaged file panics or fails here,
// not in whoever reads the array. Types that it does not know, such as unions, are an error.
func follow(a arrow.Array) error {
	last := a.Len() - 1
	if last < -1 {
		return errOffset
	}
	if last < 0 {
		return nil
	}
	a.IsNull(last) // the end of the bitmap; a null array has no buffer, so it may state any length
	a.NullN()      // a damaged number of missing values may have no bitmap
	switch a := a.(type) {
	case *array.Null:
	case *array.Boolean:
		a.Value(last)
	case *array.FixedSizeBinary:
		a.Value(last)
	case *array.FixedSizeList:
		if _, end := a.ValueOffsets(last); end > int64(a.ListValues().Len()) {
			return errOffset
		}
		return follow(a.ListValues())
	case *array.Decimal128, *array.Decimal256:
		t := a.DataType().(arrow.DecimalType)
		// the library's table of powers of ten is that long, and it shows precision digits
		digits := int32(38)
		if t.ID() == arrow.DECIMAL256 {
			digits = 76
		}
		if scale := t.GetScale(); scale < -digits || scale > digits {
			return fmt.Errorf("found a decimal with scale %d, expected one from %d to %d", scale,
				-digits, digits)
		}
		if precision := t.GetPrecision(); precision < 1 || precision > digits {
			return fmt.Errorf("found a decimal with precision %d, expected one from 1 to %d",
				precision, digits)
		}
	case *array.Dictionary:
		for i := range a.Len() {
			if a.IsValid(i) && uint(a.GetValueIndex(i)) >= uint(a.Dictionary().Len()) {
				return errOffset
			}
		}
		return follow(a.Dictionary())
	case interface {
		Len() int
		Value(int) string
	}: // String, LargeString, StringView
		for i := range a.Len() {
			a.Value(i)
		}
	case interface {
		Len() int
		Value(int) []byte
	}: // Binary, LargeBinary, BinaryView
		for i := range a.Len() {
			a.Value(i)
		}
	case array.ListLike: // including maps
		for i := range a.Len() {
			if start, end := a.ValueOffsets(i); start < 0 || end < start ||
				end > int64(a.ListValues().Len()) {
				return errOffset
			}
		}
		return follow(a.ListValues())
	case *array.Struct:
		for i := range a.NumField() {
			if err := follow(a.Field(i)); err != nil {
				return err
			}
		}
	default:
		// checked when the array was made
		if _, ok := a.DataType().(arrow.FixedWidthDataType); !ok {
			return fmt.Errorf("cannot read values of type %s", a.DataType())
		}
	}
	return nil
}
