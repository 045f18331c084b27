//go:build cuda

package kernels

import "tcbuild/gpuverify/cuda"

// Batch is samples as PyG's follow_batch has them: sample s deletes the genes
// PerturbationIndices[Ptr[s]:Ptr[s+1]]. Both are int64; every index is that of a gene.
type Batch struct {
	Samples             int // at most 65,535
	PerturbationIndices cuda.Memory
	Ptr                 cuda.Memory // Samples+1
}

// Masks is room for the masks of samples.
type Masks struct {
	cuda.Memory
	Stride int // bytes per sample, a multiple of 16
}

// keepAll sets all positions of the first samples to 1.
func (m Masks) keepAll(s *cuda.Stream, samples int) { s.Fill(m.Memory, 1, samples*m.Stride) }

// blocks is how many blocks have a thread for each of count things.
func blocks(count int) int { return (count + cuda.Threads - 1) / cuda.Threads }

// rowBlocks is how many blocks share the work of one sample in kernels whose blocks are a sample's:
// enough for the smallest batch that keeps a card busy, few enough to cost nothing in a large one.
const rowBlocks = 4
