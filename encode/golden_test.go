package encode

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with testdata/name.golden.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s changed; if that is meant, it is a new format version: run with -update and read the diff; found:\n%s", path, text)
	}
}

// hexDump shows bytes with their meaning: offset, hex, meaning.
type hexDump struct {
	text strings.Builder
	data []byte
	at   int
}

// next shows the next n bytes and returns them.
func (d *hexDump) next(n int, format string, args ...any) []byte {
	meaning := fmt.Sprintf(format, args...)
	bytes := d.data[d.at : d.at+n]
	for row := 0; row < n; row += 8 {
		fmt.Fprintf(&d.text, "%04x  %-24s%s", d.at+row, fmt.Sprintf("% x", bytes[row:min(row+8, n)]), meaning)
		d.text.WriteByte('\n')
		meaning = ""
	}
	d.at += n
	return bytes
}

// u16 and u32 peek at the number that comes next.
func (d *hexDump) u16() int { return int(binary.LittleEndian.Uint16(d.data[d.at:])) }
func (d *hexDump) u32() int { return int(binary.LittleEndian.Uint32(d.data[d.at:])) }

// f64 peeks too.
func (d *hexDump) f64() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(d.data[d.at:]))
}

func (d *hexDump) done(t *testing.T) string {
	if d.at != len(d.data) {
		t.Errorf("%d of %d bytes have no meaning", len(d.data)-d.at, len(d.data))
	}
	lines := strings.Split(d.text.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

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
		dump    func(d *hexDump)
	}{
		{Indices, "raw", goldenSmallSize, goldenSmallRemoved, "2-4, 9, 11 and 19 of 20", dumpPositions},
		{Indices, "delta", goldenSize, goldenRemoved, "2-4, 9, 11, 200-499 and 70,003 of 70,004", dumpRuns},
		{Indices, "zstd", goldenSize, goldenRemoved, "2-4, 9, 11, 200-499 and 70,003 of 70,004", dumpRunsZstd},
		{FullMasks, "raw", goldenSmallSize, goldenSmallRemoved, "2-4, 9, 11 and 19 of 20", dumpBytes},
		{FullMasks, "bits", goldenSmallSize, goldenSmallRemoved, "2-4, 9, 11 and 19 of 20", dumpBits},
		{FullMasks, "zstd", goldenSize, goldenRemoved, "2-4, 9, 11, 200-499 and 70,003 of 70,004", dumpFrame},
	} {
		codec, err := Find(test.mode, test.codec)
		if err != nil {
			t.Fatal(err)
		}
		d := &hexDump{data: codec.NewEncoder(test.size).Append(nil, test.removed)}
		fmt.Fprintf(&d.text, "%s/%s: removed are %s positions\n", test.mode, test.codec, test.text)
		test.dump(d)
		golden(t, name(codec), d.done(t))
	}
}

func dumpPositions(d *hexDump) {
	for d.at < len(d.data) {
		d.next(4, "position %d", d.u32())
	}
}

func dumpRuns(d *hexDump) {
	runs := d.u32()
	d.next(4, "%d runs", runs)
	for i := range runs {
		d.next(2, "run %d: after a gap of %d", i, d.u16())
	}
	d.next((runs+7)/8, "marks: bit i is set when the length of run i is listed")
	for d.at < len(d.data) {
		d.next(2, "length %d", d.u16())
	}
}

func dumpRunsZstd(d *hexDump) {
	runs := d.u32()
	d.next(4, "%d runs", runs)
	d.next(runs, "low bytes of the gaps")
	d.next(4, "Zstandard frame: magic")
	d.next(1, "single segment, content size in 1 byte")
	d.next(1, "content size %d", d.data[d.at])
	dumpBlockHeader(d)
	d.next(len(d.data)-d.at, "block: high bytes of the gaps, marks, low and high bytes of the lengths")
}

// dumpBlockHeader shows a block's header and returns kind and size.
func dumpBlockHeader(d *hexDump) (kind, size int) {
	header := int(d.data[d.at]) | int(d.data[d.at+1])<<8 | int(d.data[d.at+2])<<16
	kind, size = header>>1&3, header>>3
	last := ""
	if header&1 != 0 {
		last = "last "
	}
	d.next(3, "%sblock, %s of %d bytes", last, []string{"raw", "repeated byte", "compressed"}[kind], size)
	return kind, size
}

func dumpBytes(d *hexDump) {
	for d.at < len(d.data) {
		d.next(min(8, len(d.data)-d.at), "positions from %d: 1 keep, 0 removed", d.at)
	}
}

func dumpBits(d *hexDump) {
	for d.at < len(d.data) {
		d.next(1, "positions from %d, from the right: %08b", 8*d.at, d.data[d.at])
	}
}

func dumpFrame(d *hexDump) {
	d.next(4, "Zstandard frame: magic")
	d.next(1, "single segment, content size in 4 bytes")
	d.next(4, "content size %d", d.u32())
	for d.at < len(d.data) {
		_, size := dumpBlockHeader(d)
		end := d.at + size
		literals := d.u16() >> 4
		d.next(2, "%d raw literals", literals)
		d.next(literals, "literals")
		d.next(1, "%d sequences", d.data[d.at])
		d.next(1, "tables: literal lengths and match lengths described, offsets of one code")
		d.next(len(literalLengthTable.description), "distribution of literal length codes")
		d.next(1, "offset code 0: the repeated offset 1")
		d.next(len(matchLengthTable.description), "distribution of match length codes")
		d.next(end-d.at, "sequences, read from the end")
	}
}

func TestRecordGolden(t *testing.T) {
	record := Record{Genes: []uint32{5, 258}, Phenotypes: []float64{0.5, math.NaN()}, ID: []byte("s-ä")}
	d := &hexDump{data: append(record.AppendHead(nil), "payload"...)}
	d.text.WriteString("record of genes 5 and 258, phenotypes 0.5 and missing, id s-ä\n")
	dumpRecord(d, 2, len("payload"))
	golden(t, "record", d.done(t))
}

func dumpRecord(d *hexDump, phenotypes, payload int) {
	genes := d.u32()
	d.next(4, "record: %d genes", genes)
	id := d.u32()
	d.next(4, "id of %d bytes", id)
	for range phenotypes {
		d.next(8, "phenotype %v", d.f64())
	}
	for range genes {
		d.next(4, "gene %d", d.u32())
	}
	d.next(id, "id %s", d.data[d.at:d.at+id])
	d.next(payload, "payload")
}

func TestValueGolden(t *testing.T) {
	payloads := []string{"three", "", "one"}
	value := AppendValue(nil, 0x0123456789abcdef, 64, len(payloads),
		func(i int) Record { return Record{Genes: []uint32{uint32(i)}, ID: []byte{byte('a' + i)}} },
		func(dst []byte, i int) []byte { return append(dst, payloads[i]...) })
	d := &hexDump{data: value}
	d.text.WriteString("value of samples 64 to 66, seed 0123456789abcdef\n")
	count := d.u32()
	d.next(4, "%d records", count)
	for i := range count {
		d.next(4, "record %d ends at byte %d of the records", i, d.u32())
		d.next(4, "checksum of its head")
		d.next(4, "checksum of its payload")
	}
	for _, payload := range payloads {
		dumpRecord(d, 0, len(payload))
	}
	golden(t, "value", d.done(t))
}
