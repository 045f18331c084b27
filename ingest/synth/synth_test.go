package synth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/internal/testing/sets"
)

func TestParseScale(t *testing.T) {
	for _, want := range []Scale{Tiny, Yeast} {
		if got, err := ParseScale(want.Name); err != nil || got.Samples != want.Samples {
			t.Errorf("ParseScale(%q) = %v samples, %v; want %d samples", want.Name, got.Samples, err, want.Samples)
		}
	}
	for _, name := range []string{"", "Tiny", "human"} {
		if _, err := ParseScale(name); fault.KindOf(err) != fault.Usage {
			t.Errorf("ParseScale(%q) = %v, want a fault.Usage", name, err)
		} else if !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) || fault.HintOf(err) == "" {
			t.Errorf("ParseScale(%q): error %q with hint %q does not name the scale and the fix", name, err, fault.HintOf(err))
		}
	}
}

func TestGraph(t *testing.T) {
	for _, scale := range []Scale{Tiny, Yeast} {
		for _, seed := range []uint64{0, 1, 1<<64 - 1} {
			t.Run(fmt.Sprintf("scale=%s/seed=%d", scale.Name, seed), func(t *testing.T) {
				if testing.Short() && scale.Name == Yeast.Name && seed > 0 {
					t.Skip("-short: one seed shows it")
				}
				graph := Graph(scale, seed)
				checkGenes(t, graph.Genes.IDs, scale.genes)
				if graph.Reactions.Len() != scale.reactions || graph.Metabolites.Len() != scale.metabolites {
					t.Errorf("found %d reactions and %d metabolites, want %d and %d",
						graph.Reactions.Len(), graph.Metabolites.Len(), scale.reactions, scale.metabolites)
				}
				sizes := map[string]int{ingest.Gene: scale.genes, ingest.Reaction: scale.reactions, ingest.Metabolite: scale.metabolites}
				var names []string
				for _, edges := range graph.Edges {
					names = append(names, edges.Type.String())
					checkRange(t, edges, sizes[edges.Type.Source], sizes[edges.Type.Target])
				}
				if !slices.IsSorted(names) {
					t.Errorf("edge types are not sorted: %v", names)
				}
				for _, n := range scale.networks {
					checkNetwork(t, graph, n)
				}
				checkAscending(t, graph.EdgesOf(ingest.GPR), graph.EdgesOf(ingest.GPR).Len())
				checkAscending(t, graph.EdgesOf(ingest.RMR), graph.EdgesOf(ingest.RMR).Len())
				checkRules(t, graph)
				checkStoichiometry(t, graph)
			})
		}
	}
}

func checkGenes(t *testing.T, ids []string, want int) {
	t.Helper()
	if len(ids) != want {
		t.Errorf("found %d genes, want %d", len(ids), want)
	}
	for i, id := range ids {
		if len(id) != 7 || id[0] != 'Y' || id[1] < 'A' || id[1] > 'P' || !strings.ContainsRune("LR", rune(id[2])) ||
			!strings.ContainsRune("CW", rune(id[6])) {
			t.Fatalf("gene %q does not look like YAL001C", id)
		}
		if i > 0 && ids[i-1] >= id {
			t.Fatalf("gene %q follows %q", id, ids[i-1])
		}
	}
}

func checkRange(t *testing.T, edges *ingest.Edges, sources, targets int) {
	t.Helper()
	for i := range edges.Src {
		if int(edges.Src[i]) >= sources || int(edges.Dst[i]) >= targets {
			t.Fatalf("%s, position %d: edge (%d, %d), but there are %d and %d nodes",
				edges.Type, i, edges.Src[i], edges.Dst[i], sources, targets)
		}
	}
}

// checkAscending checks that the first edges are ascending by source, then target, and so have no
// duplicates.
func checkAscending(t *testing.T, edges *ingest.Edges, first int) {
	t.Helper()
	for i := 1; i < first; i++ {
		if edges.Src[i-1] > edges.Src[i] || edges.Src[i-1] == edges.Src[i] && edges.Dst[i-1] >= edges.Dst[i] {
			t.Fatalf("%s, position %d: edge (%d, %d) follows (%d, %d)",
				edges.Type, i, edges.Src[i], edges.Dst[i], edges.Src[i-1], edges.Dst[i-1])
		}
	}
}

