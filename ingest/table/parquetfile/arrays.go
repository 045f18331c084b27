package parquetfile

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
)

// These make an array of a type, with a copy of values as Parquet stores them. They panic on values
// that the type does not have.

func booleans(t arrow.DataType, values []bool, valid bitmap) arrow.Array {
	bits := make([]byte, bitutil.BytesForBits(int64(len(values))))
	for i, value := range values {
		if value {
			bitutil.SetBit(bits, i)
		}
	}
	return arrayOf(t, len(values), valid, bits)
}

func numbers[T float32 | float64](t arrow.DataType, values []T, valid bitmap) arrow.Array {
	return arrayOf(t, len(values), valid, slices.Clone(arrow.GetBytes(values)))
}

func integers[T int32 | int64](t arrow.DataType, values []T, valid bitmap) arrow.Array {
	switch t.ID() {
	case arrow.INT8:
		return narrow[int8](t, values, valid)
	case arrow.INT16:
		return narrow[int16](t, values, valid)
	case arrow.UINT8:
		return narrow[uint8](t, values, valid)
	case arrow.UINT16:
		return narrow[uint16](t, values, valid)
	case arrow.DECIMAL128, arrow.DECIMAL256:
		return decimals(t, len(values), valid, func(i int) *big.Int { return big.NewInt(int64(values[i])) })
	case arrow.NULL:
		return array.NewNull(len(values))
	}
	return arrayOf(t, len(values), valid, slices.Clone(arrow.GetBytes(values)))
}

func narrow[To int8 | int16 | uint8 | uint16, From int32 | int64](t arrow.DataType, values []From, valid bitmap) arrow.Array {
	narrowed := make([]To, len(values))
	for i, value := range values {
		if narrowed[i] = To(value); From(narrowed[i]) != value {
			panic(fmt.Sprintf("found %d, expected a number of type %s", value, t))
		}
	}
	return arrayOf(t, len(values), valid, arrow.GetBytes(narrowed))
}

func texts(t arrow.DataType, values []parquet.ByteArray, valid bitmap) arrow.Array {
	if arrow.IsDecimal(t.ID()) {
		return decimals(t, len(values), valid, func(i int) *big.Int { return bigEndian(values[i]) })
	}
	size := 0
	for _, value := range values {
		size += len(value)
	}
	if size > math.MaxInt32 {
		panic("found texts of more than 2 GiB in one batch")
	}
	content, offsets := make([]byte, 0, size), make([]int32, 1, len(values)+1)
	for _, value := range values {
		content = append(content, value...)
		offsets = append(offsets, int32(len(content)))
	}
	return arrayOf(t, len(values), valid, arrow.Int32Traits.CastToBytes(offsets), content)
}

func fixedTexts(t arrow.DataType, values []parquet.FixedLenByteArray, valid bitmap) arrow.Array {
	if arrow.IsDecimal(t.ID()) {
		return decimals(t, len(values), valid, func(i int) *big.Int { return bigEndian(values[i]) })
	}
	width := t.(arrow.FixedWidthDataType).Bytes()
	content := make([]byte, len(values)*width)
	for i, value := range values {
		copy(content[i*width:], value)
	}
	return arrayOf(t, len(values), valid, content)
}

func decimals(t arrow.DataType, n int, valid bitmap, value func(i int) *big.Int) arrow.Array {
	if t.ID() == arrow.DECIMAL128 {
		values := make([]decimal128.Num, n)
		for i := range values {
			values[i] = decimal128.FromBigInt(value(i))
		}
		return arrayOf(t, n, valid, arrow.Decimal128Traits.CastToBytes(values))
	}
	values := make([]decimal256.Num, n)
	for i := range values {
		values[i] = decimal256.FromBigInt(value(i))
	}
	return arrayOf(t, n, valid, arrow.Decimal256Traits.CastToBytes(values))
}

// bigEndian is an integer that Parquet stores as big-endian bytes in two's complement.
func bigEndian(stored []byte) *big.Int {
	n := new(big.Int).SetBytes(stored)
	if len(stored) > 0 && stored[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(stored))))
	}
	return n
}

func arrayOf(t arrow.DataType, n int, valid bitmap, buffers ...[]byte) arrow.Array {
	all := []*memory.Buffer{valid.buffer()}
	for _, buffer := range buffers {
		all = append(all, memory.NewBufferBytes(buffer))
	}
	return array.MakeFromData(array.NewData(t, n, all, nil, array.UnknownNullCount, 0))
}
