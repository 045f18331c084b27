package zstdframe

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// bitWriter appends bits to out, lowest bit first. Zstandard's decoders read such a stream from its
// end.
type bitWriter struct {
	out   []byte
	bits  uint64 // the bits after the last whole byte
	count uint8  // how many, at most 7
}

// add appends the low n bits of value, n <= 56; its higher bits must be 0.
func (w *bitWriter) add(value uint64, n uint8) {
	w.bits |= value << w.count
	w.count += n
	whole := w.count / 8
	w.out = binary.LittleEndian.AppendUint64(w.out, w.bits)[:len(w.out)+int(whole)]
	w.bits >>= 8 * whole
	w.count %= 8
}

// close appends the end mark, a 1, fills the last byte with zeros and returns all bytes.
func (w *bitWriter) close() []byte {
	w.add(1, 1)
	return w.flushBytes()
}

// flushBytes fills the last byte with zeros and returns all bytes.
func (w *bitWriter) flushBytes() []byte {
	if w.count > 0 {
		w.out = append(w.out, byte(w.bits))
	}
	return w.out
}

// fseTable codes symbols by Finite State Entropy (RFC 8878, 4.1) with a fixed distribution.
type fseTable struct {
	log         uint8    // the table has 1<<log states
	description []byte   // the distribution, as decoders read it
	states      []uint16 // next state, by symbol and sub-state
	symbols     []fseSymbol
	decoded     []fseState // by state
}

// fseSymbol maps a state to the number of bits to write and the index of the next state in states.
type fseSymbol struct {
	deltaBits  uint32
	deltaState int32
}

// fseState is what a decoder does in a state: it has read the symbol, and goes to the state next +
// the value of so many bits.
type fseState struct {
	symbol uint8
	bits   uint8
	next   uint16
}

// newFSETable builds the table for probabilities that add up to 1<<log, each at
// least 1. A probability of 1 is described as such, not as "less than 1".
func newFSETable(log uint8, probabilities []int) *fseTable {
	t := &fseTable{log: log, description: describeDistribution(log, probabilities)}
	size := 1 << log

	owners := make([]uint8, size) // state -> symbol
	step, at := size>>1+size>>3+3, 0
	for symbol, probability := range probabilities {
		for range probability {
			owners[at] = uint8(symbol)
			at = (at + step) & (size - 1)
		}
	}

	firsts := make([]int, len(probabilities)) // symbol -> its first index in states
	total := 0
	for symbol, probability := range probabilities {
		firsts[symbol] = total
		maxBits := uint32(log) - uint32(bits.Len(uint(probability-1))-1)
		if probability == 1 {
			maxBits = uint32(log)
		}
		t.symbols = append(t.symbols, fseSymbol{
			deltaBits:  maxBits<<16 - uint32(probability)<<maxBits,
			deltaState: int32(total - probability),
		})
		total += probability
	}
	t.states = make([]uint16, size)
	subStates := slices.Clone(probabilities) // of each symbol: from its probability to twice that
	for state, symbol := range owners {
		t.states[firsts[symbol]] = uint16(size + state)
		firsts[symbol]++
		subState := subStates[symbol]
		n := int(log) + 1 - bits.Len(uint(subState))
		t.decoded = append(t.decoded, fseState{symbol, uint8(n), uint16(subState<<n - size)})
		subStates[symbol]++
	}
	return t
}

// start returns the state from which a decoder's last symbol is read.
func (t *fseTable) start(symbol uint8) uint16 {
	s := &t.symbols[symbol]
	n := (s.deltaBits + 1<<15) >> 16
	return t.states[int32((n<<16-s.deltaBits)>>n)+s.deltaState]
}

// next returns the n bits that lead a decoder from symbol's state to the given one, and symbol's
// state.
func (t *fseTable) next(state uint16, symbol uint8) (before uint16, value uint64, n uint8) {
	s := &t.symbols[symbol]
	n = uint8((uint32(state) + s.deltaBits) >> 16)
	return t.states[int32(state>>n)+s.deltaState], uint64(state & (1<<n - 1)), n
}

// stateBits returns a state in the form in which a decoder reads its first one.
func (t *fseTable) stateBits(state uint16) (value uint64, n uint8) {
	return uint64(state) & (1<<t.log - 1), t.log
}

// describeDistribution writes a distribution without zero probabilities in the form of RFC 8878,
// 4.1.1.
func describeDistribution(log uint8, probabilities []int) []byte {
	var w bitWriter
	w.add(uint64(log-5), 4)
	remaining, threshold, width := 1<<log+1, 1<<log, log+1
	for _, probability := range probabilities {
		spare := 2*threshold - 1 - remaining // values that need one bit less
		remaining -= probability
		value := probability + 1
		if value >= threshold {
			value += spare
		}
		if value < spare {
			w.add(uint64(value), width-1)
		} else {
			w.add(uint64(value), width)
		}
		for remaining < threshold {
			threshold >>= 1
			width--
		}
	}
	return w.flushBytes()
}
