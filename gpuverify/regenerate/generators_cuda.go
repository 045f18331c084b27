//go:build cuda

package regenerate

import (
	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
)

// Generators are the kernels that make and compare masks, with their tables on a device.
type Generators struct {
	NodeWords kernels.Words
	Scatter   kernels.Scatter
	Compare   kernels.Compare
}

// Load loads the kernels.
func (g *Generators) Load(c *cuda.Context) error {
	return kernels.Load(c, &g.NodeWords, &g.Scatter, &g.Compare)
}

// Upload uploads the tables, and waits until they have arrived.
func (g *Generators) Upload(c *cuda.Context, t *Tables) error {
	u := &uploader{context: c}
	words, scatter, compare := &g.NodeWords, &g.Scatter, &g.Compare
	words.Nodes, words.FirstReaction, words.Reactions = t.Nodes(), t.Genes, t.reactions
	words.Src, words.Dst, words.Edges = put(u, t.gprSrc), put(u, t.gprDst), len(t.gprSrc)
	words.First, words.Operands, words.Parents = put(u, t.terms.first), put(u, t.terms.operands), put(u, t.terms.parents)
	words.Terms = len(t.terms.operands)
	scatter.GeneRows = kernels.Rows{Offsets: put(u, t.geneRows.Offsets), Positions: put(u, t.geneRows.Positions)}
	scatter.ReactionRows = kernels.Rows{Offsets: put(u, t.reactionRows.Offsets), Positions: put(u, t.reactionRows.Positions)}
	scatter.Reactions, scatter.Start, scatter.ByRules, scatter.Nodes, scatter.FirstReaction = t.reactions, t.reactionStart, t.ByRules, t.Nodes(), t.Genes
	compare.Src, compare.Dst, compare.Nodes = put(u, t.Src), put(u, t.Dst), t.Nodes()
	compare.Starts, compare.Masks = put(u, t.Starts), len(t.Starts)-1
	if u.err != nil {
		return u.err
	}
	return c.Synchronize()
}

// uploader copies tables to a device until a copy fails.
type uploader struct {
	context *cuda.Context
	err     error
}

func put[T any](u *uploader, values []T) (memory cuda.Memory) {
	if u.err == nil {
		memory, u.err = cuda.Upload(u.context, values)
	}
	return memory
}
