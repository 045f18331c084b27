//go:build cuda

package kernels

import "tcbuild/gpuverify/cuda"

// Scatter sets the bits of a batch's masks, which must all be clear, along the rows of the deleted
// genes and of the removed reactions. Only under the reaction rule "gpr" the words of Words say
// which reactions are removed.
func (k *Kernels) Scatter(s *cuda.Stream, b Batch, words cuda.Memory, bits Bits) {
	stride := uint64(bits.Stride)
	s.Launch(k.scatterGenes, cuda.Grid{X: b.Deleted, Y: 1}, b.PerturbationIndices.Address(),
		b.Ptr.Address(), uint64(b.Samples), k.GeneRows.Offsets.Address(),
		k.GeneRows.Positions.Address(), bits.Address(), stride)
	removed, removedStride := bits.Address()+4*uint64(k.ReactionStart), stride
	if k.ByRules {
		removed, removedStride = words.Address()+4*uint64(k.Genes), uint64(k.Nodes())
	}
	s.Launch(k.scatterReactions, cuda.Grid{X: Blocks(k.Reactions), Y: Groups(b.Samples)}, removed,
		removedStride, uint64(k.Reactions), k.ReactionRows.Offsets.Address(),
		k.ReactionRows.Positions.Address(), bits.Address(), stride)
}

// Toggle toggles the bits of samples' stored removals: removed[ends[s]:ends[s+1]] of sample s,
// positions of the mask space as uint32; ends are int64.
func (k *Kernels) Toggle(s *cuda.Stream, samples int, removed, ends cuda.Memory, bits Bits) {
	s.Launch(k.toggleStored, cuda.Grid{X: samples, Y: 1}, removed.Address(), ends.Address(),
		bits.Address(), uint64(bits.Stride))
}
