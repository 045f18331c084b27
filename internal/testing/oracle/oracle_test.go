package oracle

import (
	"slices"
	"testing"

	"tcbuild/ingest"
)

// The oracle itself is held by masks worked out by hand.
//
//	position  0 1 2   genes A B C
//	          3 4 5 6 reactions R (A or B), S (A and C), T (no rule), U (X, which no gene is)
//	          7       metabolite M
//	          8 9     gpr edges A-R, B-T
//	          10-13   gene-gene edges A-A, B-C, C-B, B-C
//	          14-17   rmr edges R-M, S-M, T-M, U-M
func byHand() *ingest.Graph {
	graph := &ingest.Graph{}
	graph.Genes, _ = ingest.NewNodes(ingest.Gene, []string{"A", "B", "C"}, nil)
	graph.Reactions, _ = ingest.NewNodes(ingest.Reaction, []string{"R", "S", "T", "U"},
		[]ingest.Column{ingest.TextColumn("gpr", []string{"(A or B)", "A and C", "", "X"})})
	graph.Metabolites, _ = ingest.NewNodes(ingest.Metabolite, []string{"M"}, nil)
	graph.Edges = []*ingest.Edges{
		{Type: ingest.RMR, Src: []uint32{0, 1, 2, 3}, Dst: []uint32{0, 0, 0, 0}},
		{Type: ingest.EdgeType{Source: ingest.Gene, Relation: "physical", Target: ingest.Gene}, Src: []uint32{0, 1, 2, 1}, Dst: []uint32{0, 2, 1, 2}},
		{Type: ingest.GPR, Src: []uint32{0, 1}, Dst: []uint32{0, 2}},
	}
	graph.Sort()
	return graph
}

func TestByHand(t *testing.T) {
	for _, test := range []struct {
		genotype []uint32
		byRule   bool
		want     []uint32
	}{
		{nil, false, nil},
		{nil, true, nil},
		{[]uint32{0}, false, []uint32{0, 3, 8, 10, 14}},
		{[]uint32{0}, true, []uint32{0, 4, 8, 10, 15}},
		{[]uint32{1}, false, []uint32{1, 5, 9, 11, 12, 13, 16}},
		{[]uint32{1}, true, []uint32{1, 9, 11, 12, 13}},
		{[]uint32{2}, true, []uint32{2, 4, 11, 12, 13, 15}},
		{[]uint32{0, 1}, true, []uint32{0, 1, 3, 4, 8, 9, 10, 11, 12, 13, 14, 15}},
		{[]uint32{0, 1, 2}, false, []uint32{0, 1, 2, 3, 5, 8, 9, 10, 11, 12, 13, 14, 16}},
	} {
		if got := Removed(byHand(), test.genotype, test.byRule); !slices.Equal(got, test.want) {
			t.Errorf("genotype %d, by rule %v: removed %d, want %d", test.genotype, test.byRule, got, test.want)
		}
	}
}

func TestHolds(t *testing.T) {
	graph := byHand()
	for _, test := range []struct {
		rule string
		want bool // without A
	}{
		{"A", false},
		{"B", true},
		{"X", true},
		{"A or B and A", false},
		{"(A or B) and B", true},
		{"((A or (B)) and (B and (A or C)))", true},
		{"A and B or A and C", false},
		{"(A) or (A and (B or C))", false},
	} {
		if got := holds(graph, test.rule, map[uint32]bool{0: true}); got != test.want {
			t.Errorf("%s without A: %v, want %v", test.rule, got, test.want)
		}
	}
}

// What goes with the ends of edges of further types.
//
//	position  0 1     genes A B
//	          2 3     reactions R (A), S
//	          4       metabolite M
//	          5 6     proteins P, Q
//	          7 8     gene__codes__protein A-P, B-Q
//	          9       gene__gpr__reaction A-R
//	          10 11   metabolite__reaction__metabolite M-R, M-S
//	          12      protein__binds__protein P-Q
//	          13 14   protein__catalyses__reaction P-R, P-S
//	          15 16   reaction__needs__gene S-A, R-B
//	          17 18   reaction__precedes__reaction R-S, S-S
func TestFurtherTypesByHand(t *testing.T) {
	edges := func(source, relation, target string, src, dst []uint32) *ingest.Edges {
		return &ingest.Edges{Type: ingest.EdgeType{Source: source, Relation: relation, Target: target}, Src: src, Dst: dst}
	}
	graph := &ingest.Graph{Edges: []*ingest.Edges{
		edges("gene", "codes", "protein", []uint32{0, 1}, []uint32{0, 1}),
		edges("gene", "gpr", "reaction", []uint32{0}, []uint32{0}),
		edges("metabolite", "reaction", "metabolite", []uint32{0, 0}, []uint32{0, 1}),
		edges("protein", "binds", "protein", []uint32{0}, []uint32{1}),
		edges("protein", "catalyses", "reaction", []uint32{0, 0}, []uint32{0, 1}),
		edges("reaction", "needs", "gene", []uint32{1, 0}, []uint32{0, 1}),
		edges("reaction", "precedes", "reaction", []uint32{0, 1}, []uint32{1, 1}),
	}}
	graph.Genes, _ = ingest.NewNodes("gene", []string{"A", "B"}, nil)
	graph.Reactions, _ = ingest.NewNodes("reaction", []string{"R", "S"}, nil)
	graph.Metabolites, _ = ingest.NewNodes("metabolite", []string{"M"}, nil)
	proteins, _ := ingest.NewNodes("protein", []string{"P", "Q"}, nil)
	graph.Others = []*ingest.Nodes{proteins}
	for _, test := range []struct{ genotype, want []uint32 }{
		{[]uint32{0}, []uint32{0, 2, 7, 9, 10, 13, 15, 16, 17}},
		{[]uint32{1}, []uint32{1, 8, 16}},
	} {
		if got := Removed(graph, test.genotype, false); !slices.Equal(got, test.want) {
			t.Errorf("genotype %d: removed %d, want %d", test.genotype, got, test.want)
		}
	}
	if got, want := Row(graph, "reaction", 0), []uint32{2, 10, 13, 16, 17}; !slices.Equal(got, want) {
		t.Errorf("row of reaction 0: %d, want %d", got, want)
	}
}
