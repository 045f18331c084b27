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
			for i := range a.Len() {
				a.ValueStr(i)
			}
		}
	}
}

// TestDecimalScale has scales from a damaged schema for which the Arrow library has no power of
// ten: it panicked when the value was shown.
func TestDecimalScale(t *testing.T) {
	for scale, valid := range map[int32]bool{-38: true, 0: true, 38: true, -39: false, 39: false, 22056: false} {
		b := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 5, Scale: scale})
		b.AppendNull()
		b.AppendValues([]decimal128.Num{decimal128.FromI64(7)}, nil)
		r, err := Open(writeArrays(t, b.NewArray()))
		check(t, err)
		if err := touchArrays(r); (err == nil) != valid || err != nil && fault.KindOf(err) != fault.Input {
			t.Errorf("scale %d: got the error %v", scale, err)
		}
		r.Close()
	}
}
