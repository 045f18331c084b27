//go:build cuda

package kernels

import (
	_ "embed"

	"tcbuild/gpuverify/cuda"
)

//go:embed scatter.ptx
var scatterPTX string

// Rows are lists of positions of the mask space in compressed sparse row format: rows+1 offsets and
// all positions, both uint32.
type Rows struct{ Offsets, Positions cuda.Memory }

// Scatter makes masks of positions: regenerated ones of the rows of the deleted genes and of the
// removed reactions, and stored ones.
type Scatter struct {
	GeneRows     Rows // what each deleted gene removes, apart from the edges of reactions
	ReactionRows Rows // what each removed reaction removes
	Reactions    int  // how many
	Start        int  // position of the first reaction

	ByRules       bool // reaction rule "gpr": the words say which reactions are removed
	Nodes         int  // of the words
	FirstReaction int  // node of the words

	genes, reactions, stored cuda.Function
}

// Load loads the kernels.
func (k *Scatter) Load(c *cuda.Context) error {
	functions, err := c.Functions(scatterPTX, "scatter_genes", "scatter_reactions", "toggle_stored")
	if err != nil {
		return err
	}
	k.genes, k.reactions, k.stored = functions[0], functions[1], functions[2]
	return nil
}

// Regenerate sets the bits of a batch's masks, which must all be clear. It reads the batch's words
// only under the reaction rule "gpr".
func (k *Scatter) Regenerate(s *cuda.Stream, b Batch, words cuda.Memory, bits Bits) {
	stride := uint64(bits.Stride)
	s.Launch(k.genes, cuda.Grid{X: b.Deleted, Y: 1}, b.PerturbationIndices.Address(), b.Ptr.Address(), uint64(b.Samples),
		k.GeneRows.Offsets.Address(), k.GeneRows.Positions.Address(), bits.Address(), stride)
	removed, removedStride := bits.Address()+4*uint64(k.Start), stride
	if k.ByRules {
		removed, removedStride = words.Address()+4*uint64(k.FirstReaction), uint64(k.Nodes)
	}
	s.Launch(k.reactions, cuda.Grid{X: Blocks(k.Reactions), Y: Groups(b.Samples)}, removed, removedStride, uint64(k.Reactions),
		k.ReactionRows.Offsets.Address(), k.ReactionRows.Positions.Address(), bits.Address(), stride)
}

// Toggle toggles the bits of samples' stored removals: removed[ends[s]:ends[s+1]] of sample s,
// positions of the mask space as uint32; ends are int64.
func (k *Scatter) Toggle(s *cuda.Stream, samples int, removed, ends cuda.Memory, bits Bits) {
	s.Launch(k.stored, cuda.Grid{X: samples, Y: 1}, removed.Address(), ends.Address(), bits.Address(), uint64(bits.Stride))
}
