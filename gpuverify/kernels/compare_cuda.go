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

// Result is what Run finds out about a pair of a sample and a mask.
type Result struct {
	Differences int64 // positions that differ
	Removed     int64 // expected removals
	// Of the first difference: its position in the mask space, and both masks there. Found is -1 if
	// nothing could be decoded.
	Position, Expected, Found int
}

// ResultOf reads the result of one pair of so many from a copy of the results on the host.
func ResultOf(host []byte, pair, pairs int) Result {
	packed, counts := cuda.View[uint64](host)[pair], cuda.View[uint32](host)[2*pairs:]
	r := Result{
		Differences: int64(counts[pair]), Removed: int64(counts[pairs+pair]),
		Position: int(packed >> 32), Expected: int(packed >> 16 & 0xFFFF), Found: int(packed & 0xFFFF),
	}
	if r.Found == 0xFFFF {
		r.Found = -1
	}
	return r
}

// Run compares the expected and found masks of samples. known (int64) is how many positions of each
// sample found has; the zero Memory means all. The results are three arrays with an entry for each
// pair of sample and mask, masks fastest: the first difference (uint64, packed as compare.cu says,
// all bits set if there is none), the number of differences and the number of expected removals
// (uint32 each). ResultOf reads them.
func (k *Compare) Run(s *cuda.Stream, samples int, expected, found Masks, known, results cuda.Memory) {
	pairs := samples * k.Masks
	differences, removed := results.From(8*pairs), results.From(12*pairs)
	s.Fill(results, 0xFF, 8*pairs)
	s.Fill(differences, 0, 8*pairs)
	s.Launch(k.compare, cuda.Grid{X: samples, Y: k.Masks, Z: rowBlocks}, expected.Address(), found.Address(), known.Address(),
		uint64(expected.Stride), k.Starts.Address(), results.Address(), differences.Address(), removed.Address())
}
