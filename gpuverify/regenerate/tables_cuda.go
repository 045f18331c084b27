//go:build cuda

package regenerate

import (
	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
	"tcbuild/ingest"
)

// Tables are the parts of a graph and its incidence that the kernels need, as flat arrays.
// Positions count in the mask space. Nodes are the genes, then the reactions, then one that is
// never removed.
type Tables struct {
	Stride        int      // positions on the device: Size and some that nothing removes
	Starts        []uint32 // of the masks, and the end of the last
	Genes         int
	reactions     int
	reactionStart int  // position of the first reaction
	ByRules       bool // reaction rule "gpr"

	// what each gene removes: itself, its edges and, under the rule "all", its reactions
	geneRows     Lists
	reactionRows Lists // what each reaction removes: itself and its edges
	// two nodes for each position; either removes it. Padded to the stride
	Src, Dst []uint32

	// under the rule "all": the nodes at the ends of the gene-reaction edges
	gprSrc, gprDst []uint32

	// Under the rule "gpr", the terms of all rules: reaction r's start at terms.first[r],
	// each before its parent. operands has a gene's node, andTerm or orTerm.
	terms struct {
		first, parents []uint32
		operands       []int64
	}
}

const (
	andTerm = -1
	orTerm  = -2
)

// strideUnit: positions on the device are padded to a multiple of it. A kernel's widest access
// takes 4 words of 4 bytes, a whole memory transaction 32.
const strideUnit = 32

// NewTables lays out the tables; incidence is empty for the method by edges alone.
func NewTables(rules *Rules, incidence Lists) *Tables {
	graph := rules.Graph
	t := &Tables{
		Stride: (rules.Size + strideUnit - 1) / strideUnit * strideUnit,
		Genes:  graph.Genes.Len(), reactions: graph.Reactions.Len(),
		reactionStart: rules.Start[ingest.Reaction], ByRules: rules.rules != nil,
	}
	for _, mask := range rules.Masks {
		t.Starts = append(t.Starts, uint32(mask.Start))
	}
	t.Starts = append(t.Starts, uint32(rules.Size))
	if rules.gpr != nil && !t.ByRules {
		t.gprSrc = rules.gpr.Src
		for _, reaction := range rules.gpr.Dst {
			t.gprDst = append(t.gprDst, uint32(t.Genes)+reaction)
		}
	}
	t.addRows(rules, incidence)
	t.addEnds(rules)
	for _, rule := range rules.rules {
		t.addRule(rule)
	}
	t.terms.first = append(t.terms.first, uint32(len(t.terms.operands)))
	return t
}

// never is the last node, which no sample removes.
func (t *Tables) never() uint32 { return uint32(t.Nodes() - 1) }

// Size is the number of positions.
func (t *Tables) Size() int { return int(t.Starts[len(t.Starts)-1]) }

// Nodes is the number of nodes.
func (t *Tables) Nodes() int { return t.Genes + t.reactions + 1 }

// addRows takes the rows of genes and of reactions apart.
func (t *Tables) addRows(rules *Rules, incidence Lists) {
	t.geneRows.Offsets, t.reactionRows.Offsets = []uint32{0}, []uint32{0}
	if incidence.Offsets == nil {
		return // only the method by incidence needs rows
	}
	first := incidence.Offsets[t.Genes] // of the reactions' rows
	t.geneRows.Positions = make([]uint32, 0, int(first)+len(t.gprSrc))
	for gene, reactions := range rules.reactionsOfGenes() {
		if !t.ByRules {
			for _, reaction := range reactions {
				t.geneRows.Positions = append(t.geneRows.Positions,
					uint32(t.reactionStart)+reaction)
			}
		}
		t.geneRows.Positions = append(t.geneRows.Positions, incidence.Row(uint32(gene))...)
		t.geneRows.Offsets = append(t.geneRows.Offsets, uint32(len(t.geneRows.Positions)))
	}
	t.reactionRows.Positions = incidence.Positions[first:]
	for _, end := range incidence.Offsets[t.Genes+1:] {
		t.reactionRows.Offsets = append(t.reactionRows.Offsets, end-first)
	}
}

// addEnds lists the nodes of each position.
func (t *Tables) addEnds(rules *Rules) {
	t.Src, t.Dst = make([]uint32, t.Stride), make([]uint32, t.Stride)
	for position := range t.Src {
		t.Src[position], t.Dst[position] = t.never(), t.never()
	}
	for node := range rules.nodes() {
		t.Src[node] = uint32(node)
	}
	for _, edges := range rules.edges {
		start := rules.Start[edges.Type.String()]
		source, target := rules.ends(edges.Type)
		setEnds(t.Src[start:], edges.Src, source)
		setEnds(t.Dst[start:], edges.Dst, target)
	}
}

// setEnds sets the nodes at one end of an edge type's edges, whose first node is given.
func setEnds(nodes, ends []uint32, first int) {
	if first != none {
		for position, end := range ends {
			nodes[position] = uint32(first) + end
		}
	}
}

// addRule adds a reaction's rule: its terms in postfix order, operands first. A reaction without a
// rule gets a node that is never removed.
func (t *Tables) addRule(rule postfix) {
	t.terms.first = append(t.terms.first, uint32(len(t.terms.operands)))
	if len(rule) == 0 {
		rule = postfix{absent}
	}
	var values []int // terms whose operation is still to come
	for _, term := range rule {
		number := len(t.terms.operands)
		operand := int64(term)
		switch term {
		case absent:
			operand = int64(t.never())
		case or, and:
			operand = orTerm
			if term == and {
				operand = andTerm
			}
			for _, value := range values[len(values)-2:] {
				t.terms.parents[value] = uint32(number)
			}
			values = values[:len(values)-2]
		}
		values = append(values, number)
		t.terms.operands = append(t.terms.operands, operand)
		t.terms.parents = append(t.terms.parents, 0)
	}
}

// Terms is the number of terms of all rules.
func (t *Tables) Terms() int { return len(t.terms.operands) }

// Bytes is how much device memory the tables take.
func (t *Tables) Bytes() int {
	words := 0
	for _, table := range [][]uint32{
		t.Starts, t.geneRows.Offsets, t.geneRows.Positions, t.reactionRows.Offsets,
		t.reactionRows.Positions, t.Src, t.Dst, t.gprSrc, t.gprDst, t.terms.first, t.terms.parents,
	} {
		words += len(table)
	}
	return 4*words + 8*len(t.terms.operands)
}

// Upload uploads the tables, and waits until they have arrived.
func (t *Tables) Upload(c *cuda.Context) (kernels.Graph, error) {
	rows := func(l Lists) kernels.Rows {
		return kernels.Rows{Offsets: cuda.Upload(c, l.Offsets),
			Positions: cuda.Upload(c, l.Positions)}
	}
	graph := kernels.Graph{
		Genes: t.Genes, Reactions: t.reactions, ReactionStart: t.reactionStart, ByRules: t.ByRules,
		GeneRows: rows(t.geneRows), ReactionRows: rows(t.reactionRows),
		Src: cuda.Upload(c, t.Src), Dst: cuda.Upload(c, t.Dst),
		Starts: cuda.Upload(c, t.Starts), Masks: len(t.Starts) - 1,
		GPRSrc: cuda.Upload(c, t.gprSrc), GPRDst: cuda.Upload(c, t.gprDst),
		FirstTerm: cuda.Upload(c, t.terms.first), Operands: cuda.Upload(c, t.terms.operands),
		Parents: cuda.Upload(c, t.terms.parents),
	}
	if err := c.Err(); err != nil {
		return graph, err
	}
	return graph, c.Synchronize()
}
