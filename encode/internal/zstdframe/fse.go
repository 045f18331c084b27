package zstdframe

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// bitWriter writes bits to out, lowest bit first. Zstandard's decoders read such a stream from its
// end. A small value without pointers, it stays in registers.
type bitWriter struct {
	bits  uint64 // the bits after the last whole byte
	count uint64 // how many, at most 7
	at    int    // offset in out of the byte that takes them
}

// add adds the low n bits of value, n <= 56; its higher bits must be 0. out has room for 8 bytes
// from w.at on.
func (w bitWriter) add(out []byte, value uint64, n uint8) bitWriter {
	w.bits |= value << (w.count % 64) // the modulo saves a test for each shift
	w.count += uint64(n)
	binary.LittleEndian.PutUint64(out[w.at:], w.bits)
	w.at += int(w.count / 8)
	w.bits >>= w.count &^ 7 % 64
	w.count %= 8
	return w
}

// close adds the end mark, a 1, and returns out up to it; zeros fill the last byte.
func (w bitWriter) close(out []byte) []byte { return w.add(out, 1, 1).flush(out) }

// flush returns out up to the last bit; zeros fill the last byte.
func (w bitWriter) flush(out []byte) []byte { return out[:w.at+int(w.count+7)/8] }

// fseTable codes symbols by Finite State Entropy (RFC 8878, 4.1) with a fixed distribution.
type fseTable struct {
	log         uint8                    // the table has 1<<log states
	description []byte                   // the distribution, as decoders read it
	states      [lengthStateCount]uint16 // next state, by symbol and sub-state
	symbols     [lengthCodeCount]fseSymbol
	decoded     []fseState // by state
}

// lengthStateCount is how many states the tables of both lengths have; lengthCodeCount has room for
// their codes. Both are powers of 2: indices modulo them are checked without a branch.
const (
	lengthStateCount = 512
	lengthCodeCount  = 64
)

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
		t.symbols[symbol] = fseSymbol{
			deltaBits:  maxBits<<16 - uint32(probability)<<maxBits,
			deltaState: int32(total - probability),
		}
		total += probability
	}
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
	s := &t.symbols[symbol%lengthCodeCount]
	n = uint8((uint32(state) + s.deltaBits) >> 16)
	before = t.states[uint32(int32(state>>(n%16))+s.deltaState)%lengthStateCount]
	return before, uint64(state & (1<<(n%16) - 1)), n
}

// stateBits returns a state in the form in which a decoder reads its first one.
func (t *fseTable) stateBits(state uint16) (value uint64, n uint8) {
	return uint64(state) & (1<<t.log - 1), t.log
}

// describeDistribution writes a distribution without zero probabilities in the form of RFC 8878,
// 4.1.1.
func describeDistribution(log uint8, probabilities []int) []byte {
	out := make([]byte, 4+2*len(probabilities)+8)
	w := bitWriter{}.add(out, uint64(log-5), 4)
	remaining, threshold, width := 1<<log+1, 1<<log, log+1
	for _, probability := range probabilities {
		spare := 2*threshold - 1 - remaining // values that need one bit less
		remaining -= probability
		value := probability + 1
		if value >= threshold {
			value += spare
		}
		if value < spare {
			w = w.add(out, uint64(value), width-1)
		} else {
			w = w.add(out, uint64(value), width)
		}
		for remaining < threshold {
			threshold >>= 1
			width--
		}
	}
	return w.flush(out)
}
