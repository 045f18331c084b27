// Package zstdframe writes and reads Zstandard frames (RFC 8878) of content that is runs of equal
// bytes, as masks are. The content is never materialised: a long run is one literal and one match
// at offset 1, so time and size grow with the number of runs, not with the length of the content.
// Any Zstandard decoder reads the frames. A Reader finds the zero bits of such a frame; frames that
// a Writer would not write it leaves to other decoders.
//
//	frame       magic 28 b5 2f fd | descriptor a0 | content size u32 | block | block | …
//	block       header, 3 bytes | body
//	              bit 0       it is the last block
//	              bits 1, 2   kind: 0 raw, 1 RLE, 2 compressed
//	              bits 3-23   size: bytes of the body; of an RLE block, of its content
//	body        raw         the content, where it is not longer than compressed
//	            RLE         the byte that the content repeats
//	            compressed  literals | sequences; 128 KiB of content at most
//	literals    kind and sizes, 2 or 3 bytes | [tree, in the first coded literals] | literals
//	              kind 0      as they are
//	              kind 2, 3   Huffman codes in one stream, which bounds them to 1,023; 2 with tree
//	sequences   count, 1 or 2 bytes | modes | [tables, in the frame's first sequences] | bit stream
//	              a sequence: copy n literals, then repeat the last byte m times; FSE codes n and
//	              m. All offsets have one code, which says 1 byte before and takes no bits. A
//	              decoder reads the stream from its end.
//
// Numbers are little-endian. The descriptor says: one segment, content size in 4 bytes, no
// checksum.
//
// The tree and the tables are fixed, so that a frame's bytes depend only on its content; gathering
// statistics for each frame would take longer than coding it.
//
// BenchmarkFrame of package encode is why this package exists. The masks of one sample of yeast's
// size, 2.45 million positions as bits, 1,850 of them 0 (2 cores of an AMD EPYC, which others
// used):
//
//	zstdframe                          0.024 ms    2,061 bytes
//	klauspost/compress, fastest        0.31 ms     3,203 bytes
//	klauspost/compress, default        0.30 ms     3,205 bytes
//	klauspost/compress, best           1.34 ms     2,997 bytes
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
var literalLengthTable = newFSETable(9,
	proportions(512, 36, map[int]int{1: 3, 2: 466, 3: 4, 4: 3, 5: 3, 6: 3}))

// matchLengthTable: kept stretches between removed edges, 300 bytes long in the median.
var matchLengthTable = newFSETable(9, proportions(512, 53, func() map[int]int {
	counts := map[int]int{32: 4, 33: 4, 34: 4, 35: 4, 36: 8, 37: 8, 38: 15, 39: 15, 40: 28, 41: 25,
		42: 45, 43: 110, 44: 91, 45: 54, 46: 22, 47: 6}
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
	description []byte
	decoded     *huffmanTable
	codes       huffmanCodes
}

// NewTree makes the tree for literals that stand in the given proportions, each at least 1.
func NewTree(proportion func(value byte) int) *Tree {
	var sample []byte
	for value := range 256 {
		sample = append(sample, bytes.Repeat([]byte{byte(value)}, proportion(byte(value)))...)
	}
	compressed := &huff0.Scratch{}
	if _, _, err := huff0.Compress1X(sample, compressed); err != nil {
		panic(err) // the proportions are constants
	}
	table := newHuffmanTable(compressed.OutTable)
	return &Tree{slices.Clone(compressed.OutTable), table, table.codes()}
}
