package encode

import (
	"encoding/binary"

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

func newRunsZstdEncoder(int) Encoder { return &runsZstdEncoder{frame: zstdframe.NewWriter(runsTree)} }

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

type runsZstdDecoder struct {
	runsDecoder
	decompressor *zstd.Decoder
	plain        []byte
}

func newRunsZstdDecoder(size int) Decoder {
	return &runsZstdDecoder{runsDecoder: runsDecoder{expand: expand{size: size}}, decompressor: newDecompressor(4*size + 64)}
}

// newDecompressor makes a decompressor that refuses frames of more than maxSize bytes.
func newDecompressor(maxSize int) *zstd.Decoder {
	decompressor, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(uint64(max(maxSize, 1<<10))), zstd.WithDecodeAllCapLimit(false))
	if err != nil {
		panic(err) // the options are constants
	}
	return decompressor
}

func (d *runsZstdDecoder) Removed(payload []byte) ([]uint32, error) {
	if err := d.parse(payload); err != nil {
		return nil, err
	}
	var err error
	d.removed, err = d.runs.appendRemoved(d.removed[:0], d.size)
	return d.removed, err
}

func (d *runsZstdDecoder) Masks(payload []byte) ([]byte, error) {
	removed, err := d.Removed(payload)
	return d.masks(removed), err
}

func (d *runsZstdDecoder) parse(payload []byte) error {
	count, payload, err := runCount(payload, 1)
	if err != nil {
		return err
	}
	low, frame := payload[:count], payload[count:]
	if d.plain, err = d.decompressor.DecodeAll(frame, d.plain[:0]); err != nil {
		return damagedf("decompress runs: %v", err)
	}
	marks := (count + 7) / 8
	listed := len(d.plain) - count - marks
	if listed < 0 || listed%2 != 0 {
		return damagedf("payload has %d decompressed bytes for %d runs", len(d.plain), count)
	}
	listed /= 2
	high, lengths := d.plain[:count], d.plain[count+marks:]
	r := &d.runs
	r.reset()
	for i := range count {
		r.gaps = append(r.gaps, uint16(low[i])|uint16(high[i])<<8)
	}
	r.marks = append(r.marks, d.plain[count:count+marks]...)
	for i := range listed {
		r.lengths = append(r.lengths, uint16(lengths[i])|uint16(lengths[listed+i])<<8)
	}
	return nil
}
