package zstdframe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"tcbuild/internal/testing/encodetest"
)

// zeros is a tree for few large values.
var zeros = NewTree(func(value byte) int { return 10_000/(int(value)+1) + 1 })

// run is length bytes of one value.
type run struct {
	value  byte
	length int
}

// Runs of every length code, alone and side by side, at every place in a block.
func TestRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	cases := map[string][]run{
		"nothing":                      {},
		"empty runs":                   {{1, 0}, {2, 0}, {1, 5}, {3, 0}, {1, 5}},
		"one block of one value":       {{7, maxBlock}},
		"one byte more than a block":   {{7, maxBlock + 1}},
		"two blocks and a byte before": {{6, 1}, {7, 2 * maxBlock}},
		"two lone zeros":               {{0xFE, 1}, {0xFF, 9}, {0xFD, 1}},
		"a block between lone zeros":   {{0xFE, 1}, {0xFF, maxBlock - 1}, {0xFD, 1}, {0xFF, 8}},
	}
	for _, code := range []struct {
		extra []uint8
		base  []uint32
	}{{literalLengthExtra[:], literalLengthBase}, {matchLengthExtra[:], matchLengthBase}} {
		for i, first := range code.base {
			for _, length := range []int{int(first), int(first) + 1<<code.extra[i] - 1} {
				match := []run{{0, 1}, {1, 1 + length}, {2, 1}, {1, 1 + length}, {3, 9}}
				cases[fmt.Sprintf("matches of %d", length)] = match
				if length < maxLiterals {
					literals := []run{{9, 30}}
					for i := range length - 1 {
						literals = append(literals, run{byte(i), 1})
					}
					cases[fmt.Sprintf("%d literals before a match", length)] = append(literals, run{200, 30}, run{1, 2})
				}
			}
		}
	}
	for _, longest := range []int{1, 2, 3, 4, 5, 70, 3000} {
		var list []run
		for range 3000 {
			list = append(list, run{byte(r.IntN(1 + r.IntN(256))), r.IntN(longest + 1)})
		}
		cases[fmt.Sprintf("random, up to %d", longest)] = list
	}

	var lone []run // bytes with a zero between ones, as masks have
	for _, longest := range []int{5, 300, 5000} {
		for range 3000 {
			zero := run{^byte(1 << r.IntN(8)), 1 + r.IntN(2)*r.IntN(2)}
			lone = append(lone, zero, run{0xFF, r.IntN(longest)})
		}
	}
	cases["lone zeros"] = lone

	frame, reader := NewWriter(zeros), NewReader(zeros) // one for all: no state may remain
	for name, list := range cases {
		var want []byte
		for _, s := range list {
			want = append(want, bytes.Repeat([]byte{s.value}, s.length)...)
		}
		frame.Begin(nil, len(want))
		for _, s := range list {
			frame.Run(s.value, s.length)
		}
		written := frame.End()
		if err := encodetest.CheckFrame(written, want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := contents(reader, written); len(got) == 0 || !bytes.Equal(got[len(got)-1], want) {
			t.Errorf("%s: Zeros gives other content, or false", name)
		}
		frame.Begin(nil, len(want))
		frame.Zeros(AppendZeros(nil, 0, want), len(want))
		if !bytes.Equal(frame.End(), written) {
			t.Errorf("%s: Zeros writes another frame than Run", name)
		}
	}
}

// Every length, so that blocks of literals end everywhere; a last block of a single byte is one of
// its own kind.
func TestLiterals(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 0))
	for kind, value := range map[string]func() byte{
		"one value": func() byte { return 7 },
		"few":       func() byte { return byte(r.IntN(3)) },
		"like gaps": func() byte { return byte(r.ExpFloat64() * 10) },
		"noise":     func() byte { return byte(r.Uint32()) },
	} {
		frame, reader := NewWriter(zeros), NewReader(zeros)
		for length := range 3 * maxLiterals {
			want := make([]byte, length)
			for i := range want {
				want[i] = value()
			}
			frame.Begin(nil, length)
			frame.Literals(want)
			written := frame.End()
			if err := encodetest.CheckFrame(written, want); err != nil {
				t.Fatalf("%s, %d literals: %v", kind, length, err)
			}
			if got := contents(reader, written); len(got) < 2 || !bytes.Equal(got[0], want) || !bytes.Equal(got[1], want) {
				t.Fatalf("%s, %d literals: Literals or Zeros gives other content, or false", kind, length)
			}
		}
	}
}

// Golden bytes of every form that a block, its literals and its sequences have; what the files say
// of the bytes is read from the bytes.
func TestGolden(t *testing.T) {
	masks := NewTree(func(value byte) int { return map[byte]int{0xFF: 800, 0x7F: 100, 0xFE: 100}[value] + 1 })
	w := NewWriter(masks)
	frame := func(list ...run) []byte {
		size := 0
		for _, r := range list {
			size += r.length
		}
		w.Begin(nil, size)
		for _, r := range list {
			w.Run(r.value, r.length)
		}
		return w.End()
	}
	var block []run // of Huffman-coded literals and sequences
	for i := range 60 {
		block = append(block, run{[]byte{0x7F, 0xFE}[i%2], 1}, run{0xFF, 2000 + 17*i})
	}
	for _, test := range []struct {
		name, title string
		runs        []run
	}{
		{"run", "300 times 0xFF", []run{{0xFF, 300}}},
		{"raw", "0x7F, 12 times 0xFF: compressed it would be longer", []run{{0x7F, 1}, {0xFF, 12}}},
		{"sequences", "0x7F, 5,000 times 0xFF, 0xFE", []run{{0x7F, 1}, {0xFF, 5000}, {0xFE, 1}}},
		{"blocks", "60 lone bytes, between runs of 0xFF that grow from 2,000 bytes on: Huffman codes, and tables used again", block},
	} {
		d := encodetest.NewDump(frame(test.runs...), "frame of %s", test.title)
		if _, err := d.Frame(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		d.Golden(t, test.name)
	}
}
