package encode

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/compress/huff0"
)

// zstdFrame writes one standard Zstandard frame (RFC 8878) for content given as runs of equal
// bytes, called stretches. The content is never materialised: a long stretch is one literal and one
// match at offset 1, so time and size grow with the number of stretches, not with the length of the
// content. Any Zstandard decoder reads it.
//
// The entropy tables are fixed (see tables.go). Each frame contains them where it first needs them.
type zstdFrame struct {
	trained   *huff0.Scratch // the Huffman tree of literals; OutTable has its description
	out       []byte
	value     byte // of the latest stretch
	length    int  // of the latest stretch, not yet in the block
	block     zstdBlock
	lastBlock int  // offset in out of the latest block's header; -1 before the first
	tree      bool // the frame has its Huffman tree
	tables    bool // the frame has its sequence tables
	huffman   *huff0.Scratch
}

// Limits of RFC 8878: a block holds at most 128 KiB, and a literals section with
// one Huffman stream at most 1,023 literals.
const (
	zstdMaxBlock    = 128 << 10
	zstdMaxLiterals = 1023
	zstdMinMatch    = 3
)

const (
	blockRaw        = 0
	blockRLE        = 1
	blockCompressed = 2
)

// zstdBlock collects the stretches of one block.
type zstdBlock struct {
	length    int  // of the block's content, in bytes
	stretches int  // stretches of equal bytes in it
	value     byte // value of the latest stretch
	literals  []byte
	pending   int // literals since the latest sequence
	sequences []zstdSequence
}

// zstdSequence is: copy literalLength literals, then repeat the last byte matchLength times.
type zstdSequence struct{ literalLength, matchLength uint32 }

// begin starts a frame for content of the given size in bytes, to be appended to dst.
func (f *zstdFrame) begin(dst []byte, size int) {
	if f.huffman == nil {
		f.huffman = &huff0.Scratch{Reuse: huff0.ReusePolicyMust}
		f.huffman.TransferCTable(f.trained)
	}
	dst = binary.LittleEndian.AppendUint32(dst, 0xFD2FB528) // magic
	// content size in 4 bytes, single segment, no checksum
	dst = append(dst, 2<<6|1<<5)
	f.out = binary.LittleEndian.AppendUint32(dst, uint32(size))
	f.lastBlock, f.tree, f.tables = -1, false, false
}

// stretch adds length bytes of one value; it extends the previous stretch if that has the same
// value.
func (f *zstdFrame) stretch(value byte, length int) {
	if length == 0 {
		return // otherwise it would cut a stretch that continues after it
	}
	if value != f.value {
		f.cut()
		f.value = value
	}
	f.length += length
}

// cut adds the latest stretch to the block, or to several blocks if it does not fit in one.
func (f *zstdFrame) cut() {
	for f.length > 0 {
		piece := min(f.length, zstdMaxBlock-f.block.length)
		f.block.add(f.value, piece)
		f.length -= piece
		if f.block.length == zstdMaxBlock || len(f.block.literals) > zstdMaxLiterals-zstdMinMatch {
			f.flush()
		}
	}
}

// literals adds content that is not given as stretches: it is coded byte by byte, without matches.
func (f *zstdFrame) literals(content []byte) {
	f.cut()
	for len(content) > 0 {
		piece := content[:min(len(content), zstdMaxLiterals-len(f.block.literals))]
		content = content[len(piece):]
		f.block.literals = append(f.block.literals, piece...)
		f.block.pending += len(piece)
		f.block.length += len(piece)
		f.block.stretches += len(piece)
		f.block.value = piece[0] // needed if the block is a single byte
		f.flush()
	}
}

// end closes the frame and returns dst with the frame appended.
func (f *zstdFrame) end() []byte {
	f.cut()
	if f.block.length > 0 || f.lastBlock < 0 {
		f.flush()
	}
	f.out[f.lastBlock] |= 1 // Last_Block
	return f.out
}

