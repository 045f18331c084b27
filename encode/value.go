package encode

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Value is the records of consecutive samples as one LMDB value:
//
//	count u32 | count × { end u32, head u32, payload u32 } | records
//
// end is the offset of a record's end from the start of the first record; the last record ends the
// value. head and payload are the checksums of its two parts. Each record can be read and checked
// alone, and so can its head.
type Value struct {
	seed      Seed
	first     int
	directory []byte
	records   []byte
}

// Seed binds checksums to one dataset: those of sample i use the seed Seed + i. This detects a
// record in the wrong place or from another dataset.
type Seed uint64

// checksummer computes checksums without an allocation for each.
type checksummer struct{ digest xxhash.Digest }

// of is the low half of the XXH64 of a sample's data.
func (c *checksummer) of(data []byte, seed Seed, sample int) uint32 {
	c.digest.ResetWithSeed(uint64(seed) + uint64(sample))
	c.digest.Write(data) // never fails
	return uint32(c.digest.Sum64())
}

// Checksum is the checksum of the head or the payload of a sample: the low half of its XXH64.
func (s Seed) Checksum(data []byte, sample int) uint32 {
	var c checksummer
	return c.of(data, s, sample)
}

const (
	valueHead      = 4
	directoryEntry = 12
)

// DirectoryBytes is the size of the directory of a value of count records.
func DirectoryBytes(count int) int { return valueHead + directoryEntry*count }

// AppendValue appends the value of count samples. first is the number of the first one in the
// dataset. record returns the i-th of them, whose Payload is not used; payload appends its payload.
func AppendValue(dst []byte, seed Seed, first, count int, record func(i int) Record, payload func(dst []byte, i int) []byte) []byte {
	var sums checksummer
	dst = binary.LittleEndian.AppendUint32(dst, uint32(count))
	directory := len(dst)
	dst, _ = grow(dst, directoryEntry*count)
	records := len(dst)
	for i := range count {
		start := len(dst)
		head := record(i)
		dst = head.AppendHead(dst)
		end := len(dst)
		dst = payload(dst, i)
		entry := dst[directory+directoryEntry*i:]
		binary.LittleEndian.PutUint32(entry, uint32(len(dst)-records))
		binary.LittleEndian.PutUint32(entry[4:], sums.of(dst[start:end], seed, first+i))
		binary.LittleEndian.PutUint32(entry[8:], sums.of(dst[end:], seed, first+i))
	}
	return dst
}

// ParseValue parses the directory of a value of count samples. first is the number of the first one
// in the dataset. The result is a view of data. Errors wrap ErrDamaged.
func ParseValue(data []byte, seed Seed, first, count int) (Value, error) {
	if len(data) < valueHead || binary.LittleEndian.Uint32(data) != uint32(count) || len(data) < DirectoryBytes(count) {
		return Value{}, damagedf("value of %d bytes does not start with the directory of %d records", len(data), count)
	}
	records := DirectoryBytes(count)
	return Value{seed: seed, first: first, directory: data[valueHead:records], records: data[records:]}, nil
}

// Record parses the i-th record into r, as Record.Parse does, and compares its checksums. Errors
// wrap ErrDamaged. If a checksum is wrong but the record can be parsed, r holds its content, which
// may be wrong, and parsed is true.
func (v Value) Record(i, phenotypes int, r *Record) (parsed bool, err error) {
	start := 0
	if i > 0 {
		start, _, _ = v.entry(i - 1)
	}
	end, head, payload := v.entry(i)
	last := directoryEntry*(i+1) == len(v.directory)
	if start > end || end > len(v.records) || last && end < len(v.records) {
		return false, damagedf("record spans bytes %d to %d of %d", start, end, len(v.records))
	}
	data := v.records[start:end:end]
	if err := r.Parse(data, phenotypes); err != nil {
		return false, err
	}
	var sums checksummer
	split := len(data) - len(r.Payload)
	if computed := sums.of(data[:split], v.seed, v.first+i); computed != head {
		return true, damagedf("the head of its record has checksum %08x, expected %08x", computed, head)
	}
	if computed := sums.of(r.Payload, v.seed, v.first+i); computed != payload {
		return true, damagedf("the payload of its record has checksum %08x, expected %08x", computed, payload)
	}
	return true, nil
}

func (v Value) entry(i int) (end int, head, payload uint32) {
	entry := v.directory[directoryEntry*i:]
	return int(binary.LittleEndian.Uint32(entry)), binary.LittleEndian.Uint32(entry[4:]), binary.LittleEndian.Uint32(entry[8:])
}
