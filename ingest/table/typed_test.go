package table

import (
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
)

// keepTypes keeps the type of every column that has one.
func keepTypes(r *Reader) (kept []int) {
	for column := range r.Columns() {
		if r.Type(column) != nil {
			r.KeepType(column)
			kept = append(kept, column)
		}
	}
	return kept
}

// touchArrays reads every value in its own type.
func touchArrays(r *Reader) error {
	kept := keepTypes(r)
	for {
		b, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for _, column := range kept {
			a := b.Array(column)
			a.NullN() // counts, if nobody did
			for i := range a.Len() {
				a.ValueStr(i)
			}
		}
	}
}

// TestDecimals has scales and precisions from a damaged schema. Where the Arrow library has no
// power of ten for the scale, it panicked when the value was shown; a precision of a billion was a
// text of as many bytes.
func TestDecimals(t *testing.T) {
	for _, test := range []struct {
		precision, scale int32
		valid            bool
	}{
		{5, -38, true}, {5, 0, true}, {5, 38, true}, {5, -39, false}, {5, 39, false}, {5, 22056, false},
		{1, 0, true}, {38, 0, true}, {-1, 0, false}, {0, 0, false}, {39, 0, false}, {1 << 30, 0, false},
	} {
		b := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: test.precision, Scale: test.scale})
		b.AppendNull()
		b.AppendValues([]decimal128.Num{decimal128.FromI64(7)}, nil)
		r, err := Open(writeArrays(t, b.NewArray()))
		check(t, err)
		if err := touchArrays(r); (err == nil) != test.valid || err != nil && fault.KindOf(err) != fault.Input {
			t.Errorf("precision %d, scale %d: got the error %v", test.precision, test.scale, err)
		}
		r.Close()
	}
}
