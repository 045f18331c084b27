package gpuverify

import (
	"slices"
	"strings"
	"testing"

	"tcbuild/incidence"
	"tcbuild/store"
)

// The first entry of a stored incidence that is not the graph's is named, and rows that differ are
// counted.
func TestStoredIncidence(t *testing.T) {
	graph := tinyGraph()
	layout := incidence.NewLayout(graph)
	inRow := func(c *incidence.Cache) int { // of gene 5: its first physical edge
		return slices.IndexFunc(c.Row(5), func(position uint32) bool {
			mask, _ := layout.At(int(position))
			return mask.Name == "gene__physical__gene"
		})
	}
	for _, test := range []struct {
		name  string
		plant func(c *incidence.Cache)
		want  string // behind the file's name
	}{
		{"a position", func(c *incidence.Cache) { c.Row(5)[inRow(c)]++ },
			"1 row; first: gene " + graph.Genes.IDs[5] + ": entry 1 is gene__physical__gene "},
		{"no last position", func(c *incidence.Cache) {
			c.Positions = slices.Delete(c.Positions, int(c.Offsets[6])-1, int(c.Offsets[6]))
			for row := 6; row < len(c.Offsets); row++ {
				c.Offsets[row]--
			}
		}, "1 row; first: gene " + graph.Genes.IDs[5] + ": entry "},
		{"one position too many, which removes what is removed anyway", func(c *incidence.Cache) {
			at := c.Offsets[6]
			c.Positions = slices.Insert(c.Positions, int(at), c.Positions[at-1])
			for row := 6; row < len(c.Offsets); row++ {
				c.Offsets[row]++
			}
		}, "1 row; first: gene " + graph.Genes.IDs[5] + ": entry "},
	} {
		p := plan{variant: store.Incidence, rule: incidence.RuleAll, samples: 3, plantCache: test.plant}
		report := verify(t, p.build(t), ByEdges, 1)
		if report.Damaged != 1 || !strings.Contains(report.FirstDamaged[0].What,
			"incidence.positions: its incidence differs from the graph's edges in "+test.want) {
			t.Errorf("%s: %d damaged: %v, want %s", test.name, report.Damaged, report.FirstDamaged, test.want)
		}
	}
}
