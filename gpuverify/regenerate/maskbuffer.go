package regenerate

import (
	"slices"

	"tcbuild/encode"
)

// MaskBuffer is the whole masks of one sample, one byte per position: 1 keep, 0
// removed. Between samples it is all ones.
type MaskBuffer struct {
	Masks   []byte
	Removed []uint32 // positions of the zeros, in the order in which they were set
}

func NewMaskBuffer(size int) MaskBuffer { return MaskBuffer{Masks: encode.Fill(nil, size)} }

func (b *MaskBuffer) Remove(position int) {
	if b.Masks[position] != 0 {
		b.Masks[position] = 0
		b.Removed = append(b.Removed, uint32(position))
	}
}

// Equals reports whether the masks remove exactly the given positions, which are strictly
// ascending.
func (b *MaskBuffer) Equals(removed []uint32) bool {
	if len(removed) != len(b.Removed) {
		return false
	}
	for _, position := range removed {
		if b.Masks[position] != 0 {
			return false
		}
	}
	return true
}

// Sorted returns the removed positions, ascending: a view, valid until the next call.
func (b *MaskBuffer) Sorted() []uint32 {
	if !slices.IsSorted(b.Removed) {
		slices.Sort(b.Removed)
	}
	return b.Removed
}

// Reset makes the masks all ones again.
func (b *MaskBuffer) Reset() {
	for _, position := range b.Removed {
		b.Masks[position] = 1
	}
	b.Removed = b.Removed[:0]
}
