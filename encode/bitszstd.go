package encode

import (
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"tcbuild/encode/internal/zstdframe"
)

// bitsZstdEncoder writes the output of bitsEncoder as a Zstandard frame, without materialising it.
type bitsZstdEncoder struct {
	size  int
	frame *zstdframe.Writer
}

func newBitsZstdEncoder(size int) Encoder {
	return &bitsZstdEncoder{size: size, frame: zstdframe.NewWriter(maskTree)}
}

func (e *bitsZstdEncoder) Append(dst []byte, removed []uint32) []byte {
	size := bitsSize(e.size)
	e.frame.Begin(dst, size)
	at, packed := 0, byte(0xFF) // the byte that takes the next removed position
	if at == size-1 {
		packed = lastByte(e.size)
	}
	for _, position := range removed {
		if next := int(position / 8); next != at {
			e.frame.Run(packed, 1)
			e.frame.Run(0xFF, next-at-1)
			at, packed = next, 0xFF
			if at == size-1 {
				packed = lastByte(e.size)
			}
		}
		packed &^= 1 << (position % 8)
	}
	if size > 0 {
		e.frame.Run(packed, 1)
		if at < size-1 {
			e.frame.Run(0xFF, size-at-2)
			e.frame.Run(lastByte(e.size), 1)
		}
	}
	return e.frame.End()
}

// maskTree codes the literals of full-masks/zstd. Of 16,000: half are 0xFF (all eight kept), a byte
// with one removed position 980 of each kind, 0x00 (a run) 860; the ends of runs 10 of each kind.
var maskTree = zstdframe.NewTree(func(value byte) int {
	switch removed := ^value; {
	case removed == 0:
		return 8000
	case removed == 0xFF:
		return 860
	case bits.OnesCount8(removed) == 1:
		return 980
	case isRunEnd(removed):
		return 10
	}
	return 1
})

// isRunEnd reports whether the ones of a byte are all at its low end or all at its high end.
func isRunEnd(b byte) bool {
	ones := bits.OnesCount8(b)
	return bits.TrailingZeros8(^b) == ones || bits.LeadingZeros8(^b) == ones
}

type bitsZstdDecoder struct {
	bitsDecoder
	decompressor *zstd.Decoder
	plain        []byte
}

func newBitsZstdDecoder(size int) Decoder {
	return &bitsZstdDecoder{bitsDecoder: bitsDecoder{size: size}, decompressor: newDecompressor(bitsSize(size))}
}

func (d *bitsZstdDecoder) Removed(payload []byte) ([]uint32, error) {
	failure := d.decompress(payload)
	removed, err := d.bitsDecoder.Removed(d.plain)
	if failure != nil {
		err = failure
	}
	return removed, err
}

func (d *bitsZstdDecoder) Masks(payload []byte) ([]byte, error) {
	failure := d.decompress(payload)
	masks, err := d.bitsDecoder.Masks(d.plain)
	if failure != nil {
		err = failure
	}
	return masks, err
}

// decompress decompresses the frame into plain, up to any damage.
func (d *bitsZstdDecoder) decompress(payload []byte) (err error) {
	d.plain, err = d.decompressor.DecodeAll(payload, d.plain[:0])
	if err != nil {
		return damagedf("decompress masks: %v", err)
	}
	return nil
}
