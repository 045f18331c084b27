//go:build cuda

package kernels

import (
	_ "embed"

	"tcbuild/gpuverify/cuda"
)

//go:embed expand.ptx
var expandPTX string

// Expand makes masks from removed positions.
type Expand struct{ removed cuda.Function }

// Load loads the kernel.
func (k *Expand) Load(c *cuda.Context) error {
	functions, err := c.Functions(expandPTX, "expand_removed")
	if err != nil {
		return err
	}
	k.removed = functions[0]
	return nil
}

// Run writes the masks of samples: sample s removes removed[ends[s]:ends[s+1]], positions of the
// mask space as uint32; ends are int64.
func (k *Expand) Run(s *cuda.Stream, samples int, removed, ends cuda.Memory, masks Masks) {
	masks.keepAll(s, samples)
	s.Launch(k.removed, cuda.Grid{X: samples, Y: 1, Z: 1}, removed.Address(), ends.Address(), masks.Address(), uint64(masks.Stride))
}