func (b *zstdBlock) add(value byte, length int) {
	b.length += length
	b.stretches++
	b.value = value
	if length <= zstdMinMatch {
		for range length {
			b.literals = append(b.literals, value)
		}
		b.pending += length
		return
	}
	b.literals = append(b.literals, value)
	b.sequences = append(b.sequences, zstdSequence{uint32(b.pending + 1), uint32(length - 1)})
	b.pending = 0
}

// flush writes the collected block and empties it.
func (f *zstdFrame) flush() {
	b := &f.block
	f.lastBlock = len(f.out)
	switch {
	case b.length == 0:
		f.out = appendBlockHeader(f.out, blockRaw, 0)
	case b.stretches == 1:
		f.out = append(appendBlockHeader(f.out, blockRLE, b.length), b.value)
	default:
		f.out = appendBlockHeader(f.out, blockCompressed, 0)
		body, tree, tables := len(f.out), f.tree, f.tables
		f.appendLiterals(b.literals)
		f.appendSequences(b.sequences)
		putBlockHeader(f.out[f.lastBlock:], blockCompressed, len(f.out)-body)
		if len(f.out)-body >= b.length { // RFC 8878: a compressed block is smaller than its content
			f.tree, f.tables = tree, tables
			f.out = b.appendContent(appendBlockHeader(f.out[:f.lastBlock], blockRaw, b.length))
		}
	}
	*b = zstdBlock{literals: b.literals[:0], sequences: b.sequences[:0]}
}

func appendBlockHeader(dst []byte, kind, size int) []byte {
	dst = append(dst, 0, 0, 0)
	putBlockHeader(dst[len(dst)-3:], kind, size)
	return dst
}

func putBlockHeader(dst []byte, kind, size int) {
	header := uint32(kind<<1 | size<<3)
	dst[0], dst[1], dst[2] = byte(header), byte(header>>8), byte(header>>16)
}

// appendLiterals writes a literals section: Huffman-coded in one stream if that saves bytes, raw
// otherwise. The tree goes into the frame's first coded section; later ones reuse it.
func (f *zstdFrame) appendLiterals(literals []byte) {
	const raw, coded, treeless = 0, 2, 3
	var tree []byte
	kind := treeless
	if !f.tree {
		kind, tree = coded, f.trained.OutTable
	}
	stream, _, err := huff0.Compress1X(literals, f.huffman)
	size := len(tree) + len(stream)
	if err != nil || size >= len(literals) {
		header := raw | 1<<2 | uint32(len(literals))<<4
		f.out = append(f.out, byte(header), byte(header>>8))
		f.out = append(f.out, literals...)
		return
	}
	header := uint32(kind) | uint32(len(literals))<<4 | uint32(size)<<14
	f.out = append(f.out, byte(header), byte(header>>8), byte(header>>16))
	f.out = append(f.out, tree...)
	f.out = append(f.out, stream...)
	f.tree = true
}

// appendSequences writes a sequences section. Every offset is the repeated
// offset 1, which an RLE table codes in no bits at all. The tables go into the frame's
// first section that has sequences; later ones reuse them.
func (f *zstdFrame) appendSequences(sequences []zstdSequence) {
	f.out = appendSequenceCount(f.out, len(sequences))
	if len(sequences) == 0 {
		return
	}
	const rle, described, repeat = 1, 2, 3
	if f.tables {
		f.out = append(f.out, repeat<<6|repeat<<4|repeat<<2)
	} else {
		f.out = append(f.out, described<<6|rle<<4|described<<2)
		f.out = append(f.out, literalLengthTable.description...)
		f.out = append(f.out, 0) // offset code 0
		f.out = append(f.out, matchLengthTable.description...)
		f.tables = true
	}

	stream := bitWriter{out: f.out}
	last := sequences[len(sequences)-1]
	literalCode, matchCode := literalLengthCode(last.literalLength), matchLengthCode(last.matchLength)
	literalState, matchState := literalLengthTable.start(literalCode), matchLengthTable.start(matchCode)
	stream.add(last.extraBits(literalCode, matchCode))
	for i := len(sequences) - 2; i >= 0; i-- {
		s := sequences[i]
		literalCode, matchCode = literalLengthCode(s.literalLength), matchLengthCode(s.matchLength)
		var literalBits, matchBits uint64
		var literalCount, matchCount uint8
		matchState, matchBits, matchCount = matchLengthTable.next(matchState, matchCode)
		literalState, literalBits, literalCount = literalLengthTable.next(literalState, literalCode)
		extra, extraCount := s.extraBits(literalCode, matchCode)
		states := matchCount + literalCount
		stream.add(matchBits|literalBits<<matchCount|extra<<states, states+extraCount)
	}
	stream.add(matchLengthTable.stateBits(matchState))
	stream.add(literalLengthTable.stateBits(literalState))
	f.out = stream.close()
}

