package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"

	"tcbuild/ingest/table/rows"
)

// chunk is the stored values of one column in one row group.
type chunk interface {
	// load appends the next n rows to v.
	load(v *rows.Vector, n int) error
}

var errShortChunk = errors.New("the column has fewer values than its row group has rows")

// newChunk chooses how to load the count values of a leaf column.
func newChunk(kind rows.Kind, at leaf, values file.ColumnChunkReader, count int64) chunk {
	switch values := values.(type) {
	case *file.BooleanColumnChunkReader:
		return scalarsOf(values, at, func(v *rows.Vector, set bool) error {
			n := int64(0)
			if set {
				n = 1
			}
			return at.addInteger(v, n)
		})
	case *file.Int32ColumnChunkReader:
		return scalarsOf(values, at, func(v *rows.Vector, n int32) error {
			if at.unsigned {
				return at.addInteger(v, int64(uint32(n)))
			}
			return at.addInteger(v, int64(n))
		})
	case *file.Int64ColumnChunkReader:
		return scalarsOf(values, at, at.addInteger)
	case *file.Float32ColumnChunkReader:
		return scalarsOf(values, at, addFloat[float32])
	case *file.Float64ColumnChunkReader:
		return scalarsOf(values, at, addFloat[float64])
	case *file.FixedLenByteArrayColumnChunkReader:
		return scalarsOf(values, at, func(v *rows.Vector, stored parquet.FixedLenByteArray) error {
			if at.numbers == rows.Decimals {
				return at.addDecimal(v, stored)
			}
			value := 0.0 // two bytes, as the schema says float16, or nil
			if stored != nil {
				value = rows.HalfPrecision(binary.LittleEndian.Uint16(stored))
			}
			return addFloat(v, value)
		})
	case *file.ByteArrayColumnChunkReader:
		if kind == rows.List {
			return &lists{reader: values, levels: at.levels, window: int(min(max(count, 1), rows.BatchRows))}
		}
		return scalarsOf(values, at, func(v *rows.Vector, stored parquet.ByteArray) error {
			if at.numbers == rows.Decimals {
				return at.addDecimal(v, stored)
			}
			v.Texts = append(v.Texts, stored)
			return nil
		})
	}
	panic(fmt.Sprintf("found a column of type %T", values))
}

func scalarsOf[T any](values chunkReader[T], at leaf, add func(v *rows.Vector, value T) error) chunk {
	return &scalars[T]{reader: values, levels: at.levels, add: add}
}

// addInteger appends an integer, or a decimal stored as one.
func (l leaf) addInteger(v *rows.Vector, n int64) error {
	switch {
	case l.numbers == rows.Decimals:
		v.Texts = append(v.Texts, rows.DecimalText(big.NewInt(n), l.scale))
	case l.unsigned && n < 0:
		return rows.ErrUnsignedRange
	default:
		v.Integers = append(v.Integers, n)
	}
	return nil
}

func addFloat[T float32 | float64](v *rows.Vector, value T) error {
	v.Floats = append(v.Floats, float64(value))
	return nil
}

// addDecimal appends a decimal stored as bytes.
func (l leaf) addDecimal(v *rows.Vector, stored []byte) error {
	if len(stored) > rows.MaxDecimalBytes {
		return fmt.Errorf("found a decimal of %d bytes, expected at most %d", len(stored), rows.MaxDecimalBytes)
	}
	v.Texts = append(v.Texts, rows.DecimalText(bigEndian(stored), l.scale))
	return nil
}

// bigEndian is an integer that Parquet stores as big-endian bytes in two's complement.
func bigEndian(stored []byte) *big.Int {
	n := new(big.Int).SetBytes(stored)
	if len(stored) > 0 && stored[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(stored))))
	}
	return n
}
