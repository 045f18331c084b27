package encode

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// checkDecoded checks a decoder's results for any bytes: valid positions with or without an error,
// and without one the masks of these positions. It returns Removed's result.
func checkDecoded(t *testing.T, c Codec, size int, decoder Decoder, payload []byte) ([]uint32, error) {
	t.Helper()
	masks, masksErr := decoder.Masks(payload)
	if len(masks) > size {
		t.Errorf("%s, payload % x: masks of %d bytes for %d positions", name(c), payload, len(masks), size)
	}
	masks = slices.Clone(masks)
	removed, err := decoder.Removed(payload)
	for i, position := range removed {
		if int(position) >= size || i > 0 && position <= removed[i-1] {
			t.Fatalf("%s, payload % x: position %d is not ascending and below %d", name(c), payload, position, size)
		}
	}
	for _, err := range []error{err, masksErr} {
		if err != nil && (!errors.Is(err, ErrDamaged) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s, payload % x: error %q, want one line that wraps ErrDamaged", name(c), payload, err)
		}
	}
	switch {
	case err != nil:
		// raw leaves bytes above 1 to the caller
		if masksErr == nil && !(c.Mode == FullMasks && c.Name == "raw") {
			t.Errorf("%s, payload % x: Removed gives error %v, Masks none", name(c), payload, err)
		}
	case masksErr != nil:
		t.Errorf("%s, payload % x: Masks gives error %v, Removed none", name(c), payload, masksErr)
	case !slices.Equal(masks, slowMasks(size, removed)):
		t.Errorf("%s, payload % x: masks are not those of the removed positions %d", name(c), payload, removed)
	}
	return removed, err
}

// damaged yields every truncation of data, data with a byte more, and data with every
// bit and every whole byte flipped.
func damaged(data []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for end := range len(data) {
			if !yield(data[:end:end]) {
				return
			}
		}
		if !yield(append(slices.Clone(data), 0)) {
			return
		}
		flipped := slices.Clone(data)
		for at := range flipped {
			for _, mask := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 0xFF} {
				flipped[at] ^= mask
				if !yield(flipped) {
					return
				}
				flipped[at] ^= mask
			}
		}
	}
}

// damageSamples are small samples whose payloads have every part: listed lengths, bridged gaps,
// described tables.
var damageSamples = []struct {
	size    int
	removed []uint32
}{
	{0, nil},
	{1, []uint32{0}},
	{20, goldenSmallRemoved},
	{203, positions(0, 203, 3)},
	{65, positions(0, 65, 1)},
	{2000, yeastLike(2000)[1700:]},
}

func TestDamagedPayloads(t *testing.T) {
	for _, c := range codecs {
		for _, sample := range damageSamples {
			decoder := c.NewDecoder(sample.size)
			payload := c.NewEncoder(sample.size).Append(nil, sample.removed)
			for damaged := range damaged(payload) {
				checkDecoded(t, c, sample.size, decoder, damaged)
			}
			if got, err := checkDecoded(t, c, sample.size, decoder, payload); err != nil || !slices.Equal(got, sample.removed) {
				t.Fatalf("%s: after damage the decoder gives %s, error %v, for a whole payload", name(c), head(got), err)
			}
		}
	}
}

// Damage of a known kind gets an error that describes it.
func TestDamageIsNamed(t *testing.T) {
	for _, test := range []struct {
		mode    Mode
		codec   string
		payload []byte
		want    string
		removed []uint32 // decoded before the damage
	}{
		{Indices, "raw", []byte{1, 0, 0}, "payload of 3 bytes is not a whole number of positions", nil},
		{Indices, "raw", []byte{3, 0, 0, 0, 20, 0, 0, 0}, "position 20 is outside the masks (20 positions)", []uint32{3}},
		{Indices, "raw", []byte{3, 0, 0, 0, 3, 0, 0, 0}, "position 3 does not ascend from 3", []uint32{3}},
		{Indices, "delta", []byte{1, 0}, "payload of 2 bytes has no run count", nil},
		{Indices, "delta", []byte{2, 0, 0, 0, 1, 0, 1}, "payload has 3 bytes for the gaps of 2 runs", nil},
		{Indices, "delta", []byte{1, 0, 0, 0, 1, 0}, "payload has 0 bytes after the gaps of 1 runs", nil},
		{Indices, "delta", []byte{1, 0, 0, 0, 1, 0, 1}, "run 0 has no length", nil},
		{Indices, "delta", []byte{1, 0, 0, 0, 1, 0, 0, 2, 0}, "1 run lengths for 0 marked runs", []uint32{1}},
		{Indices, "delta", []byte{2, 0, 0, 0, 4, 0, 4, 0, 2, 12, 0},
			"run of 12 positions from 9 leaves the masks (20 positions)", []uint32{4}},
		{Indices, "zstd", []byte{1, 0}, "payload of 2 bytes has no run count", nil},
		{Indices, "zstd", []byte{0, 0, 0, 0, 1, 2, 3}, "decompress runs: ", nil},
		{FullMasks, "raw", make([]byte, 19), "payload of 19 bytes, expected 20", positions(0, 19, 1)},
		{FullMasks, "raw", append([]byte{1, 2, 0}, make([]byte, 17)...),
			"mask byte at position 1 is 2, expected 0 or 1", positions(2, 20, 1)},
		{FullMasks, "bits", []byte{0xFF, 0xFE}, "packed masks of 2 bytes, expected 3", []uint32{8}},
		{FullMasks, "bits", []byte{0xFF, 0xFF, 0x1F}, "bits after the last of 20 positions are set", nil},
		{FullMasks, "zstd", []byte{1, 2, 3, 4, 5}, "decompress masks: ", nil},
	} {
		c, err := Find(test.mode, test.codec)
		if err != nil {
			t.Fatal(err)
		}
		removed, err := checkDecoded(t, c, goldenSmallSize, c.NewDecoder(goldenSmallSize), test.payload)
		if err == nil || !strings.HasPrefix(err.Error(), "damaged: "+test.want) {
			t.Errorf("%s, payload % x: error %v, want damaged: %s", name(c), test.payload, err, test.want)
		}
		if !slices.Equal(removed, test.removed) {
			t.Errorf("%s, payload % x: decoded %d before the damage, want %d", name(c), test.payload, removed, test.removed)
		}
	}
}
