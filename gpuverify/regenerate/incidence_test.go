package regenerate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tcbuild/incidence"
	"tcbuild/internal/oracle"
)

// Every node's list is what a look at every edge finds.
func TestIncidences(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	for number := range 100 {
		graph := oracle.Graph(r)
		rules := newTestRules(t, graph, incidence.RuleAll)
		incidences := NewIncidences(rules)
		if len(incidences) != len(graph.Edges) {
			t.Fatalf("seed %d, graph %d: %d incidences of %d edge types", seed, number, len(incidences), len(graph.Edges))
		}
		for _, edges := range incidences {
			rows := graph.NodesOf(edges.Type.Source).Len()
			if len(edges.Offsets) != rows+1 || len(edges.Positions) != int(edges.Offsets[rows]) {
				t.Fatalf("seed %d, graph %d, %s: %d offsets and %d positions for %d nodes", seed, number, edges.Type,
					len(edges.Offsets), len(edges.Positions), rows)
			}
			for node := range uint32(rows) {
				want := oracle.Touching(edges.Edges, node)
				if got := edges.Row(node); !slices.Equal(got, want) {
					t.Fatalf("seed %d, graph %d, %s, node %d: edges %d, want %d", seed, number, edges.Type, node, got, want)
				}
			}
		}
	}
}
