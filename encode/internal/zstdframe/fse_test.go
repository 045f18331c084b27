package zstdframe

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tcbuild/internal/testing/encodetest"
)

// fseTables are the fixed tables of the frames; RFC 8878, 3.1.1.3.2.1.1, numbers their codes and
// bounds their logs.
var fseTables = []struct {
	name   string
	table  *fseTable
	codes  int
	maxLog int
}{
	{"literal lengths", literalLengthTable, 36, 9},
	{"match lengths", matchLengthTable, 53, 9},
}

func TestFSEDescription(t *testing.T) {
	for _, test := range fseTables {
		log, probabilities, size, err := encodetest.Distribution(test.table.description)
		if err != nil || size != len(test.table.description) {
			t.Errorf("%s: description of %d bytes, of which %d are read, error %v", test.name, len(test.table.description), size, err)
			continue
		}
		total := 0
		for code, probability := range probabilities {
			if probability < 1 {
				t.Errorf("%s: code %d has probability %d, so a decoder cannot reach it", test.name, code, probability)
			}
			total += probability
		}
		if log != int(test.table.log) || log > test.maxLog || len(probabilities) != test.codes || total != 1<<log {
			t.Errorf("%s: %d codes with probabilities of %d in all and log %d, want %d codes, %d, log %d",
				test.name, len(probabilities), total, log, test.codes, 1<<test.table.log, test.table.log)
		}
	}
}

// A decoder built only from the description reads what the table's encoder writes.
func TestFSERoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	for _, test := range fseTables {
		decoder := newFSEDecoder(t, test.table.description)
		sequences := [][]uint8{}
		for code := range test.codes {
			sequences = append(sequences, []uint8{uint8(code)}, []uint8{uint8(code), 0, uint8(code)})
		}
		long := make([]uint8, 5000)
		for i := range long {
			long[i] = uint8(r.IntN(test.codes))
		}
		for _, want := range append(sequences, long) {
			w, out := bitWriter{}, make([]byte, 2*len(want)+16)
			state := test.table.start(want[len(want)-1])
			for _, code := range slices.Backward(want[:len(want)-1]) {
				var value uint64
				var n uint8
				state, value, n = test.table.next(state, code)
				w = w.add(out, value, n)
			}
			value, n := test.table.stateBits(state)
			if got := decoder.read(w.add(out, value, n).close(out), len(want)); !slices.Equal(got, want) {
				t.Fatalf("%s: decoded %d, want %d", test.name, got, want)
			}
		}
	}
}

// fseDecoder is the decoding table of RFC 8878, 4.1.1: for each state a symbol, a
// number of bits to read, and what to add to them for the next state.
type fseDecoder struct {
	log      int
	symbol   []uint8
	bits     []int
	baseline []int
}

func newFSEDecoder(t *testing.T, description []byte) *fseDecoder {
	log, probabilities, _, err := encodetest.Distribution(description)
	if err != nil {
		t.Fatal(err)
	}
	size := 1 << log
	d := &fseDecoder{log, make([]uint8, size), make([]int, size), make([]int, size)}
	at := 0
	for symbol, probability := range probabilities {
		for range probability {
			d.symbol[at] = uint8(symbol)
			at = (at + size/2 + size/8 + 3) % size
		}
	}
	for state, symbol := range d.symbol {
		earlier := 0 // states of the same symbol before this one
		for _, other := range d.symbol[:state] {
			if other == symbol {
				earlier++
			}
		}
		share := probabilities[symbol] + earlier
		for share<<d.bits[state] < size {
			d.bits[state]++
		}
		d.baseline[state] = share<<d.bits[state] - size
	}
	return d
}

// read decodes count symbols from a stream that is read from its end.
func (d *fseDecoder) read(stream []byte, count int) []uint8 {
	at := 8 * len(stream)
	bit := func() int {
		at--
		return int(stream[at/8] >> (at % 8) & 1)
	}
	for bit() == 0 { // up to the end mark
	}
	take := func(n int) int {
		value := 0
		for range n {
			value = value<<1 | bit()
		}
		return value
	}
	var symbols []uint8
	for state := take(d.log); ; state = d.baseline[state] + take(d.bits[state]) {
		symbols = append(symbols, d.symbol[state])
		if len(symbols) == count {
			return symbols
		}
	}
}