func appendSequenceCount(dst []byte, count int) []byte {
	switch {
	case count < 128:
		return append(dst, byte(count))
	default: // below 0x7F00: a block has at most zstdMaxLiterals sequences
		return append(dst, byte(count>>8)+128, byte(count))
	}
}

// Length codes of RFC 8878, 3.1.1.3.2.1.1: short lengths have a code each, longer
// ones share a code and add extra bits.

func literalLengthCode(length uint32) uint8 {
	switch {
	case length < 16:
		return uint8(length)
	case length < 64:
		return literalLengthCodes[length-16]
	default:
		return uint8(bits.Len32(length)) + 18
	}
}

func matchLengthCode(length uint32) uint8 {
	length -= zstdMinMatch
	switch {
	case length < 32:
		return uint8(length)
	case length < 128:
		return matchLengthCodes[length-32]
	default:
		return uint8(bits.Len32(length)) + 35
	}
}

// extraBits returns the extra bits of a sequence's two length codes, n <= 32.
func (s zstdSequence) extraBits(literalCode, matchCode uint8) (value uint64, n uint8) {
	literalExtra, matchExtra := literalLengthExtra[literalCode], matchLengthExtra[matchCode]
	literal, match := s.literalLength-literalLengthBase[literalCode], s.matchLength-matchLengthBase[matchCode]
	return uint64(literal) | uint64(match)<<literalExtra, literalExtra + matchExtra
}

// Extra bits and first length of each code.
var (
	literalLengthExtra = [36]uint8{16: 1, 17: 1, 18: 1, 19: 1, 20: 2, 21: 2, 22: 3, 23: 3, 24: 4,
		25: 6, 26: 7, 27: 8, 28: 9, 29: 10, 30: 11, 31: 12, 32: 13, 33: 14, 34: 15, 35: 16}
	matchLengthExtra = [53]uint8{32: 1, 33: 1, 34: 1, 35: 1, 36: 2, 37: 2, 38: 3, 39: 3, 40: 4, 41: 4, 42: 5,
		43: 7, 44: 8, 45: 9, 46: 10, 47: 11, 48: 12, 49: 13, 50: 14, 51: 15, 52: 16}
	literalLengthBase, literalLengthCodes = lengthCodes(literalLengthExtra[:], 0, 16, 64)
	matchLengthBase, matchLengthCodes     = lengthCodes(matchLengthExtra[:], zstdMinMatch, 32, 128)
)

// lengthCodes derives each code's first length, and the codes of the lengths
// from offset+from to offset+to-1.
func lengthCodes(extra []uint8, offset, from, to int) (base []uint32, codes []uint8) {
	length := offset
	for code, n := range extra {
		base = append(base, uint32(length))
		for range 1 << n {
			if length >= offset+from && length < offset+to {
				codes = append(codes, uint8(code))
			}
			length++
		}
	}
	return base, codes
}

// appendContent appends the block's content.
func (b *zstdBlock) appendContent(dst []byte) []byte {
	literals := b.literals
	for _, s := range b.sequences {
		dst = append(dst, literals[:s.literalLength]...)
		literals = literals[s.literalLength:]
		dst = append(dst, bytes.Repeat(dst[len(dst)-1:], int(s.matchLength))...)
	}
	return append(dst, literals...)
}
