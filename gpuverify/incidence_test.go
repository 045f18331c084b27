package gpuverify

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/oracle"
	"tcbuild/store"
)

// Every node's list is what a look at every edge finds.
func TestIncidences(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	for number := range 100 {
		graph := oracle.Graph(r)
		rules := newTestRules(t, graph, incidence.RuleAll)
		incidences := newIncidences(rules)
		if len(incidences) != len(graph.Edges) {
			t.Fatalf("seed %d, graph %d: %d incidences of %d edge types", seed, number, len(incidences), len(graph.Edges))
		}
		for _, edges := range incidences {
			rows := graph.NodesOf(edges.Type.Source).Len()
			if len(edges.offsets) != rows+1 || len(edges.positions) != int(edges.offsets[rows]) {
				t.Fatalf("seed %d, graph %d, %s: %d offsets and %d positions for %d nodes", seed, number, edges.Type,
					len(edges.offsets), len(edges.positions), rows)
			}
			for node := range uint32(rows) {
				var want []uint32
				for position := range edges.Src {
					if edges.Src[position] == node || edges.Type.Target == ingest.Gene && edges.Dst[position] == node {
						want = append(want, uint32(position))
					}
				}
				if got := edges.row(node); !slices.Equal(got, want) {
					t.Fatalf("seed %d, graph %d, %s, node %d: edges %d, want %d", seed, number, edges.Type, node, got, want)
				}
			}
		}
	}
}

// The first entry of a stored incidence that is not the graph's is named, and rows that differ are
// counted.
func TestStoredIncidence(t *testing.T) {
	graph := tinyGraph()
	physical := slices.IndexFunc(graph.Edges, func(e *ingest.Edges) bool { return e.Type.Relation == "physical" })
	other := func(position uint32) uint32 { return (position + 1) % uint32(graph.Edges[physical].Len()) }
	for _, test := range []struct {
		name  string
		plant func(edges *incidence.Incidence)
		want  string // behind the file's name
	}{
		{"a position", func(e *incidence.Incidence) { e.Row(5)[1] = other(e.Row(5)[1]) },
			"1 rows; first: edge type gene__physical__gene, gene " + graph.Genes.IDs[5] + ": entry 1 is edge "},
		{"an entry in the next row", func(e *incidence.Incidence) { e.Offsets[5]-- },
			"2 rows; first: edge type gene__physical__gene, gene " + graph.Genes.IDs[4] + ": entry "},
		{"one position too many, which removes what is removed anyway", func(e *incidence.Incidence) {
			at := e.Offsets[6]
			e.Positions = slices.Insert(e.Positions, int(at), e.Positions[at-1])
			for row := 6; row < len(e.Offsets); row++ {
				e.Offsets[row]++
			}
		}, "1 rows; first: edge type gene__physical__gene, gene " + graph.Genes.IDs[5] + ": entry "},
	} {
		p := plan{variant: store.Incidence, rule: incidence.RuleAll, samples: 3, plantCache: func(cache *incidence.Cache) {
			test.plant(&cache.Edges[physical])
		}}
		report := verify(t, p.build(t), ByEdges, 1)
		if report.Damaged != 1 || !strings.Contains(report.FirstDamaged[0].What,
			"incidence.arrow: its incidence differs from that of the graph's edges in "+test.want) {
			t.Errorf("%s: %d damaged: %v, want %s", test.name, report.Damaged, report.FirstDamaged, test.want)
		}
	}
}
