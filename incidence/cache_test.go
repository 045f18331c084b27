package incidence_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/oracle"
)

func TestBuild(t *testing.T) {
	const seed = 2
	r := rand.New(rand.NewPCG(seed, 0))
	graphs := []*ingest.Graph{synth.Graph(synth.Tiny, 1)}
	for range 200 {
		graphs = append(graphs, oracle.Graph(r))
	}
	for number, graph := range graphs {
		cache := incidence.Build(graph)
		if len(cache.Edges) != len(graph.Edges) {
			t.Fatalf("seed %d, graph %d: %d edge types, want %d", seed, number, len(cache.Edges), len(graph.Edges))
		}
		for i, edges := range graph.Edges {
			got := cache.Edges[i]
			if got.EdgeType != edges.Type.String() || got.RowType != edges.Type.Source {
				t.Fatalf("seed %d, graph %d: rows %s of %s, want those of %s", seed, number, got.RowType, got.EdgeType, edges.Type)
			}
			rows := graph.NodesOf(edges.Type.Source).Len()
			if len(got.Offsets) != rows+1 {
				t.Fatalf("seed %d, graph %d, %s: %d offsets for %d rows", seed, number, edges.Type, len(got.Offsets), rows)
			}
			for row := range uint32(rows) {
				if want := oracle.Touching(edges, row); !slices.Equal(got.Row(row), want) {
					t.Fatalf("seed %d, graph %d, %s, row %d: positions %d, want %d", seed, number, edges.Type, row, got.Row(row), want)
				}
			}
		}
	}
}
