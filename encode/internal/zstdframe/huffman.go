package zstdframe

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/fse"
)

// huffmanTable decodes literals, several at a time: it is indexed by the next maxCode bits of a
// stream, whatever comes after them.
type huffmanTable [1 << maxCode]huffmanEntry

// maxCode is how many bits a code has at most (RFC 8878, 4.2.1).
const maxCode = 11

// huffmanEntry is the literals whose codes lie within these bits; at least one does.
type huffmanEntry struct {
	literals    uint32 // the first in the lowest byte
	count, bits uint8  // of them
	firstBits   uint8  // of the first
}

// newHuffmanTable makes a table of a tree's description, in which FSE codes the weights.
func newHuffmanTable(description []byte) *huffmanTable {
	weights, err := fse.Decompress(description[1:], nil)
	if int(description[0]) != len(description)-1 || err != nil {
		panic("the description of a tree describes none")
	}
	total := 0
	for _, weight := range weights {
		total += 1 << weight >> 1
	}
	log := bits.Len(uint(total)) // of the table with all codes, which the last weight completes
	weights = append(weights, byte(bits.Len(uint(1<<log-total))))

	// Codes are numbered from the longest; codes of one length, by their literals. A literal of
	// weight w has 1<<(w-1) of the 1<<log places, so its code has log+1-w bits.
	var first [1 << maxCode]huffmanEntry
	at := 0
	for weight := 1; weight <= log; weight++ {
		for literal, w := range weights {
			if int(w) != weight {
				continue
			}
			for range 1 << (weight - 1 + maxCode - log) {
				first[at] = huffmanEntry{literals: uint32(literal), bits: uint8(log + 1 - weight)}
				at++
			}
		}
	}
	var table huffmanTable
	for i := range table {
		e := huffmanEntry{firstBits: first[i].bits}
		for e.count < 4 {
			next := first[i<<e.bits%len(first)]
			if e.bits+next.bits > maxCode {
				break
			}
			e.literals |= next.literals << (8 * e.count)
			e.bits += next.bits
			e.count++
		}
		table[i] = e
	}
	return &table
}

// read fills literals from a stream, whose first codes are at its end, and reports whether the
// stream has exactly these. padded and left are Reader.pad's results.
func (t *huffmanTable) read(literals, padded []byte, left int) bool {
	done := 0
	const lookups = 5 // one load has the bits of so many
	for done+4*lookups <= len(literals) && left >= 64+maxCode*lookups {
		next := bitsBefore(padded, left)
		for range lookups {
			e := &t[next>>(64-maxCode)]
			binary.LittleEndian.PutUint32(literals[done:], e.literals)
			done += int(e.count)
			left -= int(e.bits)
			next <<= e.bits
		}
	}
	for ; done < len(literals) && left >= 64; done++ {
		e := &t[bitsBefore(padded, left)>>(64-maxCode)]
		literals[done] = byte(e.literals)
		left -= int(e.firstBits)
	}
	return left == 64 // literals that are missing would have taken bits of the zeros
}

// bitsBefore returns the bits of a stream before the given one, the last of them highest: at least
// 57.
func bitsBefore(stream []byte, at int) uint64 {
	end := uint(at+7) / 8
	return binary.LittleEndian.Uint64(stream[end-8:]) << (8*end - uint(at))
}

// huffmanCodes are the codes of all literals.
type huffmanCodes [256]struct {
	code uint16
	bits uint8
}

// codes returns the codes that a table decodes.
func (t *huffmanTable) codes() (codes huffmanCodes) {
	for i, e := range t {
		literal := &codes[byte(e.literals)]
		literal.code, literal.bits = uint16(i>>(maxCode-e.firstBits)), e.firstBits
	}
	return codes
}

// append appends the stream of literals to dst.
func (c *huffmanCodes) append(dst, literals []byte) []byte {
	dst = slices.Grow(dst, 2*len(literals)+16) // more than maxCode bits for each
	stream, out := bitWriter{at: len(dst)}, dst[:cap(dst)]
	for len(literals) > 0 {
		some := literals[max(len(literals)-4, 0):] // whose codes fit in one call
		literals = literals[:len(literals)-len(some)]
		value, count := uint64(0), uint8(0)
		for _, literal := range slices.Backward(some) {
			code := &c[literal]
			value |= uint64(code.code) << (count % 64)
			count += code.bits
		}
		stream = stream.add(out, value, count)
	}
	return stream.close(out)
}
