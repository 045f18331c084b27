package encode

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"tcbuild/internal/testing/encodetest"
)

func FuzzIndicesZstd(f *testing.F)    { fuzzDecoder(f, Indices, "zstd") }
func FuzzIndicesDelta(f *testing.F)   { fuzzDecoder(f, Indices, "delta") }
func FuzzIndicesRaw(f *testing.F)     { fuzzDecoder(f, Indices, "raw") }
func FuzzFullMasksZstd(f *testing.F)  { fuzzDecoder(f, FullMasks, "zstd") }
func FuzzFullMasksBits(f *testing.F)  { fuzzDecoder(f, FullMasks, "bits") }
func FuzzFullMasksBytes(f *testing.F) { fuzzDecoder(f, FullMasks, "raw") }

// fuzzDecoder feeds a decoder any bytes. What it decodes, the encoder can write and the decoder
// read again.
func fuzzDecoder(f *testing.F, mode Mode, codec string) {
	c, err := Find(mode, codec)
	if err != nil {
		f.Fatal(err)
	}
	for _, sample := range damageSamples {
		f.Add(uint16(sample.size), c.NewEncoder(sample.size).Append(nil, sample.removed))
	}
	f.Fuzz(func(t *testing.T, size uint16, payload []byte) {
		decoder := c.NewDecoder(int(size))
		removed, err := checkDecoded(t, c, int(size), decoder, payload)
		if err != nil {
			return
		}
		removed = slices.Clone(removed)
		again, err := decoder.Removed(c.NewEncoder(int(size)).Append(nil, removed))
		if err != nil || !slices.Equal(again, removed) {
			t.Errorf("encoded again: %d, error %v, want %d", again, err, removed)
		}
	})
}

// FuzzRoundTrip gives every codec any removed positions; steps are what each is above the one
// before.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 5, 0, 255, 255, 0, 0}, uint16(3))
	f.Add(bytes.Repeat([]byte{0, 0}, 3000), uint16(0))
	f.Add(bytes.Repeat([]byte{3, 1, 7, 0}, 3000), uint16(100))
	f.Fuzz(func(t *testing.T, steps []byte, behind uint16) {
		var removed []uint32
		next := uint32(0)
		for ; len(steps) >= 2; steps = steps[2:] {
			next += uint32(binary.LittleEndian.Uint16(steps))
			removed = append(removed, next)
			next++
		}
		size := int(next) + int(behind)
		if size > 1<<20 {
			t.Skip("more masks than a test has time for")
		}
		want := slowMasks(size, removed)
		for _, c := range codecs {
			payload, decoder := c.NewEncoder(size).Append(nil, removed), c.NewDecoder(size)
			if got, err := decoder.Removed(payload); err != nil || !slices.Equal(got, removed) {
				t.Errorf("%s, %d positions: Removed gives %s, error %v, want %s", name(c), size, head(got), err, head(removed))
			}
			if got, err := decoder.Masks(payload); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %d positions: Masks differ from the oracle's, error %v", name(c), size, err)
			}
			if c.Mode == FullMasks && c.Name == "zstd" {
				if err := encodetest.CheckFrame(payload, newBitsEncoder(size).Append(nil, removed)); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// FuzzValue: payloads that pass their checksums are written again as they were.
func FuzzValue(f *testing.F) {
	f.Add(appendPayloads(nil, testSeed, 0, "one", "", "three"), uint8(3))
	f.Add([]byte{1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}, uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, count uint8) {
		value, err := ParseValue(data, testSeed, 0, int(count))
		if err != nil {
			return
		}
		payloads := make([][]byte, count)
		for i := range payloads {
			if payloads[i], err = value.Payload(i); err != nil {
				return
			}
		}
		again := AppendValue(nil, testSeed, 0, int(count), func(dst []byte, i int) []byte { return append(dst, payloads[i]...) })
		if count > 0 && !bytes.Equal(again, data) {
			t.Errorf("% x is written again as % x", data, again)
		}
	})
}
