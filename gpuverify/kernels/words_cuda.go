//go:build cuda

package kernels

import (
	_ "embed"

	"tcbuild/gpuverify/cuda"
)

//go:embed words.ptx
var wordsPTX string

// Words finds which samples remove each node: bit s%32 of word s/32*Nodes + n is set if sample s
// removes node n. Nodes are the genes, then the reactions, then one that no sample removes.
type Words struct {
	Nodes         int
	FirstReaction int // node
	Reactions     int

	// Under the reaction rule "all": the nodes at the ends of the gene-reaction edges, uint32.
	Src, Dst cuda.Memory
	Edges    int

	// Under the reaction rule "gpr": see mark_by_rules. Terms is 0 under the rule "all".
	First, Operands, Parents, Values cuda.Memory
	Terms                            int

	genes, reactions, rules cuda.Function
}

// Load loads the kernels.
func (k *Words) Load(c *cuda.Context) error {
	functions, err := c.Functions(wordsPTX, "mark_genes", "mark_reactions", "mark_by_rules")
	if err != nil {
		return err
	}
	k.genes, k.reactions, k.rules = functions[0], functions[1], functions[2]
	return nil
}

// Run writes the words of a batch: 4 bytes for each node and group.
func (k *Words) Run(s *cuda.Stream, b Batch, words cuda.Memory) {
	groups, nodes := Groups(b.Samples), uint64(k.Nodes)
	s.Fill(words, 0, 4*groups*k.Nodes)
	s.Launch(k.genes, cuda.Grid{X: Blocks(b.Samples), Y: 1},
		b.PerturbationIndices.Address(), b.Ptr.Address(), uint64(b.Samples), words.Address(), nodes)
	s.Launch(k.reactions, cuda.Grid{X: Blocks(k.Edges), Y: groups},
		k.Src.Address(), k.Dst.Address(), uint64(k.Edges), words.Address(), nodes)
	if k.Terms > 0 {
		s.Launch(k.rules, cuda.Grid{X: Blocks(k.Reactions), Y: groups},
			k.First.Address(), k.Operands.Address(), k.Parents.Address(), uint64(k.Terms), k.Values.Address(), uint64(k.Reactions),
			uint64(k.FirstReaction), words.Address(), nodes)
	}
}
