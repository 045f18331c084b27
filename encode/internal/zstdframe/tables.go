package zstdframe

import (
	"bytes"
	"slices"

	"github.com/klauspost/compress/huff0"
)

// The tables of the lengths in sequences. Their proportions come from the masks of 4,096 samples
// of the yeast-sized synthetic graph (`tcbuild synth --scale yeast --seed 1`): 3.8 million
// sequences. Other masks are still written correctly, but compress less.

// literalLengthTable: nearly every sequence has two literals, the byte of a lone removed edge and
// the 0xFF after it.
var literalLengthTable = newFSETable(9, proportions(512, 36, map[int]int{1: 3, 2: 466, 3: 4, 4: 3, 5: 3, 6: 3}))

// matchLengthTable: kept stretches between removed edges, 300 bytes long in the median.
var matchLengthTable = newFSETable(9, proportions(512, 53, func() map[int]int {
	counts := map[int]int{32: 4, 33: 4, 34: 4, 35: 4, 36: 8, 37: 8, 38: 15, 39: 15, 40: 28, 41: 25, 42: 45,
		43: 110, 44: 91, 45: 54, 46: 22, 47: 6}
	for code := range 32 {
		counts[code] = 2
	}
	return counts
}()))

// proportions returns the counts of codes 0 to codes-1, 1 where none is given. They must add up to
// total.
func proportions(total, codes int, given map[int]int) []int {
	counts := slices.Repeat([]int{1}, codes)
	sum := codes
	for code, count := range given {
		counts[code] = count
		sum += count - 1
	}
	if sum != total {
		panic("proportions do not add up")
	}
	return counts
}

// Tree codes literals, in fixed proportions.
type Tree struct {
	codes       *huff0.Scratch
	description []byte
	decoded     *huffmanTable
}

// NewTree makes the tree for literals that stand in the given proportions, each at least 1.
func NewTree(proportion func(value byte) int) *Tree {
	var sample []byte
	for value := range 256 {
		sample = append(sample, bytes.Repeat([]byte{byte(value)}, proportion(byte(value)))...)
	}
	codes := &huff0.Scratch{}
	if _, _, err := huff0.Compress1X(sample, codes); err != nil {
		panic(err) // the proportions are constants
	}
	return &Tree{codes, slices.Clone(codes.OutTable), newHuffmanTable(codes.OutTable)}
}
