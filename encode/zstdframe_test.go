package encode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// The frame of a sample holds what the bits codec writes, as any decoder reads it.
func TestFrameHoldsPackedMasks(t *testing.T) {
	decompressor, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer decompressor.Close()
	for _, size := range sizes {
		frames, packed := newBitsZstdEncoder(size), newBitsEncoder(size)
		for _, test := range removedCases(size) {
			frame, want := frames.Append(nil, test.removed), packed.Append(nil, test.removed)
			got, err := decompressor.DecodeAll(frame, nil)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d positions, %s: the frame does not hold the packed masks, error %v", size, test.name, err)
			}
			if err := checkFrame(frame, len(want)); err != nil {
				t.Fatalf("%d positions, %s: %v", size, test.name, err)
			}
		}
	}
}

// stretch is length bytes of one value.
type stretch struct {
	value  byte
	length int
}

// Stretches of every length code, alone and side by side, at every place in a block.
func TestFrameOfStretches(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	cases := map[string][]stretch{
		"nothing":                      {},
		"empty stretches":              {{1, 0}, {2, 0}, {1, 5}, {3, 0}, {1, 5}},
		"one block of one value":       {{7, zstdMaxBlock}},
		"one byte more than a block":   {{7, zstdMaxBlock + 1}},
		"two blocks and a byte before": {{6, 1}, {7, 2 * zstdMaxBlock}},
	}
	for _, code := range []struct {
		extra []uint8
		base  []uint32
	}{{literalLengthExtra[:], literalLengthBase}, {matchLengthExtra[:], matchLengthBase}} {
		for i, first := range code.base {
			for _, length := range []int{int(first), int(first) + 1<<code.extra[i] - 1} {
				match := []stretch{{0, 1}, {1, 1 + length}, {2, 1}, {1, 1 + length}, {3, 9}}
				cases[fmt.Sprintf("matches of %d", length)] = match
				if length < zstdMaxLiterals {
					literals := []stretch{{9, 30}}
					for i := range length - 1 {
						literals = append(literals, stretch{byte(i), 1})
					}
					cases[fmt.Sprintf("%d literals before a match", length)] = append(literals, stretch{200, 30}, stretch{1, 2})
				}
			}
		}
	}
	for _, longest := range []int{1, 2, 3, 4, 5, 70, 3000} {
		var list []stretch
		for range 3000 {
			list = append(list, stretch{byte(r.IntN(1 + r.IntN(256))), r.IntN(longest + 1)})
		}
		cases[fmt.Sprintf("random, up to %d", longest)] = list
	}

	decompressor, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer decompressor.Close()
	frame := zstdFrame{trained: maskTree} // one for all: nothing may stay behind
	for name, list := range cases {
		var want []byte
		for _, s := range list {
			want = append(want, bytes.Repeat([]byte{s.value}, s.length)...)
		}
		frame.begin(nil, len(want))
		for _, s := range list {
			frame.stretch(s.value, s.length)
		}
		data := frame.end()
		got, err := decompressor.DecodeAll(data, nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the frame does not hold its stretches, error %v", name, err)
		}
		if err := checkFrame(data, len(want)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every length, so that blocks of literals end everywhere; a last block of a single byte is one of
// its own kind.
func TestFrameOfLiterals(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 0))
	decompressor, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer decompressor.Close()
	for kind, value := range map[string]func() byte{
		"one value": func() byte { return 7 },
		"few":       func() byte { return byte(r.IntN(3)) },
		"like gaps": func() byte { return byte(r.ExpFloat64() * 10) },
		"noise":     func() byte { return byte(r.Uint32()) },
	} {
		frame := zstdFrame{trained: runsTree}
		for length := range 3 * zstdMaxLiterals {
			want := make([]byte, length)
			for i := range want {
				want[i] = value()
			}
			frame.begin(nil, length)
			frame.literals(want)
			data := frame.end()
			if got, err := decompressor.DecodeAll(data, nil); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s, %d literals: the frame does not hold them, error %v", kind, length, err)
			}
			if err := checkFrame(data, length); err != nil {
				t.Fatalf("%s, %d literals: %v", kind, length, err)
			}
		}
	}
}

// checkFrame walks the blocks of a frame and checks what RFC 8878 asks for and lenient decoders
// overlook: no block is larger than the window, which is the content size up to 128 KiB. (Decoders
// before 1.5.4 of the reference library want compressed blocks to be smaller than that.)
func checkFrame(frame []byte, size int) error {
	const header = 9
	if len(frame) < header || binary.LittleEndian.Uint32(frame) != 0xFD2FB528 || frame[4] != 0xA0 {
		return fmt.Errorf("frame starts with % x", frame[:min(len(frame), header)])
	}
	if stated := binary.LittleEndian.Uint32(frame[5:]); stated != uint32(size) {
		return fmt.Errorf("frame states a content of %d bytes, holds %d", stated, size)
	}
	maxBlock := min(size, 128<<10)
	for at, last := header, false; !last; {
		if at+3 > len(frame) {
			return fmt.Errorf("frame of %d bytes ends without a last block", len(frame))
		}
		b := uint32(frame[at]) | uint32(frame[at+1])<<8 | uint32(frame[at+2])<<16
		kind, blockSize := b>>1&3, int(b>>3)
		if blockSize > maxBlock || kind == blockCompressed && blockSize == maxBlock {
			return fmt.Errorf("block at byte %d has kind %d and %d bytes, too many for a window of %d", at, kind, blockSize, maxBlock)
		}
		at += 3 + blockSize
		if kind == blockRLE {
			at -= blockSize - 1
		}
		if last = b&1 != 0; last && at != len(frame) {
			return fmt.Errorf("last block ends at byte %d of %d", at, len(frame))
		}
	}
	return nil
}
