package zstdframe

import (
	"math/bits"
	"slices"
)

// Sequence is: copy LiteralLength literals, then repeat the last byte MatchLength times.
type Sequence struct{ LiteralLength, MatchLength uint32 }

// appendSequences writes a sequences section. Every offset is the repeated
// offset 1, which an RLE table codes in no bits at all. The tables go into the frame's
// first section that has sequences; later ones reuse them.
func (w *Writer) appendSequences(sequences []Sequence) {
	w.out = appendSequenceCount(w.out, len(sequences))
	if len(sequences) == 0 {
		return
	}
	if w.seqTables {
		w.out = append(w.out, sameTables...)
	} else {
		w.out = append(w.out, newTables...)
		w.seqTables = true
	}

	w.out = slices.Grow(w.out, 8*len(sequences)+16) // no sequence has more than 64 bits
	stream, out := bitWriter{at: len(w.out)}, w.out[:cap(w.out)]
	last := sequences[len(sequences)-1]
	literalCode, matchCode := last.codes()
	literalState := literalLengthTable.start(literalCode)
	matchState := matchLengthTable.start(matchCode)
	extra, extraCount := last.extraBits(literalCode, matchCode)
	stream = stream.add(out, extra, extraCount)
	for _, s := range slices.Backward(sequences[:len(sequences)-1]) {
		literalCode, matchCode = s.codes()
		var literalBits, matchBits uint64
		var literalCount, matchCount uint8
		matchState, matchBits, matchCount = matchLengthTable.next(matchState, matchCode)
		literalState, literalBits, literalCount = literalLengthTable.next(literalState, literalCode)
		extra, extraCount = s.extraBits(literalCode, matchCode)
		states := matchCount + literalCount
		stream = stream.add(out, matchBits|literalBits<<(matchCount%64)|extra<<(states%64),
			states+extraCount)
	}
	state, count := matchLengthTable.stateBits(matchState)
	stream = stream.add(out, state, count)
	state, count = literalLengthTable.stateBits(literalState)
	w.out = stream.add(out, state, count).close(out)
}

// newTables and sameTables say, in a block, which tables its sequences have.
var (
	newTables = slices.Concat([]byte{described<<6 | rle<<4 | described<<2},
		literalLengthTable.description, []byte{0}, matchLengthTable.description)
	sameTables = []byte{repeat<<6 | repeat<<4 | repeat<<2}
)

const rle, described, repeat = 1, 2, 3

func appendSequenceCount(dst []byte, count int) []byte {
	if count < 128 {
		return append(dst, byte(count))
	}
	// below 0x7F00: a block has at most maxLiterals sequences
	return append(dst, byte(count>>8)+128, byte(count))
}

// Length codes of RFC 8878, 3.1.1.3.2.1.1: short lengths have a code each, longer ones share a code
// and add extra bits.

func literalLengthCode(length uint32) uint8 {
	switch {
	case length < uint32(len(literalLengthCodes)):
		return literalLengthCodes[length]
	default:
		return uint8(bits.Len32(length)) + 18
	}
}

func matchLengthCode(length uint32) uint8 {
	length -= minMatch
	switch {
	case length < uint32(len(matchLengthCodes)): // nearly always
		return matchLengthCodes[length]
	default:
		return uint8(bits.Len32(length)) + 35
	}
}

// codes returns the codes of a sequence's two lengths.
func (s Sequence) codes() (literal, match uint8) {
	return literalLengthCode(s.LiteralLength), matchLengthCode(s.MatchLength)
}

// extraBits returns the extra bits of a sequence's two length codes, n <= 32.
func (s Sequence) extraBits(literalCode, matchCode uint8) (value uint64, n uint8) {
	literalExtra, matchExtra := literalLengthExtra[literalCode], matchLengthExtra[matchCode]
	literal := s.LiteralLength - literalLengthBase[literalCode]
	match := s.MatchLength - matchLengthBase[matchCode]
	return uint64(literal) | uint64(match)<<literalExtra, literalExtra + matchExtra
}

// Extra bits and first length of each code.
var (
	literalLengthExtra = [36]uint8{16: 1, 17: 1, 18: 1, 19: 1, 20: 2, 21: 2, 22: 3, 23: 3, 24: 4,
		25: 6, 26: 7, 27: 8, 28: 9, 29: 10, 30: 11, 31: 12, 32: 13, 33: 14, 34: 15, 35: 16}
	matchLengthExtra = [53]uint8{32: 1, 33: 1, 34: 1, 35: 1, 36: 2, 37: 2, 38: 3, 39: 3, 40: 4,
		41: 4, 42: 5, 43: 7, 44: 8, 45: 9, 46: 10, 47: 11, 48: 12, 49: 13, 50: 14, 51: 15, 52: 16}
	literalLengthBase, literalLengthCodes = lengthCodes(literalLengthExtra[:], 0, 64)
	matchLengthBase, matchLengthCodes     = lengthCodes(matchLengthExtra[:], minMatch, 4096)
)

// lengthCodes derives each code's first length, and the codes of count lengths from offset on.
func lengthCodes(extra []uint8, offset, count int) (base []uint32, codes []uint8) {
	length := offset
	for code, n := range extra {
		base = append(base, uint32(length))
		codes = append(codes, slices.Repeat([]uint8{uint8(code)}, 1<<n)...)
		length += 1 << n
	}
	return base, codes[:count]
}

// lengthState is what a decoder does in a state of the table of a length: the length is base + the
// value of extra bits, and the next state next + the value of bits.
type lengthState struct {
	base        uint32
	next        uint16
	extra, bits uint8
}

var (
	literalLengthStates = lengthStates(literalLengthTable, literalLengthBase, literalLengthExtra[:])
	matchLengthStates   = lengthStates(matchLengthTable, matchLengthBase, matchLengthExtra[:])
)

func lengthStates(table *fseTable, base []uint32, extra []uint8) [lengthStateCount]lengthState {
	var states []lengthState
	for _, s := range table.decoded {
		states = append(states, lengthState{base[s.symbol], s.next, extra[s.symbol], s.bits})
	}
	return [lengthStateCount]lengthState(states)
}
