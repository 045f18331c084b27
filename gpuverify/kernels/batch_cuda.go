//go:build cuda

package kernels

import "tcbuild/gpuverify/cuda"

// Batch is samples in the layout of PyG's follow_batch: sample s deletes the genes
// PerturbationIndices[Ptr[s]:Ptr[s+1]]. Both are int64; every index must be a gene's.
type Batch struct {
	Samples             int // at most 65,535
	Deleted             int // genes, of all samples
	PerturbationIndices cuda.Memory
	Ptr                 cuda.Memory // Samples+1
}

// Bits is device memory for the masks of samples: bit s%32 of word s/32*Stride + p, uint32, is set
// if sample s removes position p.
type Bits struct {
	cuda.Memory
	Stride int // positions, a multiple of 4
}

// BitBytes is the size of the masks of samples, of so many positions each.
func BitBytes(samples, stride int) int { return 4 * Groups(samples) * stride }

// Groups is the number of groups of 32 samples.
func Groups(samples int) int { return (samples + 31) / 32 }

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
