package encode

import (
	"slices"
	"testing"

	"tcbuild/internal/testing/encodetest"
	"tcbuild/internal/testing/testrun"
)

// The frame of a sample holds what the bits codec writes, as any decoder reads it.
func TestFrameHoldsPackedMasks(t *testing.T) {
	for _, size := range sizes {
		frames, packed := newBitsZstdEncoder(size), newBitsEncoder(size)
		for _, test := range removedCases(size) {
			frame, want := frames.Append(nil, test.removed), packed.Append(nil, test.removed)
			if err := encodetest.CheckFrame(frame, want); err != nil {
				t.Fatalf("%d positions, %s: %v", size, test.name, err)
			}
		}
	}
}

// Removed positions at the end of a block of a frame, 128 KiB, are read as they are written: there
// a run of kept positions is cut, and can begin with several literals.
func TestBlockEnds(t *testing.T) {
	const end, size = 8 * 128 << 10, 8 * 300 << 10
	step := uint32(testrun.Cases(1, 7))
	encoder, decoder := newBitsZstdEncoder(size), newBitsZstdDecoder(size).(*bitsZstdDecoder)
	decoder.decompressor = nil // its own frames need no library
	for first := uint32(end - 100); first < end+20; first += step {
		var run []uint32
		for i := range uint32(64) {
			run = append(run, first+i)
		}
		for _, want := range [][]uint32{{first}, {first, first + 8}, {first, first + 1, end + first}, run} {
			payload := encoder.Append(nil, want)
			if removed, err := decoder.Removed(payload); err != nil || !slices.Equal(removed, want) {
				t.Fatalf("read %d, error %v, want %d", removed, err, want)
			}
			if masks, err := decoder.Masks(payload); err != nil || !slices.Equal(masks, slowMasks(size, want)) {
				t.Fatalf("masks without %d differ, error %v", want, err)
			}
		}
	}
}