func checkNetwork(t *testing.T, graph *ingest.Graph, n network) {
	t.Helper()
	genes := graph.Genes.Len()
	edges := graph.EdgesOf(ingest.EdgeType{Source: ingest.Gene, Relation: n.relation, Target: ingest.Gene})
	if edges.Len() != n.edges {
		t.Errorf("%s: %d edges, want %d", n.relation, edges.Len(), n.edges)
	}
	loops := edges.Len() - genes
	checkAscending(t, edges, loops)
	sources := make(map[uint32]bool)
	for i := range loops {
		sources[edges.Src[i]] = true
		if edges.Src[i] == edges.Dst[i] {
			t.Fatalf("%s, position %d: a loop among the first %d edges", n.relation, i, loops)
		}
		if n.regulators == 0 && edges.Src[i] > edges.Dst[i] {
			t.Fatalf("%s, position %d: undirected edge (%d, %d) is not source < target", n.relation, i, edges.Src[i], edges.Dst[i])
		}
	}
	if n.regulators > 0 && len(sources) > n.regulators {
		t.Errorf("%s: edges start at %d genes, want at most %d", n.relation, len(sources), n.regulators)
	}
	for gene := range genes {
		if at := loops + gene; int(edges.Src[at]) != gene || int(edges.Dst[at]) != gene {
			t.Fatalf("%s, position %d: edge (%d, %d), want the loop of gene %d", n.relation, at, edges.Src[at], edges.Dst[at], gene)
		}
	}
}

func checkRules(t *testing.T, graph *ingest.Graph) {
	t.Helper()
	members := make([][]string, graph.Reactions.Len())
	gpr := graph.EdgesOf(ingest.GPR)
	for i, reaction := range gpr.Dst {
		members[reaction] = append(members[reaction], graph.Genes.IDs[gpr.Src[i]])
	}
	kinds := make(map[string]int)
	for reaction, rule := range graph.Reactions.Column("gpr") {
		words := strings.FieldsFunc(rule, func(c rune) bool { return strings.ContainsRune("() ", c) })
		words = slices.DeleteFunc(words, func(word string) bool { return word == "and" || word == "or" })
		slices.Sort(words)
		if words = slices.Compact(words); !slices.Equal(words, members[reaction]) {
			t.Fatalf("reaction %s: rule %q, but gpr edges from %v", graph.Reactions.IDs[reaction], rule, members[reaction])
		}
		if strings.Count(rule, "(") != strings.Count(rule, ")") {
			t.Errorf("reaction %s: rule %q is not balanced", graph.Reactions.IDs[reaction], rule)
		}
		switch {
		case rule == "":
			kinds["none"]++
		case strings.HasPrefix(rule, "(("):
			kinds["nested"]++
		case strings.Contains(rule, " or "):
			kinds["isozymes"]++
		case strings.Contains(rule, " and "):
			kinds["complex"]++
		default:
			kinds["gene"]++
		}
	}
	want := []string{"none", "gene", "isozymes", "complex"}
	if graph.Reactions.Len() > 1000 {
		want = append(want, "nested")
	}
	for _, kind := range want {
		if kinds[kind] == 0 {
			t.Errorf("no rule of kind %s; found %v", kind, kinds)
		}
	}
	for reaction, subsystem := range graph.Reactions.Column("subsystem") {
		if subsystem == "" {
			t.Fatalf("reaction %s has no subsystem", graph.Reactions.IDs[reaction])
		}
	}
}

func checkStoichiometry(t *testing.T, graph *ingest.Graph) {
	t.Helper()
	rmr := graph.EdgesOf(ingest.RMR)
	used := make([]bool, graph.Reactions.Len())
	for i, amount := range rmr.Columns[0].Values.(*array.Float64).Float64Values() {
		if rmr.Columns[0].Name != "stoichiometry" || amount == 0 {
			t.Fatalf("rmr edge %d: %s %g", i, rmr.Columns[0].Name, amount)
		}
		if amount < 0 {
			used[rmr.Src[i]] = true
		}
	}
	if reaction := slices.Index(used, false); reaction >= 0 {
		t.Errorf("reaction %s uses nothing", graph.Reactions.IDs[reaction])
	}
}

