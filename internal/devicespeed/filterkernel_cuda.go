//go:build cuda

package devicespeed

import (
	_ "embed"
	"errors"

	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
)

//go:embed filter.ptx
var filterPTX string

// filterKernels measures whether a model should mask edges or filter them: messages pass along one
// sample's edges, all of them, times their mask, or those that the sample keeps.
type filterKernels struct {
	Src, Dst cuda.Memory // ends of the edges, uint32
	Edges    int
	All      cuda.Memory // their number, uint64

	// Memory that compacting writes: how many edges each chunk and each group of chunks keeps
	// (uint32); the ends of the kept edges (uint32); and their count (uint64).
	Counts, Sums, KeptSrc, KeptDst, Total cuda.Memory

	messages, count, compact cuda.Function
}

// NodeFeatures is how many features, float32, each node has.
const NodeFeatures = 4 * nodeVectors

// As in filter.cu.
const (
	nodeVectors = 16
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
		{&k.KeptSrc, 4 * k.Edges}, {&k.KeptDst, 4 * k.Edges}, {&k.Total, 8},
	} {
		if *room.memory, err = c.Allocate(room.bytes); err != nil {
			return err
		}
	}
	k.All, err = cuda.Upload(c, []uint64{uint64(k.Edges)})
	return errors.Join(err, c.Synchronize())
}

// Load loads the kernels.
func (k *filterKernels) Load(c *cuda.Context) error {
	functions, err := c.Functions(filterPTX, "pass_messages", "count_kept", "compact_edges")
	if err != nil {
		return err
	}
	k.messages, k.count, k.compact = functions[0], functions[1], functions[2]
	return nil
}

// Mask passes messages along all edges, times their mask. The features are those of the nodes.
func (k *filterKernels) Mask(s *cuda.Stream, removed, features, out cuda.Memory) {
	s.Launch(k.messages, cuda.Grid{X: kernels.Blocks(k.Edges * nodeVectors), Y: 1},
		features.Address(), k.Src.Address(), k.Dst.Address(), k.All.Address(), removed.Address(), out.Address())
}

// Compact lists the edges that are kept. The host does not wait, and does not learn their number.
func (k *filterKernels) Compact(s *cuda.Stream, removed cuda.Memory) {
	chunks := cuda.Grid{X: kernels.Blocks((k.Edges + chunkEdges - 1) / chunkEdges), Y: 1}
	s.Fill(k.Sums, 0, k.Sums.Size())
	s.Launch(k.count, chunks, removed.Address(), uint64(k.Edges), k.Counts.Address(), k.Sums.Address())
	s.Launch(k.compact, chunks, removed.Address(), k.Src.Address(), k.Dst.Address(), uint64(k.Edges), k.Counts.Address(), k.Sums.Address(),
		k.KeptSrc.Address(), k.KeptDst.Address(), k.Total.Address())
}

// Filtered passes messages along the edges that Compact listed.
func (k *filterKernels) Filtered(s *cuda.Stream, features, out cuda.Memory) {
	s.Launch(k.messages, cuda.Grid{X: kernels.Blocks(k.Edges * nodeVectors), Y: 1},
		features.Address(), k.KeptSrc.Address(), k.KeptDst.Address(), k.Total.Address(), 0, out.Address())
}
