package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
)

// chunk is the stored values of one column in one row group.
type chunk interface {
	// load appends the next rows to v.
	load(v *vector, rows int) error
}

var errShortChunk = errors.New("the column has fewer values than its row group has rows")

// newChunk chooses how to load the count values of a leaf column.
func newChunk(kind Kind, at leaf, values file.ColumnChunkReader, count int64) chunk {
	if kind == Number && at.numbers == decimals {
		return newDecimals(at, values)
	}
	switch values := values.(type) {
	case *file.BooleanColumnChunkReader:
		return &scalars[bool]{reader: values, levels: at.levels, store: func(v *vector, values []bool) error {
			for _, set := range values {
				n := int64(0)
				if set {
					n = 1
				}
				v.integers = append(v.integers, n)
			}
			return nil
		}}
	case *file.Int32ColumnChunkReader:
		return &scalars[int32]{reader: values, levels: at.levels, store: func(v *vector, values []int32) error {
			for _, n := range values {
				if at.unsigned {
					v.integers = append(v.integers, int64(uint32(n)))
				} else {
					v.integers = append(v.integers, int64(n))
				}
			}
			return nil
		}}
	case *file.Int64ColumnChunkReader:
		return &scalars[int64]{reader: values, levels: at.levels, store: func(v *vector, values []int64) error {
			for _, n := range values {
				if at.unsigned && n < 0 {
					return errUnsignedRange
				}
			}
			v.integers = append(v.integers, values...)
			return nil
		}}
	case *file.Float32ColumnChunkReader:
		return &scalars[float32]{reader: values, levels: at.levels, store: func(v *vector, values []float32) error {
			v.floats = appendNumbers(v.floats, values)
			return nil
		}}
	case *file.Float64ColumnChunkReader:
		return &scalars[float64]{reader: values, levels: at.levels, store: func(v *vector, values []float64) error {
			v.floats = append(v.floats, values...)
			return nil
		}}
	case *file.FixedLenByteArrayColumnChunkReader: // two bytes, as the schema says float16
		return &scalars[parquet.FixedLenByteArray]{reader: values, levels: at.levels,
			store: func(v *vector, values []parquet.FixedLenByteArray) error {
				for _, stored := range values {
					value := 0.0
					if stored != nil {
						value = halfPrecision(binary.LittleEndian.Uint16(stored))
					}
					v.floats = append(v.floats, value)
				}
				return nil
			}}
	case *file.ByteArrayColumnChunkReader:
		if kind == List {
			return &lists{reader: values, levels: at.levels, window: int(min(max(count, 1), batchRows))}
		}
		return &scalars[parquet.ByteArray]{reader: values, levels: at.levels, store: func(v *vector, values []parquet.ByteArray) error {
			for _, text := range values {
				v.texts = append(v.texts, text)
			}
			return nil
		}}
	}
	panic(fmt.Sprintf("found a column of type %T", values))
}

// newDecimals loads decimals as text.
func newDecimals(at leaf, values file.ColumnChunkReader) chunk {
	switch values := values.(type) {
	case *file.Int32ColumnChunkReader:
		return &scalars[int32]{reader: values, levels: at.levels, store: func(v *vector, values []int32) error {
			for _, n := range values {
				v.texts = append(v.texts, decimalText(big.NewInt(int64(n)), at.scale))
			}
			return nil
		}}
	case *file.Int64ColumnChunkReader:
		return &scalars[int64]{reader: values, levels: at.levels, store: func(v *vector, values []int64) error {
			for _, n := range values {
				v.texts = append(v.texts, decimalText(big.NewInt(n), at.scale))
			}
			return nil
		}}
	case *file.FixedLenByteArrayColumnChunkReader:
		return &scalars[parquet.FixedLenByteArray]{reader: values, levels: at.levels,
			store: func(v *vector, values []parquet.FixedLenByteArray) error {
				return appendDecimals(v, values, at.scale)
			}}
	case *file.ByteArrayColumnChunkReader:
		return &scalars[parquet.ByteArray]{reader: values, levels: at.levels, store: func(v *vector, values []parquet.ByteArray) error {
			return appendDecimals(v, values, at.scale)
		}}
	}
	panic(fmt.Sprintf("found a decimal column of type %T", values))
}

func appendDecimals[T ~[]byte](v *vector, values []T, scale int32) error {
	for _, stored := range values {
		if len(stored) > maxDecimalBytes {
			return fmt.Errorf("found a decimal of %d bytes, expected at most %d", len(stored), maxDecimalBytes)
		}
		v.texts = append(v.texts, decimalText(bigEndian(stored), scale))
	}
	return nil
}
