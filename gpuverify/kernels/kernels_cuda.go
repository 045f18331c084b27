//go:build cuda

package kernels

import (
	_ "embed"

	"tcbuild/gpuverify/cuda"
)

//go:embed words.ptx
var wordsPTX string

//go:embed scatter.ptx
var scatterPTX string

//go:embed compare.ptx
var comparePTX string

// Kernels are the loaded kernels, and the graph that they work on.
type Kernels struct {
	Graph

	markGenes, markReactions, markByRules        cuda.Function
	scatterGenes, scatterReactions, toggleStored cuda.Function
	compareBits                                  cuda.Function
}

// Load loads the kernels.
func (k *Kernels) Load(c *cuda.Context) error {
	for _, module := range []struct {
		ptx       string
		names     []string
		functions []*cuda.Function
	}{
		{wordsPTX, []string{"mark_genes", "mark_reactions", "mark_by_rules"},
			[]*cuda.Function{&k.markGenes, &k.markReactions, &k.markByRules}},
		{scatterPTX, []string{"scatter_genes", "scatter_reactions", "toggle_stored"},
			[]*cuda.Function{&k.scatterGenes, &k.scatterReactions, &k.toggleStored}},
		{comparePTX, []string{"compare_bits"}, []*cuda.Function{&k.compareBits}},
	} {
		loaded, err := c.Functions(module.ptx, module.names...)
		if err != nil {
			return err
		}
		for i, function := range loaded {
			*module.functions[i] = function
		}
	}
	return nil
}

// Graph is the part of a graph and its incidence that the kernels need, with tables on a device, of
// uint32 unless they say otherwise. Positions are of the mask space. Nodes are the genes, then the
// reactions, then one that no sample removes.
type Graph struct {
	Genes, Reactions int
	ReactionStart    int  // position of the first reaction
	ByRules          bool // reaction rule "gpr"

	// what each deleted gene removes, apart from the edges of reactions; what each removed reaction
	// removes
	GeneRows, ReactionRows Rows
	Src, Dst               cuda.Memory // the nodes of each position, as many as a stride has
	Starts                 cuda.Memory // of the masks, and their end
	Masks                  int         // at most 65,535

	// Under the reaction rule "all": the nodes at the ends of the gene-reaction edges.
	GPRSrc, GPRDst cuda.Memory

	// Under the reaction rule "gpr": see mark_by_rules. Operands are int64.
	FirstTerm, Operands, Parents cuda.Memory
}

// Rows are lists of positions in compressed sparse row format: rows+1 offsets and all positions.
type Rows struct{ Offsets, Positions cuda.Memory }

// Nodes is the number of nodes.
func (g *Graph) Nodes() int { return g.Genes + g.Reactions + 1 }

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

// Blocks is the number of blocks that give each of count items a thread.
func Blocks(count int) int { return (count + cuda.Threads - 1) / cuda.Threads }
