package gpuverify

import (
	"math"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// tables are the parts of a graph and its incidence that the kernels need, as flat arrays.
// Positions are those of the mask space. Nodes are the genes, then the reactions, then one that is
// never removed.
type tables struct {
	stride        int      // bytes of device memory per sample's masks
	starts        []uint32 // of the masks, and the end of the last
	edges         int      // number of edge positions, which come last
	genes         int
	reactions     int
	reactionStart int  // position of the first reaction
	byRules       bool // reaction rule "gpr"

	// what each gene removes: itself, its edges and, under the rule "all", its reactions
	geneRows     lists
	reactionRows lists // what each reaction removes: its edges
	// two nodes for each position, either of which removes it; padded to the stride
	src, dst []uint32

	// under the rule "all": the nodes at the ends of the gene-reaction edges
	gprSrc, gprDst []uint32

	// Under the rule "gpr", the terms of all rules: those of reaction r start at terms.first[r],
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

// strideUnit: a sample's masks on the device are padded to a multiple of it, in bytes. A kernel's
// widest access needs 16, whole memory transactions 128.
const strideUnit = 128

func newTables(rules *graphRules, incidences []edgeIncidence) (*tables, error) {
	graph := rules.graph
	t := &tables{
		stride: (rules.size + strideUnit - 1) / strideUnit * strideUnit, genes: graph.Genes.Len(), reactions: graph.Reactions.Len(),
		reactionStart: rules.start[ingest.Reaction], byRules: rules.rules != nil,
	}
	for _, mask := range rules.masks {
		t.starts = append(t.starts, uint32(mask.start))
	}
	t.starts = append(t.starts, uint32(rules.size))
	for _, edges := range rules.edges {
		t.edges += edges.Len()
	}
	t.addRows(rules, incidences)
	if len(t.geneRows.positions) > math.MaxUint32 {
		return nil, fault.New(fault.Failed, "use --device cpu",
			"lay out the incidence for the device: it has %d positions (expected below 2^32)", len(t.geneRows.positions))
	}
	t.addEnds(rules)
	if rules.gpr != nil && !t.byRules {
		t.gprSrc = rules.gpr.Src
		for _, reaction := range rules.gpr.Dst {
			t.gprDst = append(t.gprDst, uint32(t.genes)+reaction)
		}
	}
	for _, rule := range rules.rules {
		t.addRule(rule)
	}
	t.terms.first = append(t.terms.first, uint32(len(t.terms.operands)))
	return t, nil
}

// never is the last node, which no sample removes.
func (t *tables) never() uint32 { return uint32(t.genes + t.reactions) }

// size is the number of positions.
func (t *tables) size() int { return int(t.starts[len(t.starts)-1]) }

// nodes is the number of nodes.
func (t *tables) nodes() int { return t.genes + t.reactions + 1 }

// addRows joins the incidences of all edge types, row by row.
func (t *tables) addRows(rules *graphRules, incidences []edgeIncidence) {
	t.geneRows.offsets = []uint32{0}
	for gene := range uint32(t.genes) {
		t.geneRows.positions = append(t.geneRows.positions, uint32(rules.start[ingest.Gene])+gene)
		for _, edges := range incidences {
			if edges.Type.Source != ingest.Gene {
				continue
			}
			for _, position := range edges.row(gene) {
				t.geneRows.positions = append(t.geneRows.positions, uint32(edges.start)+position)
				if edges.Type == ingest.GPR && !t.byRules {
					t.geneRows.positions = append(t.geneRows.positions, uint32(t.reactionStart)+edges.Dst[position])
				}
			}
		}
		t.geneRows.offsets = append(t.geneRows.offsets, uint32(len(t.geneRows.positions)))
	}
	t.reactionRows.offsets = make([]uint32, t.reactions+1)
	for _, edges := range incidences {
		if edges.Type == ingest.RMR {
			t.reactionRows.offsets = edges.offsets
			for _, position := range edges.positions {
				t.reactionRows.positions = append(t.reactionRows.positions, uint32(edges.start)+position)
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
		t.setEnds(rules.start[ingest.Gene]+int(gene), gene, gene)
	}
	for reaction := range uint32(t.reactions) {
		t.setEnds(t.reactionStart+int(reaction), firstReaction+reaction, firstReaction+reaction)
	}
	for _, edges := range rules.edges {
		start := rules.start[edges.Type.String()]
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

// addRule adds a reaction's rule: its terms in postfix order, operands first. A reaction without a
// rule gets a node that is never removed.
func (t *tables) addRule(rule postfix) {
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

// bytes is how much device memory the tables take.
func (t *tables) bytes() int {
	words := len(t.starts) + len(t.geneRows.offsets) + len(t.geneRows.positions) + len(t.reactionRows.offsets) + len(t.reactionRows.positions) +
		len(t.src) + len(t.dst) + len(t.gprSrc) + len(t.gprDst) + len(t.terms.first) + len(t.terms.parents)
	return 4*words + 8*len(t.terms.operands)
}
