package encode

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Value is the records of consecutive samples as one LMDB value:
//
//	count u32 | count × { end u32, checksum u32 } | records
//
// end is where a record ends, counted from the first record's start; checksum is the
// low half of the record's XXH64. Each record can be read and checked alone.
type Value struct {
	directory []byte
	records   []byte
}

const directoryEntry = 8

// AppendValue appends a value of count records. record appends the i-th one to its argument.
func AppendValue(dst []byte, count int, record func(dst []byte, i int) []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(count))
	directory := len(dst)
	dst, _ = grow(dst, directoryEntry*count)
	records := len(dst)
	for i := range count {
		start := len(dst)
		dst = record(dst, i)
		entry := dst[directory+directoryEntry*i:]
		binary.LittleEndian.PutUint32(entry, uint32(len(dst)-records))
		binary.LittleEndian.PutUint32(entry[4:], Checksum(dst[start:]))
	}
	return dst
}

// ParseValue reads a value's directory. The result is a view of data. Errors wrap ErrDamaged.
func ParseValue(data []byte, count int) (Value, error) {
	if len(data) < 4 || binary.LittleEndian.Uint32(data) != uint32(count) || len(data) < 4+directoryEntry*count {
		return Value{}, damagedf("value of %d bytes does not start with the directory of %d records", len(data), count)
	}
	records := 4 + directoryEntry*count
	return Value{directory: data[4:records], records: data[records:]}, nil
}

// Record returns the bytes of the i-th record, a view. When the checksum is not
// the stored one it returns them all the same, and an error that wraps ErrDamaged.
func (v Value) Record(i int) ([]byte, error) {
	start := 0
	if i > 0 {
		start, _ = v.entry(i - 1)
	}
	end, stored := v.entry(i)
	if start > end || end > len(v.records) {
		return nil, damagedf("record spans bytes %d to %d of %d", start, end, len(v.records))
	}
	record := v.records[start:end]
	if computed := Checksum(record); computed != stored {
		return record, damagedf("record has checksum %08x (its directory says %08x)", computed, stored)
	}
	return record, nil
}

func (v Value) entry(i int) (end int, checksum uint32) {
	entry := v.directory[directoryEntry*i:]
	return int(binary.LittleEndian.Uint32(entry)), binary.LittleEndian.Uint32(entry[4:])
}

// Checksum is the low half of the XXH64 of a record.
func Checksum(record []byte) uint32 { return uint32(xxhash.Sum64(record)) }
