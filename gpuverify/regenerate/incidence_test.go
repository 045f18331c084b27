package regenerate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/testing/oracle"
)

// Every node's list is what a look at every edge finds.
func TestIncidence(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	for graphNumber := range 100 {
		graph := oracle.Graph(r)
		rules := newTestRules(t, graph, incidence.RuleAll)
		incidence := NewIncidence(rules)
		if rows := len(incidence.Offsets) - 1; rows != rules.nodes() {
			t.Fatalf("seed %d, graph %d: %d rows of %d nodes", seed, graphNumber, rows, rules.nodes())
		}
		genes := graph.Genes.Len()
		for node := range uint32(rules.nodes()) {
			nodeType, number := ingest.Gene, node
			if node >= uint32(genes) {
				nodeType, number = ingest.Reaction, node-uint32(genes)
			}
			if want := oracle.Row(graph, nodeType, number); !slices.Equal(incidence.Row(node), want) {
				t.Fatalf("seed %d, graph %d, %s %d: positions %d, want %d", seed, graphNumber, nodeType, number, incidence.Row(node), want)
			}
		}
	}
}
