//go:build cuda

package kernels

import "tcbuild/gpuverify/cuda"

// Results is what comparing finds, on the device: the removals looked up in each mask (uint64) and
// then which samples differ, bit s%32 of word s/32 (uint32).
type Results struct {
	cuda.Memory
	Masks int
}

// ResultBytes is the size of the results for samples.
func ResultBytes(masks, samples int) int { return 8*masks + 4*Groups(samples) }

// Clear makes all results zero.
func (r Results) Clear(s *cuda.Stream) { s.Fill(r.Memory, 0, r.Size()) }

// Read reads a copy of the results on the host.
func (r Results) Read(host []byte) (removed []uint64, differs []uint32) {
	return cuda.View[uint64](host[:8*r.Masks]), cuda.View[uint32](host[8*r.Masks:])
}

// mostBlocks is how many blocks share the positions of a mask, at most: the threads of the yeast
// graph's largest masks have one to four vectors each.
const mostBlocks = 256

// Compare compares the bits of samples with what the edges give: it looks up, for every position of
// the mask space, whether one of its two nodes is removed, by the words of Words or, without words,
// none. It uses no incidence. It adds the samples that differ to the results; with count, the
// removals, too. With clear, no bit is left set.
func (k *Kernels) Compare(s *cuda.Stream, samples int, words cuda.Memory, bits Bits,
	clear, count bool, results Results) {
	var clearing, removed uint64
	if clear {
		clearing = 1
	}
	if count {
		removed = results.Address()
	}
	grid := cuda.Grid{X: min(mostBlocks, Blocks(bits.Stride/4)), Y: k.Masks}
	s.Launch(k.compareBits, grid, k.Src.Address(), k.Dst.Address(), words.Address(),
		uint64(k.Nodes()), bits.Address(), uint64(bits.Stride), uint64(Groups(samples)), clearing,
		k.Starts.Address(), removed, results.From(8*k.Masks).Address())
}
