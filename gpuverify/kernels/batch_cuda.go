//go:build cuda

package kernels

import "tcbuild/gpuverify/cuda"

// Batch is samples in the layout of PyG's follow_batch: sample s deletes the genes
// PerturbationIndices[Ptr[s]:Ptr[s+1]]. Both are int64; every index must be that of a gene.
type Batch struct {
	Samples             int // at most 65,535
	PerturbationIndices cuda.Memory
	Ptr                 cuda.Memory // Samples+1
}

// Masks is device memory for the masks of samples.
type Masks struct {
	cuda.Memory
	Stride int // bytes per sample, a multiple of 16
}

// keepAll sets all positions of the first samples to 1.
func (m Masks) keepAll(s *cuda.Stream, samples int) { s.Fill(m.Memory, 1, samples*m.Stride) }

// Load loads kernels.
func Load(c *cuda.Context, kernels ...interface{ Load(*cuda.Context) error }) error {
	for _, k := range kernels {
		if err := k.Load(c); err != nil {
			return err
		}
	}
	return nil
}

// Blocks is the number of blocks that give each of count items a thread.
func Blocks(count int) int { return (count + cuda.Threads - 1) / cuda.Threads }

// rowBlocks is how many blocks share one sample in kernels with whole blocks per sample: enough to
// keep a device busy with a small batch, few enough to cost nothing in a large one.
const rowBlocks = 4
