package parquetfile

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"

	"tcbuild/ingest/table/rows"
)

var errShortChunk = errors.New("the column has fewer values than its row group has rows")

// column reads a column of a row group.
type column interface {
	// next returns the next n rows, which are valid until it is called again.
	next(n int) (rows.Column, error)
}

// openColumn opens a column of a row group with count rows. It is typed if it must become an array.
func openColumn(values file.ColumnChunkReader, l leaf, count int64, typed bool) column {
	switch values := values.(type) {
	case *file.BooleanColumnChunkReader:
		return &reader[bool]{chunk: values, leaf: l, left: count, build: booleans}
	case *file.Int32ColumnChunkReader:
		return &reader[int32]{chunk: values, leaf: l, left: count, build: integers[int32]}
	case *file.Int64ColumnChunkReader:
		return &reader[int64]{chunk: values, leaf: l, left: count, build: integers[int64]}
	case *file.Float32ColumnChunkReader:
		return &reader[float32]{chunk: values, leaf: l, left: count, build: numbers[float32]}
	case *file.Float64ColumnChunkReader:
		return &reader[float64]{chunk: values, leaf: l, left: count, build: numbers[float64]}
	case *file.ByteArrayColumnChunkReader:
		return &reader[parquet.ByteArray]{chunk: values, leaf: l, left: count, build: texts, asTexts: !typed && l.kind != rows.Number}
	case *file.FixedLenByteArrayColumnChunkReader:
		return &reader[parquet.FixedLenByteArray]{chunk: values, leaf: l, left: count, build: fixedTexts}
	}
	panic(fmt.Sprintf("found a column of type %T", values))
}

// reader makes arrays of the values of a column chunk.
type reader[T any] struct {
	chunk   chunkReader[T]
	leaf    leaf
	left    int64 // rows of the row group
	build   func(t arrow.DataType, values []T, valid bitmap) arrow.Array
	asTexts bool // no array is needed of these byte arrays

	values      []T     // those that are there
	definitions []int16 // one per value; of a list, per element, empty list or missing list
	repetitions []int16 // of a list; 0 starts a row
	elements    []T     // of a list
	// Of a list, levels and values from these positions on are read but not in an array yet.
	at, value int
}

type chunkReader[T any] interface {
	ReadBatch(size int64, values []T, definitions, repetitions []int16) (levels int64, read int, err error)
	Err() error
}

func (r *reader[T]) next(n int) (c rows.Column, err error) {
	if r.left -= int64(n); r.leaf.levels.element > 0 {
		return r.nextLists(n)
	}
	read, err := r.read(n)
	if err == nil && len(r.definitions) < n {
		err = errShortChunk
	}
	if err != nil {
		return c, err
	}
	valid := spread(r.values, read, r.definitions, r.leaf.levels.present)
	if r.asTexts {
		return rows.Column{Texts: asTexts(r.values)}, nil
	}
	return rows.Column{Array: r.build(r.leaf.values, r.values, valid)}, nil
}

// asTexts returns byte arrays as texts.
func asTexts[T any](values []T) [][]byte { return *(*[][]byte)(unsafe.Pointer(&values)) }

// read replaces values and levels by the next n at most. It returns the number of values that are
// there.
func (r *reader[T]) read(n int) (int, error) {
	if cap(r.values) < n {
		r.values, r.definitions, r.repetitions = make([]T, n), make([]int16, n), make([]int16, n)
	}
	r.values, r.definitions, r.repetitions = r.values[:n], r.definitions[:n], r.repetitions[:n]
	levels, read, err := r.chunk.ReadBatch(int64(n), r.values, r.definitions, r.repetitions)
	if err == nil {
		err = r.chunk.Err()
	}
	if r.definitions, r.repetitions = r.definitions[:levels], r.repetitions[:levels]; err != nil {
		return 0, err
	}
	// The library returns levels that the schema does not allow, and a value would become a missing one.
	for i, level := range r.definitions {
		if present := r.leaf.levels.present; present > 0 && uint16(level) > uint16(present) {
			return 0, fmt.Errorf("found definition level %d, expected at most %d", level, present)
		}
		if level := r.repetitions[i]; r.leaf.levels.element > 0 && uint16(level) > 1 {
			return 0, fmt.Errorf("found repetition level %d, expected 0 or 1", level)
		}
	}
	return read, nil
}

// spread moves values to their rows: missing ones were not read.
func spread[T any](values []T, read int, definitions []int16, present int16) bitmap {
	if read == len(values) {
		return nil
	}
	valid := make(bitmap, bitutil.BytesForBits(int64(len(values))))
	for i := len(values) - 1; i >= 0; i-- {
		if definitions[i] == present {
			read--
			values[i] = values[read]
			bitutil.SetBit(valid, i)
		} else {
			values[i] = *new(T)
		}
	}
	return valid
}

func (r *reader[T]) nextLists(n int) (c rows.Column, err error) {
	valid := make(bitmap, bitutil.BytesForBits(int64(n)))
	starts := make([]int32, 0, n+1)
	elements := r.elements[:0]
	var missing []int // elements
	for full := false; !full; {
		if r.at == len(r.definitions) {
			if _, err := r.read(rows.BatchRows); err != nil {
				return c, err
			}
			if r.at, r.value = 0, 0; len(r.definitions) == 0 {
				break
			}
		}
		at, value := r.at, r.value
		for ; at < len(r.definitions); at++ {
			definition := r.definitions[at]
			if r.repetitions[at] == 0 {
				if full = len(starts) == n; full {
					break
				}
				if definition >= r.leaf.levels.element-1 { // below it, the list is missing; at it, empty
					bitutil.SetBit(valid, len(starts))
				}
				starts = append(starts, int32(len(elements)))
			} else if len(starts) == 0 {
				return c, errors.New("found the rest of a list without its beginning")
			}
			if definition == r.leaf.levels.present {
				elements = append(elements, r.values[value])
				value++
			} else if definition >= r.leaf.levels.element {
				missing = append(missing, len(elements))
				elements = append(elements, *new(T))
			}
		}
		r.at, r.value = at, value
	}
	if len(starts) < n || r.left == 0 && r.at < len(r.definitions) {
		return c, errShortChunk
	}
	r.elements = elements
	starts = append(starts, int32(len(elements)))
	if r.asTexts {
		return rows.Column{Texts: asTexts(elements), Starts: starts}, nil
	}
	values := r.build(r.leaf.values, elements, without(missing, len(elements)))
	buffers := []*memory.Buffer{valid.buffer(), memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(starts))}
	data := array.NewData(arrow.ListOf(r.leaf.values), n, buffers, []arrow.ArrayData{values.Data()}, array.UnknownNullCount, 0)
	return rows.Column{Array: array.MakeFromData(data)}, nil
}

// bitmap has a bit per value that is not missing; nil if all are there.
type bitmap []byte

// without has the bits of n values without those that are missing.
func without(missing []int, n int) bitmap {
	if len(missing) == 0 {
		return nil
	}
	valid := make(bitmap, bitutil.BytesForBits(int64(n)))
	bitutil.SetBitsTo(valid, 0, int64(n), true)
	for _, i := range missing {
		bitutil.ClearBit(valid, i)
	}
	return valid
}

func (b bitmap) buffer() *memory.Buffer {
	if b == nil {
		return nil
	}
	return memory.NewBufferBytes(b)
}
