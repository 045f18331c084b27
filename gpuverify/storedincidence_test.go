package gpuverify

import (
	"slices"
	"strings"
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/store"
)

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
			"incidence.positions: its incidence differs from that of the graph's edges in "+test.want) {
			t.Errorf("%s: %d damaged: %v, want %s", test.name, report.Damaged, report.FirstDamaged, test.want)
		}
	}
}
