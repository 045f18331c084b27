package encode

import (
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/zstd"

	"tcbuild/encode/internal/zstdframe"
)

// runsZstdEncoder writes: run count u32 | low bytes of the gaps | Zstandard frame of (high bytes of
// the gaps | marks | low bytes of the lengths | high bytes of the lengths). The low bytes of gaps
// are incompressible, so they stay outside the frame. The frame has no matches, only Huffman-coded
// literals.
type runsZstdEncoder struct {
	runs  runs
	frame *zstdframe.Writer
	plain []byte
}

func newRunsZstdEncoder(int) Encoder {
	return &runsZstdEncoder{frame: zstdframe.NewWriter(runsTree)}
}

func (e *runsZstdEncoder) Append(dst []byte, removed []uint32) []byte {
	r := &e.runs
	r.set(removed)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r.gaps)))
	plain := e.plain[:0]
	for _, gap := range r.gaps {
		dst = append(dst, byte(gap))
		plain = append(plain, byte(gap>>8))
	}
	plain = append(plain, r.marks...)
	for _, length := range r.lengths {
		plain = append(plain, byte(length))
	}
	for _, length := range r.lengths {
		plain = append(plain, byte(length>>8))
	}
	e.plain = plain
	e.frame.Begin(dst, len(plain))
	e.frame.Literals(plain)
	return e.frame.End()
}

// runsTree codes the frames of indices/zstd: mostly high bytes of gaps, rarer the larger they are,
// and twice as many zeros, for the marks. The tail is heavier than yeast's, to suit larger graphs.
var runsTree = zstdframe.NewTree(func(value byte) int {
	v := int(value)
	count := 100_000/(v*v+12*v+60) + 1
	if v == 0 {
		count += 1500
	}
	return count
})

// runsFrames parses payloads of runsZstdEncoder. Damaged frames, and frames of other encoders, are
// the library's to decompress.
type runsFrames struct {
	frame        *zstdframe.Reader
	decompressor *zstd.Decoder
	plain        []byte
}

func newRunsZstdDecoder(size int) Decoder {
	frames := &runsFrames{
		frame: zstdframe.NewReader(runsTree), decompressor: newDecompressor(4*size + 64),
	}
	return &runsDecoder{expand: expand{size: size}, parse: frames.parse}
}

// newDecompressor makes a decompressor that refuses frames of more than maxSize bytes.
func newDecompressor(maxSize int) *zstd.Decoder {
	decompressor, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(uint64(max(maxSize, 1<<10))),
		zstd.WithDecodeAllCapLimit(false))
	if err != nil {
		panic(err) // the options are constants
	}
	return decompressor
}

func (d *runsFrames) parse(r *runs, payload []byte) error {
	count, payload, err := runCount(payload, 1)
	if err != nil {
		return err
	}
	low := payload[:count]
	plain, err := d.decompress(payload[count:])
	if err != nil {
		return damagedf("decompress runs: %v", err)
	}
	marks := (count + 7) / 8
	listed := len(plain) - count - marks
	if listed < 0 || listed%2 != 0 {
		return damagedf("payload has %d decompressed bytes for %d runs", len(plain), count)
	}
	listed /= 2
	high, lengths := plain[:count], plain[count+marks:]
	r.gaps = joinBytes(r.gaps, low, high)
	r.marks = append(r.marks[:0], plain[count:count+marks]...)
	r.lengths = joinBytes(r.lengths, lengths[:listed], lengths[listed:])
	return nil
}

// joinBytes makes numbers of their low and high bytes, in the memory of dst if it is large enough.
func joinBytes(dst []uint16, low, high []byte) []uint16 {
	dst = slices.Grow(dst[:0], len(low))[:len(low)]
	high = high[:len(low)]
	for i := range dst {
		dst[i] = uint16(low[i]) | uint16(high[i])<<8
	}
	return dst
}

func (d *runsFrames) decompress(frame []byte) (plain []byte, err error) {
	if plain, ok := d.frame.Literals(frame); ok {
		return plain, nil
	}
	d.plain, err = d.decompressor.DecodeAll(frame, d.plain[:0])
	return d.plain, err
}
