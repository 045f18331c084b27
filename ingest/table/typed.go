package table

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Type is the type of a column's values in the file. It is utf8 for text files, and nil for Parquet
// types without an equivalent in Arrow or that Batch.Array cannot return.
func (r *Reader) Type(column int) arrow.DataType { return r.source.dataType(column) }

// KeepType says that a column is read only by Batch.Array, so that it need not be converted. Call
// it before Next. Type must not be nil.
func (r *Reader) KeepType(column int) { r.source.keepType(column) }

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
			return fmt.Errorf("found a decimal with scale %d, expected one from %d to %d", scale, -digits, digits)
		}
		if precision := t.GetPrecision(); precision < 1 || precision > digits {
			return fmt.Errorf("found a decimal with precision %d, expected one from 1 to %d", precision, digits)
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
			if start, end := a.ValueOffsets(i); start < 0 || end < start || end > int64(a.ListValues().Len()) {
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
