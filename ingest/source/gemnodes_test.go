package source

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
)

// reactionMasks computes which reactions of a model are alive in a graph of it.
type reactionMasks struct {
	remover   *incidence.Remover
	start     uint32 // of the reaction mask
	reactions []int  // per node its reaction's number in the model
	nodes     []int  // per reaction how many nodes it has
}

// newReactionMasks takes the whole reactions' ids in order.
func newReactionMasks(t *testing.T, graph *ingest.Graph, rule incidence.ReactionRule, ids []string) *reactionMasks {
	t.Helper()
	cache := incidence.Build(graph)
	rules, err := incidence.ReadRules(graph, rule)
	if err != nil {
		t.Fatal(err)
	}
	numbers := make(map[string]int)
	for number, id := range ids {
		numbers[id] = number
	}
	m := &reactionMasks{remover: incidence.NewRemover(graph, cache, rules), start: uint32(graph.Genes.Len()), nodes: make([]int, len(ids))}
	origins := graph.Reactions.Column("reaction")
	if origins == nil {
		origins = graph.Reactions.IDs
	}
	for _, origin := range origins {
		m.reactions = append(m.reactions, numbers[origin])
		m.nodes[numbers[origin]]++
	}
	return m
}

// alive returns, per reaction, how many of its nodes are left.
func (m *reactionMasks) alive(genes []uint32) []int {
	left := slices.Clone(m.nodes)
	for _, position := range m.remover.Removed(genes) {
		if position >= m.start && position < m.start+uint32(len(m.reactions)) {
			left[m.reactions[position-m.start]]--
		}
	}
	return left
}

// TestCombinationsAreTheRule proves on yeast-GEM that a reaction is alive under its gpr rule if and
// only if one of its combination nodes is alive under the rule that needs all genes: for every
// single deletion, and 10,000 random multiple ones.
func TestCombinationsAreTheRule(t *testing.T) {
	spec := yeastSpec(t)
	spec.Edges = nil
	whole, _, err := BuildGraph(opened(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.GEM.ReactionNodes = Combinations
	expanded, report, err := BuildGraph(opened(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	checkAccounts(t, report)
	// torchcell's own sizes of these three
	if n, gpr, rmr := expanded.Reactions.Len(), expanded.EdgesOf(ingest.GPR).Len(), expanded.EdgesOf(ingest.RMR).Len(); n != 7_122 || gpr != 5_450 || rmr != 26_325 {
		t.Errorf("%d nodes, %d gpr and %d rmr edges; want 7122, 5450, 26325", n, gpr, rmr)
	}

	byRule, byAll := newReactionMasks(t, whole, incidence.RuleGPR, whole.Reactions.IDs), newReactionMasks(t, expanded, incidence.RuleAll, whole.Reactions.IDs)
	died, partly := 0, 0
	check := func(genes []uint32) {
		t.Helper()
		want, got := byRule.alive(genes), byAll.alive(genes)
		for number, id := range whole.Reactions.IDs {
			if (want[number] > 0) != (got[number] > 0) {
				t.Fatalf("without %v, reaction %s: alive by its rule %v, left of its nodes %d", genes, id, want[number] > 0, got[number])
			}
			if want[number] == 0 {
				died++
			} else if got[number] < byAll.nodes[number] {
				partly++
			}
		}
	}
	for g := range uint32(whole.Genes.Len()) {
		check([]uint32{g})
	}
	metabolic := slices.Compact(slices.Sorted(slices.Values(whole.EdgesOf(ingest.GPR).Src)))
	const seed = 7
	random := rand.New(rand.NewPCG(seed, 0))
	for range 10_000 {
		genes := make([]uint32, 2+random.IntN(60))
		for i := range genes {
			genes[i] = metabolic[random.IntN(len(metabolic))]
		}
		slices.Sort(genes)
		check(slices.Compact(genes))
	}
	if died == 0 || partly == 0 {
		t.Errorf("%d reactions died and %d lived on by fewer nodes, expected at least one of each", died, partly)
	}
	t.Logf("%d genotypes: %d reactions died, %d lived on by fewer nodes", whole.Genes.Len()+10_000, died, partly)
}
