package encode

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// slowMasks is the oracle of Masks.
func slowMasks(size int, removed []uint32) []byte {
	masks := bytes.Repeat([]byte{1}, size)
	for _, position := range removed {
		masks[position] = 0
	}
	return masks
}

func name(c Codec) string { return fmt.Sprintf("%s-%s", c.Mode, c.Name) }

// Every codec returns its input; encoders and decoders are reused.
func TestRoundTrip(t *testing.T) {
	for _, size := range sizes {
		cases := removedCases(size)
		want := make([][]byte, len(cases))
		for i, test := range cases {
			want[i] = slowMasks(size, test.removed)
		}
		for _, c := range codecs {
			encoder, decoder := c.NewEncoder(size), c.NewDecoder(size)
			for i, test := range cases {
				payload := encoder.Append([]byte("before"), test.removed)
				payload, ok := bytes.CutPrefix(payload, []byte("before"))
				if !ok {
					t.Fatalf("%s, %d positions, %s: Append overwrote what stood before", name(c), size, test.name)
				}
				if c.WholeSize != nil && len(payload) != c.WholeSize(size) {
					t.Errorf("%s, %d positions, %s: payload of %d bytes, WholeSize says %d", name(c), size, test.name, len(payload), c.WholeSize(size))
				}
				removed, err := decoder.Removed(payload)
				if err != nil || !slices.Equal(removed, test.removed) {
					t.Fatalf("%s, %d positions, %s: Removed gives %s, error %v, want %s", name(c), size, test.name, head(removed), err, head(test.removed))
				}
				masks, err := decoder.Masks(payload)
				if err != nil || !bytes.Equal(masks, want[i]) {
					t.Fatalf("%s, %d positions, %s: Masks differ from the oracle's, error %v", name(c), size, test.name, err)
				}
			}
		}
	}
}

// head shows a list's length and beginning.
func head(list []uint32) string {
	return fmt.Sprintf("%d positions %d…", len(list), list[:min(len(list), 10)])
}

func TestFind(t *testing.T) {
	for _, test := range []struct {
		mode       Mode
		name, want string
	}{
		{Indices, "", "zstd"},
		{Indices, "delta", "delta"},
		{Indices, "raw", "raw"},
		{FullMasks, "", "zstd"},
		{FullMasks, "bits", "bits"},
		{FullMasks, "raw", "raw"},
	} {
		if c, err := Find(test.mode, test.name); err != nil || c.Mode != test.mode || c.Name != test.want {
			t.Errorf("Find(%s, %q) is %s, error %v, want %s", test.mode, test.name, name(c), err, test.want)
		}
	}
	for _, test := range []struct {
		mode       Mode
		name, want string
	}{
		{Indices, "bits", `mode "indices" has no codec "bits", expected one of zstd, delta, raw`},
		{FullMasks, "delta", `mode "full-masks" has no codec "delta", expected one of zstd, bits, raw`},
		{"incidence", "", `mode "incidence" has no codec "", expected one of `},
	} {
		if _, err := Find(test.mode, test.name); err == nil || err.Error() != test.want {
			t.Errorf("Find(%s, %q) gives error %v, want %s", test.mode, test.name, err, test.want)
		}
	}
}

func TestFill(t *testing.T) {
	memory := make([]byte, 200)
	for _, size := range []int{0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 200, 1000} {
		clear(memory)
		for _, dst := range [][]byte{nil, memory[:0], memory} {
			if got := Fill(dst, size); len(got) != size || bytes.Count(got, []byte{1}) != size {
				t.Errorf("Fill of %d bytes gives %d", size, got)
			}
		}
	}
}