// texts lists what a source yields, one line per sample.
func texts(t *testing.T, source ingest.SampleSource) []string {
	t.Helper()
	var lines []string
	counts, err := sets.Read(source, func(batch *ingest.Samples) error {
		if batch.First != len(lines) {
			t.Errorf("a batch starts at %d after %d samples", batch.First, len(lines))
		}
		for i := range batch.Len() {
			lines = append(lines, fmt.Sprintf("%s %d %v", batch.ID(i), batch.Genes(i), batch.Phenotypes(i)))
		}
		return nil
	})
	if err != nil || counts.Kept != len(lines) {
		t.Errorf("Scan returned %+v, %v after %d samples", counts, err, len(lines))
	}
	return lines
}

// A sample depends only on scale, seed and index, not on the count or its batch.
func TestSamplesAreAPrefix(t *testing.T) {
	want := texts(t, Samples(Tiny, 7, 3*batchSize))
	for _, count := range []int{0, 1, batchSize - 1, batchSize, batchSize + 1, 2 * batchSize} {
		source := Samples(Tiny, 7, count)
		for range 2 { // a source can be scanned again
			if got := texts(t, source); !slices.Equal(got, want[:count]) {
				t.Errorf("%d samples are not the first of %d", count, len(want))
			}
		}
	}
	if slices.Equal(texts(t, Samples(Tiny, 8, 10)), want[:10]) {
		t.Error("seeds 7 and 8 give the same samples")
	}
}

func TestSamplesAreGenotypes(t *testing.T) {
	for _, scale := range []Scale{Tiny, Yeast} {
		deletable := deletableGenes(scale, 3)
		if len(deletable) != scale.genes-scale.essential || !slices.IsSorted(deletable) {
			t.Errorf("%s: %d deletable genes, want %d, ascending", scale.Name, len(deletable), scale.genes-scale.essential)
		}
		deleted := make(map[uint32]bool)
		_, err := sets.Read(Samples(scale, 3, 50_000), func(batch *ingest.Samples) error {
			for i := range batch.Len() {
				genes := batch.Genes(i)
				if len(genes) < 2 || len(genes) > 3 {
					t.Fatalf("%s, sample %s deletes %d genes, want 2 or 3", scale.Name, batch.ID(i), len(genes))
				}
				for j, gene := range genes {
					deleted[gene] = true
					if j > 0 && genes[j-1] >= gene {
						t.Fatalf("%s, sample %s: genes %v are not ascending", scale.Name, batch.ID(i), genes)
					}
				}
				if fitness := batch.Phenotypes(i)[0]; !(fitness >= 0.2 && fitness <= 1.1) {
					t.Fatalf("%s, sample %s: fitness %g is outside [0.2, 1.1]", scale.Name, batch.ID(i), fitness)
				}
				if value := batch.Phenotypes(i)[1]; value < -0.4 || value > 0.2 {
					t.Fatalf("%s, sample %s: interaction %g is outside [-0.4, 0.2]", scale.Name, batch.ID(i), value)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		// 50,000 samples hit each of 5,507 genes 26 times on average.
		if len(deleted) != len(deletable) {
			t.Errorf("%s: %d genes are ever deleted, want %d", scale.Name, len(deleted), len(deletable))
		}
	}
}

func TestScanStopsAtTheFirstErrorOfYield(t *testing.T) {
	stop := errors.New("stop")
	calls := 0
	counts, err := sets.Read(Samples(Tiny, 0, 10*batchSize), func(*ingest.Samples) error {
		if calls++; calls == 2 {
			return stop
		}
		return nil
	})
	if err != stop || calls != 2 || counts.Kept != 2*batchSize {
		t.Errorf("Scan returned %+v, %v after %d calls; want %d samples, %v, 2 calls", counts, err, calls, 2*batchSize, stop)
	}
}

func BenchmarkGraph(b *testing.B) {
	for _, scale := range []Scale{Tiny, Yeast} {
		b.Run("scale="+scale.Name, func(b *testing.B) {
			edges := 0
			for _, n := range scale.networks {
				edges += n.edges
			}
			b.SetBytes(int64(8 * edges))
			for b.Loop() {
				Graph(scale, 0)
			}
		})
	}
}

func BenchmarkSamples(b *testing.B) {
	source := Samples(Yeast, 0, 100*batchSize)
	b.SetBytes(100 * batchSize * (6 + 3*4 + 2*8)) // id, genes and phenotypes of each
	for b.Loop() {
		if _, err := sets.ReadAll(source); err != nil {
			b.Fatal(err)
		}
	}
}
