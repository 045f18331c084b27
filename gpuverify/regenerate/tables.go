package regenerate

import (
	"math"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// Tables are the parts of a graph and its incidence that the kernels need, as flat arrays.
// Positions are those of the mask space. Nodes are the genes, then the reactions, then one that is
// never removed.
type Tables struct {
	Stride        int      // bytes of device memory per sample's masks
	Starts        []uint32 // of the masks, and the end of the last
	Edges         int      // number of edge positions, which come last
	Genes         int
	reactions     int
	reactionStart int  // position of the first reaction
	ByRules       bool // reaction rule "gpr"

	// what each gene removes: itself, its edges and, under the rule "all", its reactions
	geneRows     Lists
	reactionRows Lists // what each reaction removes: its edges
	// two nodes for each position, either of which removes it; padded to the stride
	Src, Dst []uint32

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

// StrideUnit: a sample's masks on the device are padded to a multiple of it, in bytes. A kernel's
// widest access needs 16, whole memory transactions 128.
const StrideUnit = 128

func NewTables(rules *Rules, incidences []Incidence) (*Tables, error) {
	graph := rules.Graph
	t := &Tables{
		Stride: (rules.Size + StrideUnit - 1) / StrideUnit * StrideUnit, Genes: graph.Genes.Len(), reactions: graph.Reactions.Len(),
		reactionStart: rules.Start[ingest.Reaction], ByRules: rules.rules != nil,
	}
	for _, mask := range rules.Masks {
		t.Starts = append(t.Starts, uint32(mask.Start))
	}
	t.Starts = append(t.Starts, uint32(rules.Size))
	for _, edges := range rules.edges {
		t.Edges += edges.Len()
	}
	t.addRows(rules, incidences)
	if len(t.geneRows.Positions) > math.MaxUint32 {
		return nil, fault.New(fault.Failed, "use --device cpu",
			"lay out the incidence for the device: it has %d positions, expected below 2^32", len(t.geneRows.Positions))
	}
	t.addEnds(rules)
	if rules.gpr != nil && !t.ByRules {
		t.gprSrc = rules.gpr.Src
		for _, reaction := range rules.gpr.Dst {
			t.gprDst = append(t.gprDst, uint32(t.Genes)+reaction)
		}
	}
	for _, rule := range rules.rules {
		t.addRule(rule)
	}
	t.terms.first = append(t.terms.first, uint32(len(t.terms.operands)))
	return t, nil
}

// never is the last node, which no sample removes.
func (t *Tables) never() uint32 { return uint32(t.Genes + t.reactions) }

// Size is the number of positions.
func (t *Tables) Size() int { return int(t.Starts[len(t.Starts)-1]) }

// Nodes is the number of nodes.
func (t *Tables) Nodes() int { return t.Genes + t.reactions + 1 }

// addRows joins the incidences of all edge types, row by row.
func (t *Tables) addRows(rules *Rules, incidences []Incidence) {
	t.geneRows.Offsets = []uint32{0}
	for gene := range uint32(t.Genes) {
		t.geneRows.Positions = append(t.geneRows.Positions, uint32(rules.Start[ingest.Gene])+gene)
		for _, edges := range incidences {
			if edges.Type.Source != ingest.Gene {
				continue
			}
			for _, position := range edges.Row(gene) {
				t.geneRows.Positions = append(t.geneRows.Positions, uint32(edges.Start)+position)
				if edges.Type == ingest.GPR && !t.ByRules {
					t.geneRows.Positions = append(t.geneRows.Positions, uint32(t.reactionStart)+edges.Dst[position])
				}
			}
		}
		t.geneRows.Offsets = append(t.geneRows.Offsets, uint32(len(t.geneRows.Positions)))
	}
	t.reactionRows.Offsets = make([]uint32, t.reactions+1)
	for _, edges := range incidences {
		if edges.Type == ingest.RMR {
			t.reactionRows.Offsets = edges.Offsets
			for _, position := range edges.Positions {
				t.reactionRows.Positions = append(t.reactionRows.Positions, uint32(edges.Start)+position)
			}
		}
	}
}

// addEnds lists the nodes of each position.
func (t *Tables) addEnds(rules *Rules) {
	t.Src, t.Dst = make([]uint32, t.Stride), make([]uint32, t.Stride)
	for position := range t.Src {
		t.Src[position], t.Dst[position] = t.never(), t.never()
	}
	firstReaction := uint32(t.Genes)
	for gene := range uint32(t.Genes) {
		t.setEnds(rules.Start[ingest.Gene]+int(gene), gene, gene)
	}
	for reaction := range uint32(t.reactions) {
		t.setEnds(t.reactionStart+int(reaction), firstReaction+reaction, firstReaction+reaction)
	}
	for _, edges := range rules.edges {
		start := rules.Start[edges.Type.String()]
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

func (t *Tables) setEnds(position int, src, dst uint32) { t.Src[position], t.Dst[position] = src, dst }

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
	words := len(t.Starts) + len(t.geneRows.Offsets) + len(t.geneRows.Positions) + len(t.reactionRows.Offsets) + len(t.reactionRows.Positions) +
		len(t.Src) + len(t.Dst) + len(t.gprSrc) + len(t.gprDst) + len(t.terms.first) + len(t.terms.parents)
	return 4*words + 8*len(t.terms.operands)
}
