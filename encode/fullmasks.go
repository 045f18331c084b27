package encode

import (
	"encoding/binary"
	"slices"

	"tcbuild/encode/internal/zstdframe"
)

// bytesEncoder writes whole masks, one byte per position: 1 keep, 0 removed.
type bytesEncoder struct{ size int }

func newBytesEncoder(size int) Encoder { return &bytesEncoder{size} }

func (e *bytesEncoder) Append(dst []byte, removed []uint32) []byte {
	dst, masks := grow(dst, e.size)
	Fill(masks, e.size)
	for _, position := range removed {
		masks[position] = 0
	}
	return dst
}

// grow appends n bytes of arbitrary content and also returns them.
func grow(dst []byte, n int) (grown, added []byte) {
	start := len(dst)
	dst = slices.Grow(dst, n)[:start+n] // with spare room: the next value may be a little longer
	return dst, dst[start:]
}

type bytesDecoder struct {
	size    int
	removed []uint32
}

func newBytesDecoder(size int) Decoder { return &bytesDecoder{size: size} }

// Masks returns the payload itself. It does not look for bytes other than 0 and 1: the caller knows
// what each should be.
func (d *bytesDecoder) Masks(payload []byte) ([]byte, error) {
	if len(payload) != d.size {
		return payload[:min(len(payload), d.size)],
			damagedf("payload of %d bytes, expected %d", len(payload), d.size)
	}
	return payload, nil
}

func (d *bytesDecoder) Removed(payload []byte) ([]uint32, error) {
	masks, err := d.Masks(payload)
	d.removed = d.removed[:0]
	const allKept = 0x0101010101010101
	for at := 0; at < len(masks); {
		if at+8 <= len(masks) && binary.LittleEndian.Uint64(masks[at:]) == allKept {
			at += 8
			continue
		}
		switch mask := masks[at]; {
		case mask == 0:
			d.removed = append(d.removed, uint32(at))
		case mask != 1 && err == nil:
			err = damagedf("mask byte at position %d is %d, expected 0 or 1", at, mask)
		}
		at++
	}
	return d.removed, err
}

// bitsEncoder writes whole masks, one bit per position, position p in bit p%8 of byte p/8; the bits
// after the last position are 0.
type bitsEncoder struct{ size int }

func bitsSize(size int) int { return (size + 7) / 8 }

func newBitsEncoder(size int) Encoder { return &bitsEncoder{size} }

func (e *bitsEncoder) Append(dst []byte, removed []uint32) []byte {
	dst, packed := grow(dst, bitsSize(e.size))
	keepAll(packed, e.size)
	for _, position := range removed {
		packed[position/8] &^= 1 << (position % 8)
	}
	return dst
}

// keepAll sets the bits of size positions.
func keepAll(packed []byte, size int) {
	for i := range packed {
		packed[i] = 0xFF
	}
	if size%8 != 0 {
		packed[len(packed)-1] = lastByte(size)
	}
}

// lastByte is the last byte of the packed masks of size positions when all are kept.
func lastByte(size int) byte {
	if size%8 == 0 {
		return 0xFF
	}
	return 1<<(size%8) - 1
}

type bitsDecoder struct {
	size    int
	removed []uint32
	bytes   []byte
}

func newBitsDecoder(size int) Decoder { return &bitsDecoder{size: size} }

func (d *bitsDecoder) Removed(payload []byte) ([]uint32, error) {
	removed := d.removed[:0]
	whole := payload[:min(len(payload), bitsSize(d.size))]
	at := 0
	for ; at+8 <= len(whole); at += 8 {
		if binary.LittleEndian.Uint64(whole[at:]) != 1<<64-1 {
			removed = zstdframe.AppendZeros(removed, at, whole[at:at+8])
		}
	}
	d.removed = zstdframe.AppendZeros(removed, at, whole[at:])
	d.cutSpare()
	return d.removed, d.check(payload)
}

// cutSpare cuts the bits after the last position off the removed positions, and reports whether all
// of them were zeros.
func (d *bitsDecoder) cutSpare() bool {
	end, _ := slices.BinarySearch(d.removed, uint32(d.size))
	spare := len(d.removed) - end
	d.removed = d.removed[:end]
	return spare == 8*bitsSize(d.size)-d.size
}

func (d *bitsDecoder) check(payload []byte) error {
	if len(payload) != bitsSize(d.size) {
		return damagedf("packed masks of %d bytes, expected %d", len(payload), bitsSize(d.size))
	}
	if n := len(payload); n > 0 && payload[n-1]&^lastByte(d.size) != 0 {
		return damagedf("bits after the last of %d positions are set", d.size)
	}
	return nil
}

func (d *bitsDecoder) Masks(payload []byte) ([]byte, error) {
	if cap(d.bytes) < d.size {
		d.bytes = make([]byte, 0, d.size+7)
	}
	masks := d.bytes[:0]
	for _, packed := range payload[:min(len(payload), bitsSize(d.size))] {
		masks = binary.LittleEndian.AppendUint64(masks, unpacked[packed])
	}
	d.bytes = masks
	return masks[:min(len(masks), d.size)], d.check(payload)
}

// unpacked is a byte's eight bits as eight bytes, little-endian.
var unpacked = func() (table [256]uint64) {
	for packed := range table {
		for bit := range 8 {
			table[packed] |= uint64(packed>>bit&1) << (8 * bit)
		}
	}
	return table
}()
