//go:build cuda

package kernels

import (
	_ "embed"

	"tcbuild/gpuverify/cuda"
)

//go:embed compare.ptx
var comparePTX string

// Compare compares the masks of samples.
type Compare struct {
	Starts cuda.Memory // of the masks in the mask space, and their end: uint32
	Masks  int         // how many; at most 65,535

	compare cuda.Function
}

// Load loads the kernel.
func (k *Compare) Load(c *cuda.Context) error {
	functions, err := c.Functions(comparePTX, "compare_masks")
	if err != nil {
		return err
	}
	k.compare = functions[0]
	return nil
}

// ResultSize is the size in bytes of the results of so many pairs of a sample and a mask.
func ResultSize(pairs int) int { return 16 * pairs }

// Run compares the expected and found masks of samples. known (int64) is how many positions of each
// sample found has; the zero Memory means all. The results have three arrays, each with one entry
// for each pair of sample and mask, masks fastest: the first difference (uint64), as position << 32
// | expected << 16 | found (0xFFFF for nothing), all bits set if there is none; the number of
// differences (uint32); the number of expected removals (uint32).
func (k *Compare) Run(s *cuda.Stream, samples int, expected, found Masks, known, results cuda.Memory) {
	pairs := samples * k.Masks
	differences, removed := results.From(8*pairs), results.From(12*pairs)
	s.Fill(results, 0xFF, 8*pairs)
	s.Fill(differences, 0, 8*pairs)
	s.Launch(k.compare, cuda.Grid{X: samples, Y: k.Masks, Z: rowBlocks}, expected.Address(), found.Address(), known.Address(),
		uint64(expected.Stride), k.Starts.Address(), results.Address(), differences.Address(), removed.Address())
}
