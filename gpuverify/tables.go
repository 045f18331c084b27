package gpuverify

import (
	"math"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
	"tcbuild/internal/fault"
)

// tables are what the kernels need of a graph and its incidence, in flat arrays. Positions are those
// of the mask space. Nodes are the genes, then the reactions, then one that is never removed.
type tables struct {
	stride        int      // bytes of device memory per sample's masks
	starts        []uint32 // of the masks, and where the last ends
	edges         int      // positions of edges: the last ones
	genes         int
	reactions     int
	reactionStart int  // position of the first reaction
	byRules       bool // reaction rule "gpr"

	geneRows     incidence.CSR // what each gene removes: itself, its edges and, under the rule "all", its reactions
	reactionRows incidence.CSR // what each reaction removes: its edges
	src, dst     []uint32      // nodes of each position, either of which removes it; as many as the stride

	gprSrc, gprDst []uint32 // under the rule "all": the nodes at the ends of the gene-reaction edges

	// Under the rule "gpr" the terms of all rules: those of a reaction from terms.first[r] on, each before its
	// parent. operands has a gene's node, andTerm or orTerm.
	terms struct {
		first, parents []uint32
		operands       []int64
	}
}

const (
	andTerm = -1
	orTerm  = -2
)

// strideUnit is what a sample's masks on the device are rounded up to, in bytes: a kernel's widest access
// needs 16, whole memory transactions 128.
const strideUnit = 128

func newTables(rules *graphRules, cache *incidence.Cache) (*tables, error) {
	graph, layout := rules.graph, rules.layout
	t := &tables{
		stride: (layout.Size + strideUnit - 1) / strideUnit * strideUnit, genes: graph.Genes.Len(), reactions: graph.Reactions.Len(),
		edges: layout.EdgePositions(), reactionStart: rules.starts[ingest.Reaction], byRules: rules.rules != nil,
	}
	for _, mask := range layout.Masks {
		t.starts = append(t.starts, uint32(mask.Start))
	}
	t.starts = append(t.starts, uint32(layout.Size))
	t.addRows(rules, cache)
	if len(t.geneRows.Positions) > math.MaxUint32 {
		return nil, fault.New(fault.Failed, "use --device cpu", "lay out the incidence for the device: it has %d positions (expected below 2^32)", len(t.geneRows.Positions))
	}
	t.addEnds(rules)
	if rules.gpr != nil && !t.byRules {
		t.gprSrc = rules.gpr.Src
		for _, reaction := range rules.gpr.Dst {
			t.gprDst = append(t.gprDst, uint32(t.genes)+reaction)
		}
	}
	for i := range rules.rules {
		t.terms.first = append(t.terms.first, uint32(len(t.terms.operands)))
		t.addTerm(&rules.rules[i])
	}
	t.terms.first = append(t.terms.first, uint32(len(t.terms.operands)))
	return t, nil
}

// never is the node that no sample removes, the last one.
func (t *tables) never() uint32 { return uint32(t.genes + t.reactions) }

// size is how many positions there are.
func (t *tables) size() int { return int(t.starts[len(t.starts)-1]) }

// nodes is their number.
func (t *tables) nodes() int { return t.genes + t.reactions + 1 }

// addRows joins the incidences of all edge types, row by row.
func (t *tables) addRows(rules *graphRules, cache *incidence.Cache) {
	t.geneRows.Offsets = []uint32{0}
	for gene := range uint32(t.genes) {
		t.geneRows.Positions = append(t.geneRows.Positions, uint32(rules.starts[ingest.Gene])+gene)
		for _, edges := range cache.Edges {
			if edges.RowType != ingest.Gene {
				continue
			}
			start := uint32(rules.starts[edges.EdgeType])
			for _, position := range edges.Row(gene) {
				t.geneRows.Positions = append(t.geneRows.Positions, start+position)
				if edges.EdgeType == gprName && !t.byRules {
					t.geneRows.Positions = append(t.geneRows.Positions, uint32(t.reactionStart)+rules.gpr.Dst[position])
				}
			}
		}
		t.geneRows.Offsets = append(t.geneRows.Offsets, uint32(len(t.geneRows.Positions)))
	}
	t.reactionRows.Offsets = make([]uint32, t.reactions+1)
	for _, edges := range cache.Edges {
		if edges.EdgeType == rmrName {
			t.reactionRows.Offsets = edges.Offsets
			for _, position := range edges.Positions {
				t.reactionRows.Positions = append(t.reactionRows.Positions, uint32(rules.starts[rmrName])+position)
			}
		}
	}
}

// addEnds lists the nodes of each position.
func (t *tables) addEnds(rules *graphRules) {
	t.src, t.dst = make([]uint32, t.stride), make([]uint32, t.stride)
	for position := range t.src {
		t.src[position], t.dst[position] = t.never(), t.never()
	}
	firstReaction := uint32(t.genes)
	for gene := range uint32(t.genes) {
		t.setEnds(rules.starts[ingest.Gene]+int(gene), gene, gene)
	}
	for reaction := range uint32(t.reactions) {
		t.setEnds(t.reactionStart+int(reaction), firstReaction+reaction, firstReaction+reaction)
	}
	for _, edges := range rules.graph.Edges {
		start := rules.starts[edges.Type.String()]
		for position, src := range edges.Src {
			switch edges.Type {
			case ingest.GPR:
				t.setEnds(start+position, src, src)
			case ingest.RMR:
				t.setEnds(start+position, firstReaction+src, firstReaction+src)
			default:
				t.setEnds(start+position, src, edges.Dst[position])
			}
		}
	}
}

func (t *tables) setEnds(position int, src, dst uint32) { t.src[position], t.dst[position] = src, dst }

// addTerm adds a rule's terms, operands first, and returns the number of the whole.
func (t *tables) addTerm(rule *term) uint32 {
	var operands []uint32
	for i := range rule.terms {
		operands = append(operands, t.addTerm(&rule.terms[i]))
	}
	number := uint32(len(t.terms.operands))
	for _, operand := range operands {
		t.terms.parents[operand] = number
	}
	operand := int64(t.never())
	switch {
	case rule.op == gpr.And:
		operand = andTerm
	case rule.op == gpr.Or:
		operand = orTerm
	case rule.gene >= 0:
		operand = int64(rule.gene)
	}
	t.terms.operands = append(t.terms.operands, operand)
	t.terms.parents = append(t.terms.parents, 0)
	return number
}

// bytes is how much device memory the tables take.
func (t *tables) bytes() int {
	words := len(t.starts) + len(t.geneRows.Offsets) + len(t.geneRows.Positions) + len(t.reactionRows.Offsets) + len(t.reactionRows.Positions) +
		len(t.src) + len(t.dst) + len(t.gprSrc) + len(t.gprDst) + len(t.terms.first) + len(t.terms.parents)
	return 4*words + 8*len(t.terms.operands)
}
