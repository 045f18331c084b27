//go:build cuda

package devicespeed

import (
	_ "embed"

	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
)

//go:embed filter.ptx
var filterPTX string

// filterKernels measures whether a model should mask edges or filter them: it applies the mask of
// one sample's edges, in both ways, to a matrix with a row of EdgeFeatures for each edge.
type filterKernels struct {
	Src, Dst cuda.Memory // ends of the edges, uint32
	Edges    int

	// Memory that compacting writes: how many edges each chunk and each group of chunks keeps
	// (uint32); the numbers and the ends of the kept edges (uint32); and their count (uint64).
	Counts, Sums, Kept, KeptSrc, KeptDst, Total cuda.Memory

	multiply, count, compact, gather cuda.Function
}

// EdgeFeatures is how many features, float32, each edge has.
const EdgeFeatures = 4 * rowVectors

// As in filter.cu.
const (
	rowVectors  = 16
	chunkEdges  = 64
	groupChunks = 256
)

// Allocate allocates the memory that the edges need.
func (k *filterKernels) Allocate(c *cuda.Context) (err error) {
	chunks := (k.Edges + chunkEdges - 1) / chunkEdges
	for _, room := range []struct {
		memory *cuda.Memory
		bytes  int
	}{
		{&k.Counts, 4 * chunks}, {&k.Sums, 4 * ((chunks + groupChunks - 1) / groupChunks)},
		{&k.Kept, 4 * k.Edges}, {&k.KeptSrc, 4 * k.Edges}, {&k.KeptDst, 4 * k.Edges}, {&k.Total, 8},
	} {
		if *room.memory, err = c.Allocate(room.bytes); err != nil {
			return err
		}
	}
	return nil
}

// MatrixSize is the size of a feature matrix in bytes.
func (k *filterKernels) MatrixSize() int { return 4 * EdgeFeatures * k.Edges }

// Load loads the kernels.
func (k *filterKernels) Load(c *cuda.Context) error {
	functions, err := c.Functions(filterPTX, "multiply_rows", "count_kept", "compact_edges", "gather_rows")
	if err != nil {
		return err
	}
	k.multiply, k.count, k.compact, k.gather = functions[0], functions[1], functions[2], functions[3]
	return nil
}

// RunMask multiplies the features by the mask.
func (k *filterKernels) RunMask(s *cuda.Stream, mask, features, out cuda.Memory) {
	s.Launch(k.multiply, cuda.Grid{X: kernels.Blocks(k.Edges * rowVectors), Y: 1, Z: 1},
		features.Address(), mask.Address(), uint64(k.Edges), out.Address())
}

// RunFilter compacts the list of edges to those that the mask keeps, and gathers their features.
// The host does not wait, and does not learn their number.
func (k *filterKernels) RunFilter(s *cuda.Stream, mask, features, out cuda.Memory) {
	chunks := cuda.Grid{X: kernels.Blocks((k.Edges + chunkEdges - 1) / chunkEdges), Y: 1, Z: 1}
	s.Fill(k.Sums, 0, k.Sums.Size())
	s.Launch(k.count, chunks, mask.Address(), uint64(k.Edges), k.Counts.Address(), k.Sums.Address())
	s.Launch(k.compact, chunks, mask.Address(), k.Src.Address(), k.Dst.Address(), uint64(k.Edges), k.Counts.Address(), k.Sums.Address(),
		k.Kept.Address(), k.KeptSrc.Address(), k.KeptDst.Address(), k.Total.Address())
	s.Launch(k.gather, cuda.Grid{X: kernels.Blocks(k.Edges * rowVectors), Y: 1, Z: 1},
		features.Address(), k.Kept.Address(), k.Total.Address(), out.Address())
}
