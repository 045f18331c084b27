package parquetfile

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

var errShortChunk = errors.New("the column has fewer values than its row group has rows")

// column reads a column of a row group.
type column struct {
	leaf   leaf
	reader file.RecordReader
	pages  *checkedPages
	left   int64 // rows of the row group
}

func newColumn(l leaf, stored *schema.Column, pages *checkedPages, rows int64,
	memory memory.Allocator, pool *sync.Pool) *column {
	reader := file.NewRecordReader(stored, l.levels, l.values, memory, pool)
	reader.SetPageReader(pages)
	return &column{leaf: l, reader: reader, pages: pages, left: rows}
}

// next returns the next n rows.
func (c *column) next(n int) (arrow.Array, error) {
	c.reader.Reset()
	found, err := c.reader.ReadRecords(int64(n))
	if err = errors.Join(err, c.pages.Err()); err == nil && found < int64(n) {
		err = errShortChunk
	}
	if err != nil {
		return nil, err
	}
	values := c.values()
	if c.leaf.isList() {
		values, err = c.lists(values, n)
	}
	if c.left -= int64(n); err == nil && c.left == 0 && c.leaf.isList() {
		if more, _ := c.reader.ReadRecords(1); more > 0 {
			err = errShortChunk
		}
	}
	return values, err
}

// lists makes n lists of elements.
func (c *column) lists(elements arrow.Array, n int) (arrow.Array, error) {
	levels := c.reader.LevelsPos()
	definitions, repetitions := c.reader.DefLevels()[:levels], c.reader.RepLevels()[:levels]
	present := c.leaf.levels.RepeatedAncestorDefLevel // below it, an element is not there
	found := file.ValidityBitmapInputOutput{
		ReadUpperBound: int64(n), ValidBits: make([]byte, bitutil.BytesForBits(int64(n))),
	}
	starts := make([]int32, n+1)
	if err := file.DefRepLevelsToListInfo(definitions, repetitions,
		file.LevelInfo{DefLevel: present, RepLevel: 1}, &found, starts); err != nil {
		return nil, err
	}
	if found.Read < int64(n) || starts[0] != 0 || int(starts[n]) != elements.Len() {
		return nil, errShortChunk
	}
	if slices.Max(definitions) > c.leaf.levels.DefLevel {
		return nil, errLevels
	}
	buffers := []*memory.Buffer{memory.NewBufferBytes(found.ValidBits),
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(starts))}
	data := array.NewData(arrow.ListOf(c.leaf.values), n, buffers,
		[]arrow.ArrayData{elements.Data()}, int(found.NullCount), 0)
	return array.MakeFromData(data), nil
}

// values makes an array of the single values that were read.
func (c *column) values() arrow.Array {
	t, n := c.leaf.values, c.reader.ValuesWritten()
	if binary, ok := c.reader.(file.BinaryRecordReader); ok {
		stored := binary.GetBuilderChunks()[0]
		buffers := stored.Data().Buffers()
		if stored.NullN() == 0 {
			buffers[0] = nil
		}
		if arrow.IsDecimal(t.ID()) {
			bytes := stored.(interface{ Value(i int) []byte })
			return decimals(t, stored.Len(), buffers[0],
				func(i int) *big.Int { return bigEndian(bytes.Value(i)) })
		}
		if content := buffers[len(buffers)-1]; content != nil && content.Len() > math.MaxInt32 {
			panic("found texts of more than 2 GiB in one batch")
		}
		return arrayOf(t, stored.Len(), buffers...)
	}
	valid, stored := c.reader.ReleaseValidBits(), c.reader.ReleaseValues()
	if c.reader.NullCount() == 0 { // an array without this buffer is read faster
		valid = nil
	}
	int32s := arrow.Int32Traits.CastFromBytes(stored.Bytes())
	switch id := t.ID(); {
	case id == arrow.NULL:
		return array.NewNull(n)
	case id == arrow.BOOL:
		bits := make([]byte, bitutil.BytesForBits(int64(n)))
		for i, value := range stored.Bytes() {
			bitutil.SetBitTo(bits, i, value != 0)
		}
		return arrayOf(t, n, valid, memory.NewBufferBytes(bits))
	case id == arrow.INT8:
		return narrow[int8](t, int32s, valid)
	case id == arrow.INT16:
		return narrow[int16](t, int32s, valid)
	case id == arrow.UINT8:
		return narrow[uint8](t, int32s, valid)
	case id == arrow.UINT16:
		return narrow[uint16](t, int32s, valid)
	case arrow.IsDecimal(id) && stored.Len() == n*arrow.Int32SizeBytes:
		return decimals(t, n, valid, func(i int) *big.Int { return big.NewInt(int64(int32s[i])) })
	case arrow.IsDecimal(id):
		int64s := arrow.Int64Traits.CastFromBytes(stored.Bytes())
		return decimals(t, n, valid, func(i int) *big.Int { return big.NewInt(int64s[i]) })
	}
	return arrayOf(t, n, valid, stored)
}

func arrayOf(t arrow.DataType, n int, buffers ...*memory.Buffer) arrow.Array {
	nulls := 0
	if buffers[0] != nil {
		nulls = array.UnknownNullCount
	}
	return array.MakeFromData(array.NewData(t, n, buffers, nil, nulls, 0))
}

// narrow makes an array of a smaller type. It panics on values that the type does not have.
func narrow[T int8 | int16 | uint8 | uint16](
	t arrow.DataType, stored []int32, valid *memory.Buffer) arrow.Array {
	narrowed := make([]T, len(stored))
	for i, value := range stored {
		missing := valid != nil && !bitutil.BitIsSet(valid.Bytes(), i)
		if narrowed[i] = T(value); int32(narrowed[i]) != value && !missing {
			panic(fmt.Sprintf("found %d, expected a number of type %s", value, t))
		}
	}
	return arrayOf(t, len(stored), valid, memory.NewBufferBytes(arrow.GetBytes(narrowed)))
}

func decimals(t arrow.DataType, n int, valid *memory.Buffer,
	value func(i int) *big.Int) arrow.Array {
	if t.ID() == arrow.DECIMAL128 {
		values := make([]decimal128.Num, n)
		for i := range values {
			values[i] = decimal128.FromBigInt(value(i))
		}
		return arrayOf(t, n, valid,
			memory.NewBufferBytes(arrow.Decimal128Traits.CastToBytes(values)))
	}
	values := make([]decimal256.Num, n)
	for i := range values {
		values[i] = decimal256.FromBigInt(value(i))
	}
	return arrayOf(t, n, valid, memory.NewBufferBytes(arrow.Decimal256Traits.CastToBytes(values)))
}

// bigEndian is an integer that Parquet stores as big-endian bytes in two's complement.
func bigEndian(stored []byte) *big.Int {
	n := new(big.Int).SetBytes(stored)
	if len(stored) > 0 && stored[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(stored))))
	}
	return n
}
