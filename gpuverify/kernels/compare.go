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

// ResultSize is the bytes of results of that many pairs of a sample and a mask.
func ResultSize(pairs int) int { return 16 * pairs }

// Run compares the masks expected and found of samples. known, int64, is how many positions found
// has of each sample; the zero Memory if all. The results have for each pair of sample and mask,
// masks fastest: the first difference, uint64, as position << 32 | expected << 16 | found (0xFFFF
// for nothing), all bits set where there is none; behind these the numbers of differences, uint32,
// and behind those of removals expected, uint32.
func (k *Compare) Run(s *cuda.Stream, samples int, expected, found Masks, known, results cuda.Memory) {
	pairs := samples * k.Masks
	differences, removed := results.From(8*pairs), results.From(12*pairs)
	s.Fill(results, 0xFF, 8*pairs)
	s.Fill(differences, 0, 8*pairs)
	s.Launch(k.compare, cuda.Grid{X: samples, Y: k.Masks, Z: rowBlocks}, expected.Address(), found.Address(), known.Address(),
		uint64(expected.Stride), k.Starts.Address(), results.Address(), differences.Address(), removed.Address())
}
