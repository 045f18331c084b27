package encode

import (
	"testing"

	"tcbuild/encode/internal/encodetest"
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
