package encode

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Value is the payloads of consecutive samples as one LMDB value. A payload is a sample's masks, as
// the dataset's Codec writes them.
//
//	count u32 | count × { end u32, checksum u32 } | payloads
//
// end is the offset of a payload's end from the start of the first; the last one ends the value.
// Each payload can be read and checked without the others.
type Value struct {
	seed      Seed
	first     int
	directory []byte
	payloads  []byte
}

// Seed binds checksums to one dataset: the checksums of sample i use the seed Seed + i. This
// detects a payload in the wrong place or from another dataset.
type Seed uint64

// checksummer computes checksums without an allocation for each.
type checksummer struct{ digest xxhash.Digest }

// of is the low half of the XXH64 of a sample's data.
func (c *checksummer) of(data []byte, seed Seed, sample int) uint32 {
	c.digest.ResetWithSeed(uint64(seed) + uint64(sample))
	c.digest.Write(data) // never fails
	return uint32(c.digest.Sum64())
}

const (
	valueHead      = 4
	directoryEntry = 8
)

// DirectoryBytes is the size of the directory of a value of count payloads.
func DirectoryBytes(count int) int { return valueHead + directoryEntry*count }

// AppendValue appends the value of count samples. first is the number of the first one in the
// dataset. payload appends the payload of the i-th of them.
func AppendValue(
	dst []byte, seed Seed, first, count int, payload func(dst []byte, i int) []byte,
) []byte {
	var sums checksummer
	dst = binary.LittleEndian.AppendUint32(dst, uint32(count))
	directory := len(dst)
	dst, _ = grow(dst, directoryEntry*count)
	payloads := len(dst)
	for i := range count {
		start := len(dst)
		dst = payload(dst, i)
		entry := dst[directory+directoryEntry*i:]
		binary.LittleEndian.PutUint32(entry, uint32(len(dst)-payloads))
		binary.LittleEndian.PutUint32(entry[4:], sums.of(dst[start:], seed, first+i))
	}
	return dst
}

// ParseValue parses the directory of a value of count samples. first is the number of the first one
// in the dataset. The result is a view of data. Errors wrap ErrDamaged.
func ParseValue(data []byte, seed Seed, first, count int) (Value, error) {
	payloads := DirectoryBytes(count)
	if len(data) < payloads || binary.LittleEndian.Uint32(data) != uint32(count) {
		return Value{}, damagedf("value of %d bytes does not start with the directory of "+
			"%d payloads", len(data), count)
	}
	return Value{seed, first, data[valueHead:payloads], data[payloads:]}, nil
}

// Payload returns the i-th payload, a view. Errors wrap ErrDamaged; if the checksum is wrong, the
// payload is returned as well, and may be wrong.
func (v Value) Payload(i int) ([]byte, error) {
	start := 0
	if i > 0 {
		start, _ = v.entry(i - 1)
	}
	end, checksum := v.entry(i)
	isLast := directoryEntry*(i+1) == len(v.directory)
	leavesRest := isLast && end < len(v.payloads)
	if start > end || end > len(v.payloads) || leavesRest {
		return nil, damagedf("payload spans bytes %d to %d of %d", start, end, len(v.payloads))
	}
	payload := v.payloads[start:end:end]
	var sums checksummer
	if computed := sums.of(payload, v.seed, v.first+i); computed != checksum {
		return payload, damagedf("its payload has checksum %08x, expected %08x", computed, checksum)
	}
	return payload, nil
}

func (v Value) entry(i int) (end int, checksum uint32) {
	entry := v.directory[directoryEntry*i:]
	return int(binary.LittleEndian.Uint32(entry)), binary.LittleEndian.Uint32(entry[4:])
}
