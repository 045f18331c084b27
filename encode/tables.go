package encode

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/huff0"
)

// The entropy tables of Zstandard frames. They are fixed, so that a frame's bytes depend only on
// its content; gathering statistics for each sample would take longer than coding it. The
// proportions are those of 4,096 samples of the yeast-sized synthetic graph (`tcbuild synth --scale
// yeast --seed 1`): 3.8 million sequences, 7.8 million literals. Other masks are still written
// correctly, but compress less.

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

// maskTree codes the literals of full-masks/zstd. Of 16,000: half are 0xFF (all eight kept), a byte
// with one removed position 980 of each kind, 0x00 (a run) 860; the ends of runs 10 of each kind.
var maskTree = trainTree(func(value byte) int {
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

// runsTree codes the frames of indices/zstd: mostly high bytes of gaps, rarer the larger they are,
// and twice as many zeros, for the marks. The tail is heavier than yeast's, to suit larger graphs.
var runsTree = trainTree(func(value byte) int {
	v := int(value)
	count := 100_000/(v*v+12*v+60) + 1
	if v == 0 {
		count += 1500
	}
	return count
})

// trainTree makes the tree for literals in the given proportions, each at least 1.
func trainTree(proportion func(value byte) int) *huff0.Scratch {
	var sample []byte
	for value := range 256 {
		sample = append(sample, bytes.Repeat([]byte{byte(value)}, proportion(byte(value)))...)
	}
	tree := &huff0.Scratch{}
	if _, _, err := huff0.Compress1X(sample, tree); err != nil {
		panic(err) // the sample is a constant
	}
	tree.OutTable = slices.Clone(tree.OutTable)
	return tree
}

// isRunEnd reports whether the ones of a byte are all at its low end or all at its high end.
func isRunEnd(b byte) bool {
	ones := bits.OnesCount8(b)
	return bits.TrailingZeros8(^b) == ones || bits.LeadingZeros8(^b) == ones
}
