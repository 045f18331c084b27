//go:build cuda

package gpuverify

import (
	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
)

// generators are the kernels that make masks, with their tables on a device.
type generators struct {
	nodeWords   kernels.Words
	byIncidence kernels.ByIncidence
	byEdges     kernels.ByEdges
}

type kernel interface{ Load(*cuda.Context) error }

// load loads the kernels, and waits until the tables have arrived.
func (g *generators) load(c *cuda.Context, t *tables) error {
	for _, k := range []kernel{&g.nodeWords, &g.byIncidence, &g.byEdges} {
		if err := k.Load(c); err != nil {
			return err
		}
	}
	u := &uploader{context: c}
	words, scatter, lookUp := &g.nodeWords, &g.byIncidence, &g.byEdges
	words.Nodes, words.FirstReaction, words.Reactions = t.nodes(), t.genes, t.reactions
	words.Src, words.Dst, words.Edges = put(u, t.gprSrc), put(u, t.gprDst), len(t.gprSrc)
	words.First, words.Operands, words.Parents = put(u, t.terms.first), put(u, t.terms.operands), put(u, t.terms.parents)
	words.Terms = len(t.terms.operands)
	scatter.GeneRows = kernels.Rows{Offsets: put(u, t.geneRows.offsets), Positions: put(u, t.geneRows.positions)}
	scatter.ReactionRows = kernels.Rows{Offsets: put(u, t.reactionRows.offsets), Positions: put(u, t.reactionRows.positions)}
	scatter.Reactions, scatter.Start, scatter.ByRules, scatter.Nodes, scatter.FirstReaction = t.reactions, t.reactionStart, t.byRules, t.nodes(), t.genes
	lookUp.Src, lookUp.Dst, lookUp.Nodes = put(u, t.src), put(u, t.dst), t.nodes()
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
