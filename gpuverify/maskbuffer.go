package gpuverify

import (
	"slices"

	"tcbuild/encode"
)

// maskBuffer is the whole masks of one sample, one byte per position: 1 keep, 0
// removed. Between samples it is all ones.
type maskBuffer struct {
	masks   []byte
	removed []uint32 // positions of the zeros, in the order in which they were set
}

func newMaskBuffer(size int) maskBuffer { return maskBuffer{masks: encode.Fill(nil, size)} }

func (b *maskBuffer) remove(position int) {
	if b.masks[position] != 0 {
		b.masks[position] = 0
		b.removed = append(b.removed, uint32(position))
	}
}

// equals reports whether the masks remove exactly the given positions, which are strictly
// ascending.
func (b *maskBuffer) equals(removed []uint32) bool {
	if len(removed) != len(b.removed) {
		return false
	}
	for _, position := range removed {
		if b.masks[position] != 0 {
			return false
		}
	}
	return true
}

// sorted returns the removed positions, ascending: a view, valid until the next call.
func (b *maskBuffer) sorted() []uint32 {
	if !slices.IsSorted(b.removed) {
		slices.Sort(b.removed)
	}
	return b.removed
}

// reset makes the masks all ones again.
func (b *maskBuffer) reset() {
	for _, position := range b.removed {
		b.masks[position] = 1
	}
	b.removed = b.removed[:0]
}
