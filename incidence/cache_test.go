package incidence_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/oracle"
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
		genes, reactions := uint32(graph.Genes.Len()), uint32(graph.Reactions.Len())
		if rows := len(cache.Offsets) - 1; rows != int(genes+reactions) {
			t.Fatalf("seed %d, graph %d: %d rows, want %d genes and %d reactions", seed, number, rows, genes, reactions)
		}
		for row := range genes + reactions {
			nodeType, node := ingest.Gene, row
			if row >= genes {
				nodeType, node = ingest.Reaction, row-genes
			}
			if want := oracle.Row(graph, nodeType, node); !slices.Equal(cache.Row(row), want) {
				t.Fatalf("seed %d, graph %d, %s %d: positions %d, want %d", seed, number, nodeType, node, cache.Row(row), want)
			}
		}
	}
}
