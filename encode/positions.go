package encode

import (
	"bytes"
	"encoding/binary"
)

// positionsEncoder writes removed positions uncompressed: u32 each.
type positionsEncoder struct{}

func newPositionsEncoder(int) Encoder { return positionsEncoder{} }

func (positionsEncoder) Append(dst []byte, removed []uint32) []byte {
	for _, position := range removed {
		dst = binary.LittleEndian.AppendUint32(dst, position)
	}
	return dst
}

type positionsDecoder struct {
	expand
	removed []uint32
}

func newPositionsDecoder(size int) Decoder { return &positionsDecoder{expand: expand{size: size}} }

func (d *positionsDecoder) Removed(payload []byte) ([]uint32, error) {
	d.removed = d.removed[:0]
	for at := 0; at+4 <= len(payload); at += 4 {
		position := binary.LittleEndian.Uint32(payload[at:])
		if err := checkNext(d.removed, position, d.size); err != nil {
			return d.removed, err
		}
		d.removed = append(d.removed, position)
	}
	if len(payload)%4 != 0 {
		return d.removed, damagedf("payload of %d bytes is not a whole number of positions",
			len(payload))
	}
	return d.removed, nil
}

func (d *positionsDecoder) Masks(payload []byte) ([]byte, error) {
	removed, err := d.Removed(payload)
	return d.masks(removed), err
}

// checkNext reports whether position may follow the positions before it.
func checkNext(before []uint32, position uint32, size int) error {
	if int(position) >= size {
		return damagedf("position %d is outside the masks (%d positions)", position, size)
	}
	if n := len(before); n > 0 && position <= before[n-1] {
		return damagedf("position %d does not ascend from %d", position, before[n-1])
	}
	return nil
}

// expand makes whole masks from removed positions. It restores the zeros of the sample before, as
// refilling megabytes would take far longer than all else.
type expand struct {
	size  int
	bytes []byte
	zeros []uint32 // in bytes
}

// masks returns a view, valid until the next call.
func (e *expand) masks(removed []uint32) []byte {
	if e.bytes == nil {
		e.bytes = Fill(nil, e.size)
	}
	for _, position := range e.zeros {
		e.bytes[position] = 1
	}
	for _, position := range removed {
		e.bytes[position] = 0
	}
	e.zeros = append(e.zeros[:0], removed...)
	return e.bytes
}

// ones is copied to fill masks. It fits in the L1 cache, which makes copying fastest.
var ones = bytes.Repeat([]byte{1}, 4096)

// Fill returns size bytes of value 1, in dst's memory if it is large enough.
func Fill(dst []byte, size int) []byte {
	if cap(dst) < size {
		dst = make([]byte, size)
	}
	dst = dst[:size]
	for done := 0; done < size; {
		done += copy(dst[done:], ones)
	}
	return dst
}
