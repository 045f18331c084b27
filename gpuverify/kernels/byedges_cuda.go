//go:build cuda

package kernels

import (
	_ "embed"

	"tcbuild/gpuverify/cuda"
)

//go:embed byedges.ptx
var byEdgesPTX string

// ByEdges regenerates masks by looking up, for every position of the mask space, whether one of its
// two nodes is removed: the ends of an edge, or those that count. It uses no incidence.
type ByEdges struct {
	Src, Dst cuda.Memory // node of each position, uint32, as many as a sample's stride has
	Nodes    int

	lookUp cuda.Function
}

// Load loads the kernel.
func (k *ByEdges) Load(c *cuda.Context) error {
	functions, err := c.Functions(byEdgesPTX, "look_up_edges")
	if err != nil {
		return err
	}
	k.lookUp = functions[0]
	return nil
}

// Run writes the masks of samples, given their words.
func (k *ByEdges) Run(s *cuda.Stream, samples int, words cuda.Memory, masks Masks) {
	s.Launch(k.lookUp, cuda.Grid{X: Blocks(masks.Stride / 16), Y: Groups(samples), Z: 1},
		k.Src.Address(), k.Dst.Address(), words.Address(), uint64(k.Nodes), uint64(samples), masks.Address(), uint64(masks.Stride))
}
