package encode

import (
	"os"
	"slices"
	"testing"

	"tcbuild/internal/testing/encodetest"
)

// The sample of the golden files: runs of 3, 1, 1 and 300 positions, and a gap above 16 bits.
const goldenSize = 70_004

var goldenRemoved = append(append([]uint32{2, 3, 4, 9, 11}, positions(200, 500, 1)...), 70_003)

// A smaller one for the codecs that write every position.
const goldenSmallSize = 20

var goldenSmallRemoved = []uint32{2, 3, 4, 9, 11, 19}

func TestCodecGolden(t *testing.T) {
	for _, test := range []struct {
		mode    Mode
		codec   string
		size    int
		removed []uint32
		text    string
		dump    func(d *encodetest.Dump)
	}{
		{Indices, "raw", goldenSmallSize, goldenSmallRemoved, "2-4, 9, 11 and 19 of 20", dumpPositions},
		{Indices, "delta", goldenSize, goldenRemoved, "2-4, 9, 11, 200-499 and 70,003 of 70,004", dumpRuns},
		{Indices, "zstd", goldenSize, goldenRemoved, "2-4, 9, 11, 200-499 and 70,003 of 70,004", dumpRunsZstd},
		{FullMasks, "raw", goldenSmallSize, goldenSmallRemoved, "2-4, 9, 11 and 19 of 20", dumpBytes},
		{FullMasks, "bits", goldenSmallSize, goldenSmallRemoved, "2-4, 9, 11 and 19 of 20", dumpBits},
		{FullMasks, "zstd", goldenSize, goldenRemoved, "2-4, 9, 11, 200-499 and 70,003 of 70,004", func(d *encodetest.Dump) { dumpFrame(d) }},
	} {
		codec, err := Find(test.mode, test.codec)
		if err != nil {
			t.Fatal(err)
		}
		d := encodetest.NewDump(codec.NewEncoder(test.size).Append(nil, test.removed),
			"%s/%s: removed are %s positions", test.mode, test.codec, test.text)
		test.dump(d)
		d.Golden(t, name(codec))
	}
}

func dumpPositions(d *encodetest.Dump) {
	for d.Left() > 0 {
		d.Next(4, "position %d", d.U32())
	}
}

func dumpRuns(d *encodetest.Dump) {
	runs := d.U32()
	d.Next(4, "%d runs", runs)
	for i := range runs {
		d.Next(2, "run %d: after a gap of %d", i, d.U16())
	}
	d.Next((runs+7)/8, "marks: bit i is set when the length of run i is listed")
	for d.Left() > 0 {
		d.Next(2, "length %d", d.U16())
	}
}

func dumpRunsZstd(d *encodetest.Dump) {
	runs := d.U32()
	d.Next(4, "%d runs", runs)
	d.Next(runs, "low bytes of the gaps")
	content := d.Inner(dumpFrame(d), "content of the frame")
	content.Next(runs, "high bytes of the gaps")
	content.Next((runs+7)/8, "marks: bit i is set when the length of run i is listed")
	listed := content.Left() / 2
	content.Next(listed, "low bytes of the lengths")
	content.Next(listed, "high bytes of the lengths")
}

// dumpFrame returns the content of a frame.
func dumpFrame(d *encodetest.Dump) []byte {
	content, err := d.Frame()
	if err != nil {
		panic(err)
	}
	return content
}

func dumpBytes(d *encodetest.Dump) {
	for first := 0; d.Left() > 0; first += 8 {
		d.Next(min(8, d.Left()), "positions from %d: 1 keep, 0 removed", first)
	}
}

func dumpBits(d *encodetest.Dump) {
	for first := 0; d.Left() > 0; first += 8 {
		d.Next(1, "positions from %d, from the right: %08b", first, d.U8())
	}
}

func TestValueGolden(t *testing.T) {
	payloads := []string{"three", "", "one"}
	value := appendPayloads(nil, 0x0123456789abcdef, 64, payloads...)
	d := encodetest.NewDump(value, "value of samples 64 to 66, seed 0123456789abcdef")
	count := d.U32()
	d.Next(4, "%d payloads", count)
	for i := range count {
		d.Next(4, "payload %d ends at byte %d of the payloads", i, d.U32())
		d.Next(4, "its checksum")
	}
	for i, payload := range payloads {
		if payload != "" {
			d.Next(len(payload), "payload %d: %s", i, payload)
		}
	}
	d.Golden(t, "value")
}

// Each codec has a file of golden bytes, and each such file a codec.
func TestGoldenFiles(t *testing.T) {
	want := []string{"value.golden"}
	for _, c := range codecs {
		want = append(want, string(c.Mode)+"-"+c.Name+".golden")
	}
	var got []string
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !file.IsDir() {
			got = append(got, file.Name())
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("testdata has %q, want %q", got, want)
	}
}
