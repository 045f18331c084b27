package encode

import (
	"cmp"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"tcbuild/encode/internal/zstdframe"
)

// bitsZstdEncoder writes the output of bitsEncoder as a Zstandard frame, without materialising it.
type bitsZstdEncoder struct {
	size  int
	frame *zstdframe.Writer
	zeros []uint32
}

func newBitsZstdEncoder(size int) Encoder {
	return &bitsZstdEncoder{size: size, frame: zstdframe.NewWriter(maskTree)}
}

func (e *bitsZstdEncoder) Append(dst []byte, removed []uint32) []byte {
	size := bitsSize(e.size)
	e.zeros = append(e.zeros[:0], removed...)
	for spare := e.size; spare < 8*size; spare++ {
		e.zeros = append(e.zeros, uint32(spare))
	}
	e.frame.Begin(dst, size)
	e.frame.Zeros(e.zeros, size)
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

// bitsZstdDecoder reads frames as runs; the content of damaged ones, and of other encoders', is
// laid out.
type bitsZstdDecoder struct {
	bitsDecoder
	frame        *zstdframe.Reader
	whole        expand
	decompressor *zstd.Decoder
	plain        []byte
}

func newBitsZstdDecoder(size int) Decoder {
	return &bitsZstdDecoder{
		bitsDecoder: bitsDecoder{size: size}, frame: zstdframe.NewReader(maskTree),
		whole: expand{size: size}, decompressor: newDecompressor(bitsSize(size)),
	}
}

func (d *bitsZstdDecoder) Removed(payload []byte) ([]uint32, error) {
	if d.readRuns(payload) {
		return d.removed, nil
	}
	failure := d.decompress(payload)
	removed, err := d.bitsDecoder.Removed(d.plain)
	return removed, cmp.Or(failure, err)
}

func (d *bitsZstdDecoder) Masks(payload []byte) ([]byte, error) {
	if d.readRuns(payload) {
		return d.whole.masks(d.removed), nil
	}
	failure := d.decompress(payload)
	masks, err := d.bitsDecoder.Masks(d.plain)
	return masks, cmp.Or(failure, err)
}

// readRuns sets the removed positions, or reports false if they have to be found in the frame's
// content.
func (d *bitsZstdDecoder) readRuns(payload []byte) (ok bool) {
	d.removed, ok = d.frame.Zeros(payload, bitsSize(d.size))
	return ok && d.cutSpare()
}

// decompress decompresses the frame into plain, up to any damage.
func (d *bitsZstdDecoder) decompress(payload []byte) (err error) {
	d.plain, err = d.decompressor.DecodeAll(payload, d.plain[:0])
	if err != nil {
		return damagedf("decompress masks: %v", err)
	}
	return nil
}
