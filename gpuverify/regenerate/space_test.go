package regenerate

import (
	"slices"
	"testing"

	"tcbuild/ingest"
)

// The masks are in the order of store/FORMAT.md, whatever the order of the graph's edge tables.
func TestSpace(t *testing.T) {
	nodes := func(nodeType string, ids ...string) *ingest.Nodes {
		table, _ := ingest.NewNodes(nodeType, ids, nil)
		return table
	}
	edges := func(name string, count int) *ingest.Edges {
		edgeType, err := ingest.ParseEdgeType(name)
		if err != nil {
			t.Fatal(err)
		}
		return &ingest.Edges{Type: edgeType, Src: make([]uint32, count), Dst: make([]uint32, count)}
	}
	for _, test := range []struct {
		graph *ingest.Graph
		want  []Mask
	}{
		{&ingest.Graph{Genes: nodes("gene", "A", "B")}, []Mask{{"gene", 0, 2}}},
		{
			&ingest.Graph{Genes: nodes("gene", "A"), Metabolites: nodes("metabolite", "m", "n"), Reactions: nodes("reaction"), Edges: []*ingest.Edges{
				edges("reaction__rmr__metabolite", 0), edges("gene__physical__gene", 3), edges("gene__Zeta__gene", 1), edges("gene__gpr__reaction", 2)}},
			[]Mask{{"gene", 0, 1}, {"reaction", 1, 0}, {"metabolite", 1, 2}, {"gene__Zeta__gene", 3, 1}, {"gene__gpr__reaction", 4, 2},
				{"gene__physical__gene", 6, 3}, {"reaction__rmr__metabolite", 9, 0}},
		},
		{
			&ingest.Graph{Genes: nodes("gene", "A"), Metabolites: nodes("metabolite", "m"), Others: []*ingest.Nodes{nodes("protein", "P", "Q"), nodes("complex", "C")},
				Edges: []*ingest.Edges{edges("protein__in__complex", 2), edges("complex__of__gene", 1)}},
			[]Mask{{"gene", 0, 1}, {"metabolite", 1, 1}, {"complex", 2, 1}, {"protein", 3, 2}, {"complex__of__gene", 5, 1}, {"protein__in__complex", 6, 2}},
		},
	} {
		s := newSpace(test.graph)
		if !slices.Equal(s.Masks, test.want) {
			t.Errorf("got %v, want %v", s.Masks, test.want)
		}
		for i, m := range test.want {
			if s.Start[m.Name] != m.Start {
				t.Errorf("%s starts at %d, want %d", m.Name, s.Start[m.Name], m.Start)
			}
			for within := range m.Size {
				if number, at := s.At(m.Start + within); number != i || at != within {
					t.Errorf("position %d is %d of mask %d, want %d of %d", m.Start+within, at, number, within, i)
				}
			}
		}
	}
}
