//go:build cuda

package kernels

import (
	_ "embed"

	"tcbuild/gpuverify/cuda"
)

//go:embed byincidence.ptx
var byIncidencePTX string

// Rows are lists of positions of the mask space in compressed sparse row format: rows+1 offsets and
// all positions, both uint32.
type Rows struct{ Offsets, Positions cuda.Memory }

// ByIncidence regenerates masks by scattering zeros at the rows of the deleted genes and of the
// removed reactions.
type ByIncidence struct {
	GeneRows     Rows // what each deleted gene removes, apart from the edges of reactions
	ReactionRows Rows // what each removed reaction removes
	Reactions    int  // how many
	Start        int  // position of the first reaction

	ByRules       bool // reaction rule "gpr": the words say which reactions are removed
	Nodes         int  // of the words
	FirstReaction int  // node of the words

	genes, rules, reactions cuda.Function
}

// Load loads the kernels.
func (k *ByIncidence) Load(c *cuda.Context) error {
	functions, err := c.Functions(byIncidencePTX, "scatter_genes", "scatter_rules", "scatter_reactions")
	if err != nil {
		return err
	}
	k.genes, k.rules, k.reactions = functions[0], functions[1], functions[2]
	return nil
}

// Run writes the masks of a batch. It reads the batch's words only under the reaction rule "gpr".
func (k *ByIncidence) Run(s *cuda.Stream, b Batch, words cuda.Memory, masks Masks) {
	stride, perReaction := uint64(masks.Stride), cuda.Grid{X: Blocks(k.Reactions), Y: b.Samples, Z: 1}
	masks.keepAll(s, b.Samples)
	s.Launch(k.genes, cuda.Grid{X: b.Samples, Y: rowBlocks, Z: 1}, b.PerturbationIndices.Address(), b.Ptr.Address(),
		k.GeneRows.Offsets.Address(), k.GeneRows.Positions.Address(), masks.Address(), stride)
	if k.ByRules {
		s.Launch(k.rules, perReaction, words.Address(), uint64(k.Nodes), uint64(k.FirstReaction), uint64(k.Start),
			uint64(k.Reactions), masks.Address(), stride)
	}
	s.Launch(k.reactions, perReaction, k.ReactionRows.Offsets.Address(), k.ReactionRows.Positions.Address(), uint64(k.Start),
		uint64(k.Reactions), masks.Address(), stride)
}
