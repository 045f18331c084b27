package zstdframe

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"tcbuild/internal/testing/seed"
)

// contents lays out what a Reader reads of a frame, in both ways.
func contents(r *Reader, frame []byte) (contents [][]byte) {
	if literals, ok := r.Literals(frame); ok {
		contents = append(contents, slices.Clone(literals))
	}
	if len(frame) < len(frameStart)+4 {
		return contents
	}
	size := int(binary.LittleEndian.Uint32(frame[len(frameStart):]))
	if zeros, ok := r.Zeros(frame, size); ok {
		content := bytes.Repeat([]byte{0xFF}, size)
		for _, position := range zeros {
			content[position/8] ^= 1 << (position % 8) // a position that is listed twice would be seen
		}
		contents = append(contents, content)
	}
	return contents
}

// seeds are frames with every form of block, literals and sequences.
func seeds() (frames [][]byte) {
	var mixed []run
	for i := range 700 {
		mixed = append(mixed, run{byte(i % 3), 1 + i%5*i%60})
	}
	for _, value := range []byte{0x7F, 0x7E, 0xFE, 0x01} { // one zero, several
		mixed = append(mixed, run{value, 1}, run{0xFF, 200})
	}
	w := NewWriter(zeros)
	for _, list := range [][]run{{}, {{3, 1}}, {{7, maxBlock + 40}}, mixed} {
		size := 0
		for _, r := range list {
			size += r.length
		}
		w.Begin(nil, size)
		for _, r := range list {
			w.Run(r.value, r.length)
		}
		frames = append(frames, w.End())
	}
	for _, literals := range []string{"kept as it is", strings.Repeat("\x00", 2*maxLiterals)} {
		w.Begin(nil, len(literals))
		w.Literals([]byte(literals))
		frames = append(frames, w.End())
	}
	return frames
}

// However a frame is damaged, the reader agrees with another decoder. -short damages a third of its
// bytes.
func TestDamagedFrames(t *testing.T) {
	r := seed.Rand(t)
	reader, decoder := NewReader(zeros), newDecoder(t)
	for i, frame := range seeds() {
		literals := i == 0 || i >= 4
		if read := contents(reader, frame); len(read) == 0 || literals && len(read) < 2 {
			t.Errorf("frame %d is read in %d ways", i, len(read))
		}
		damaged := slices.Clone(frame)
		for at := range frame {
			if testing.Short() && r.IntN(3) > 0 {
				continue
			}
			for bit := range 8 {
				damaged[at] ^= 1 << bit
				compare(t, reader, decoder, damaged)
				damaged[at] ^= 1 << bit
			}
			compare(t, reader, decoder, frame[:at])
		}
		compare(t, reader, decoder, append(damaged, 0))
	}
}

// A run of no bytes, which no Writer writes, has no content.
func TestEmptyRun(t *testing.T) {
	w := NewWriter(zeros)
	w.Begin(nil, 0)
	frame := w.End()
	frame[len(frame)-3] |= blockRLE << 1
	compare(t, NewReader(zeros), newDecoder(t), append(frame, 0))
}

// A stream of sequences whose last byte is 0 has no end mark, none is seen before it, and one with
// a byte more than its sequences take is damaged.
func TestEndsOfSequences(t *testing.T) {
	w, reader, decoder := NewWriter(zeros), NewReader(zeros), newDecoder(t)
	full := 0                                   // streams whose mark is the highest bit of their last byte
	for length := 120; length < 400; length++ { // enough to be compressed
		w.Begin(nil, length+1)
		w.Run(1, 1)
		w.Run(0, length)
		frame := w.End()
		if frame[len(frame)-1]>>7 != 0 {
			full++
		}
		frame[len(frameStart)+4] += 1 << 3 // the size of its block, which is small
		compare(t, reader, decoder, append(slices.Clone(frame), 0))
		stream := bytes.Index(frame, newTables) + len(newTables)
		compare(t, reader, decoder, slices.Insert(frame, stream, 0))
	}
	if full == 0 {
		t.Error("no stream fills its last byte")
	}
}

// A sequence without literals has another offset, and at the start of the content nothing to
// repeat.
func TestSequenceWithoutLiterals(t *testing.T) {
	literals, reader, decoder := []byte{0x7F, 0xFF, 0xFE, 0xFF}, NewReader(zeros), newDecoder(t)
	for at := range 3 {
		sequences := []Sequence{{2, 300}, {2, 300}}
		if at < 2 {
			sequences = slices.Insert(sequences, at, Sequence{0, 300})
		}
		w := NewWriter(zeros)
		w.Begin(nil, len(literals)+300*len(sequences))
		w.lastBlock = len(w.out)
		w.out = appendBlockHeader(w.out, blockCompressed, 0)
		body := len(w.out)
		w.appendLiterals(literals)
		w.appendSequences(sequences)
		putBlockHeader(w.out[w.lastBlock:], blockCompressed, len(w.out)-body)
		frame := w.End()
		compare(t, reader, decoder, frame)
		if read := contents(reader, frame); (len(read) > 0) != (at == 2) {
			t.Errorf("sequence %d without literals: read in %d ways", at, len(read))
		}
	}
}

// Literals that a stream does not have are not those of an earlier frame.
func TestLiteralsThatAreMissing(t *testing.T) {
	w := NewWriter(zeros)
	w.Begin(nil, 200)
	w.Literals(make([]byte, 200))
	frame, reader := w.End(), NewReader(zeros)
	if read := contents(reader, frame); len(read) != 2 {
		t.Fatalf("the whole frame is read in %d ways", len(read))
	}
	block := len(frameStart) + 4
	frame[len(frameStart)]++
	frame[block+3] += 1 << 4 // the number of literals
	if read := contents(reader, frame); len(read) > 0 {
		t.Errorf("a literal more than there are: read as % x", read[0])
	}
}

// Frames of other encoders are another decoder's, or read right.
func TestOtherFrames(t *testing.T) {
	reader, decoder := NewReader(zeros), newDecoder(t)
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBestCompression} {
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false))
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{0, 1, 200, 5000, 300_000} {
			for _, step := range []int{1, 7, 1000} {
				plain := make([]byte, size)
				for i := range plain {
					plain[i] = byte(i / step)
				}
				compare(t, reader, decoder, encoder.EncodeAll(plain, nil))
			}
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, frame := range seeds() {
		f.Add(frame)
	}
	reader, decoder := NewReader(zeros), newDecoder(f)
	f.Fuzz(func(t *testing.T, frame []byte) { compare(t, reader, decoder, frame) })
}

func newDecoder(t testing.TB) *zstd.Decoder {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(decoder.Close)
	return decoder
}

// compare checks what the reader says of bytes against another decoder.
func compare(t *testing.T, reader *Reader, decoder *zstd.Decoder, frame []byte) {
	t.Helper()
	for _, got := range contents(reader, frame) {
		want, err := decoder.DecodeAll(frame, nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("frame % x: read as %d bytes, by another decoder as %d, error %v", frame, len(got), len(want), err)
		}
	}
}
