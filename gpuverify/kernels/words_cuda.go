//go:build cuda

package kernels

import "tcbuild/gpuverify/cuda"

// Words finds which samples of a batch remove each node: bit s%32 of word s/32*Nodes + n is set if
// sample s removes node n. values is scratch memory for a word per term and group.
func (k *Kernels) Words(s *cuda.Stream, b Batch, words, values cuda.Memory) {
	groups, nodes := Groups(b.Samples), uint64(k.Nodes())
	s.Fill(words, 0, 4*groups*k.Nodes())
	s.Launch(k.markGenes, cuda.Grid{X: Blocks(b.Samples), Y: 1}, b.PerturbationIndices.Address(),
		b.Ptr.Address(), uint64(b.Samples), words.Address(), nodes)
	edges := k.GPRSrc.Size() / 4
	s.Launch(k.markReactions, cuda.Grid{X: Blocks(edges), Y: groups}, k.GPRSrc.Address(),
		k.GPRDst.Address(), uint64(edges), words.Address(), nodes)
	if terms := k.Parents.Size() / 4; terms > 0 {
		s.Launch(k.markByRules, cuda.Grid{X: Blocks(k.Reactions), Y: groups}, k.FirstTerm.Address(),
			k.Operands.Address(), k.Parents.Address(), uint64(terms), values.Address(),
			uint64(k.Reactions), uint64(k.Genes), words.Address(), nodes)
	}
}
