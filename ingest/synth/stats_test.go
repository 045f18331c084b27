package synth

import (
	"slices"
	"testing"

	"tcbuild/ingest"
	"tcbuild/internal/testing/sets"
)

// incidentEdges lists for each gene the positions of the edges that touch it, a self loop once.
func incidentEdges(edges *ingest.Edges, genes int) [][]int {
	positions := make([][]int, genes)
	for position, source := range edges.Src {
		target := edges.Dst[position]
		positions[source] = append(positions[source], position)
		if target != source {
			positions[target] = append(positions[target], position)
		}
	}
	return positions
}

// bySource lists for each source the targets of its edges.
func bySource(edges *ingest.Edges, sources int) [][]uint32 {
	targets := make([][]uint32, sources)
	for position, source := range edges.Src {
		targets[source] = append(targets[source], edges.Dst[position])
	}
	return targets
}

func TestYeastStatistics(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it counts what yeast has")
	}
	graph := Graph(Yeast, 0)
	genes := graph.Genes.Len()

	total, widest := 0, 0
	var networks [][][]int
	for _, edges := range graph.Edges {
		if edges.Type.Target != ingest.Gene {
			continue
		}
		incident := incidentEdges(edges, genes)
		networks = append(networks, incident)
		hub := 0
		for _, positions := range incident {
			hub = max(hub, len(positions))
		}
		t.Logf("%s: %d edges, widest hub %d", edges.Type, edges.Len(), hub)
		total += edges.Len()
		widest = max(widest, hub)
	}
	if len(networks) != 9 || total != 2_400_000 {
		t.Errorf("found %d gene-gene edge types with %d edges, want 9 with 2,400,000", len(networks), total)
	}
	for relation, want := range map[string]int{"physical": 144_211, "regulatory": 44_310} {
		edges := graph.EdgesOf(ingest.EdgeType{Source: ingest.Gene, Relation: relation, Target: ingest.Gene})
		if edges.Len() != want {
			t.Errorf("%s: %d edges, want %d", relation, edges.Len(), want)
		}
	}
	if widest <= 2_000 {
		t.Errorf("the widest hub has %d edges of a type, want more than 2,000", widest)
	}
	within(t, "gpr edges", float64(graph.EdgesOf(ingest.GPR).Len()), 5_450, 0.05)
	within(t, "rmr edges", float64(graph.EdgesOf(ingest.RMR).Len()), 20_000, 0.03)

	gpr := bySource(graph.EdgesOf(ingest.GPR), genes)
	rmr := bySource(graph.EdgesOf(ingest.RMR), graph.Reactions.Len())
	removed := func(deleted []uint32) int {
		count := len(deleted)
		reactions := make(map[uint32]bool)
		for _, gene := range deleted {
			count += len(gpr[gene])
			for _, reaction := range gpr[gene] {
				reactions[reaction] = true
			}
		}
		for reaction := range reactions {
			count += 1 + len(rmr[reaction])
		}
		for _, incident := range networks {
			edges := make(map[int]bool)
			for _, gene := range deleted {
				for _, position := range incident[gene] {
					edges[position] = true
				}
			}
			count += len(edges)
		}
		return count
	}

	// Positions are counted for one sample in 64: the mean's standard error is 0.5 %.
	var counts []int
	triples, samples, interactions := 0, 0, 0
	_, err := sets.Read(Samples(Yeast, 0, Yeast.Samples), func(batch *ingest.Samples) error {
		for i := range batch.Len() {
			samples++
			if len(batch.Genes(i)) == 3 {
				triples++
			}
			if value := batch.Phenotypes(i)[1]; value == value {
				interactions++
			}
			if i%64 == 0 {
				counts = append(counts, removed(batch.Genes(i)))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range counts {
		sum += n
	}
	t.Logf("%d samples remove %d positions on average, %d to %d", len(counts), sum/len(counts), slices.Min(counts), slices.Max(counts))
	within(t, "removed positions per sample", float64(sum)/float64(len(counts)), 1_850, 0.02)
	within(t, "samples", float64(samples), 332_313, 0)
	within(t, "share of triple deletions", float64(triples)/float64(samples), 7.0/8, 0.005)
	within(t, "share of samples with an interaction", float64(interactions)/float64(samples), 7.0/8, 0.005)
}

func within(t *testing.T, what string, found, want, tolerance float64) {
	t.Helper()
	if found < want*(1-tolerance) || found > want*(1+tolerance) {
		t.Errorf("%s: %g, want %g within %g %%", what, found, want, 100*tolerance)
	}
}

// Each sample starts a random stream at its index; neighbours must not be correlated.
func TestNeighbouringSamplesAreIndependent(t *testing.T) {
	const bins, draws = 16, 1 << 17
	for _, seed := range []uint64{0, 1, 1 << 63} {
		var found [bins][bins]int
		var last, r random
		for index := range uint64(draws) {
			last.pcg.Seed(seed, index)
			r.pcg.Seed(seed, index+1)
			found[last.below(bins)][r.below(bins)]++
		}
		const expected = float64(draws) / (bins * bins)
		chiSquare := 0.0
		for _, row := range found {
			for _, n := range row {
				chiSquare += (float64(n) - expected) * (float64(n) - expected) / expected
			}
		}
		// 255 degrees of freedom: mean 255, standard deviation 22.6; the limit is 5 of them.
		if chiSquare > 255+5*22.6 {
			t.Errorf("seed %d: chi-square of neighbouring draws is %.0f, want about 255", seed, chiSquare)
		}
	}
}
