package build

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/models"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

// reactionMasks computes which reactions of a model are alive in a graph of it.
type reactionMasks struct {
	remover   *incidence.Remover
	start     uint32 // of the reaction mask
	reactions []int  // per node its reaction's number in the model
	nodes     []int  // per reaction how many nodes it has
}

// newReactionMasks takes the whole reactions' ids in order.
func newReactionMasks(
	t *testing.T, graph *ingest.Graph, rule incidence.ReactionRule, ids []string,
) *reactionMasks {
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
	m := &reactionMasks{
		remover: incidence.NewRemover(graph, cache, rules),
		start:   uint32(graph.Genes.Len()),
		nodes:   make([]int, len(ids)),
	}
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
	whole, _, err := Graph(inputs.Opened(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.GEM.ReactionNodes = models.Combinations
	expanded, report, err := Graph(inputs.Opened(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	check.Accounts(t, report)
	// torchcell's own sizes of these three
	sizes := [...]int{
		expanded.Reactions.Len(),
		expanded.EdgesOf(ingest.GPR).Len(),
		expanded.EdgesOf(ingest.RMR).Len(),
	}
	if want := [...]int{7_122, 5_450, 26_325}; sizes != want {
		t.Errorf("%d nodes, gpr and rmr edges; want %d", sizes, want)
	}

	byRule := newReactionMasks(t, whole, incidence.RuleGPR, whole.Reactions.IDs)
	byAll := newReactionMasks(t, expanded, incidence.RuleAll, whole.Reactions.IDs)
	died, partly := 0, 0
	check := func(genes []uint32) {
		t.Helper()
		want, got := byRule.alive(genes), byAll.alive(genes)
		for number, id := range whole.Reactions.IDs {
			if (want[number] > 0) != (got[number] > 0) {
				t.Fatalf("without %v, reaction %s: alive by its rule %v, left of its nodes %d",
					genes, id, want[number] > 0, got[number])
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
		t.Errorf("%d reactions died and %d lived on by fewer nodes, expected at least one of each",
			died, partly)
	}
	t.Logf("%d genotypes: %d reactions died, %d lived on by fewer nodes", whole.Genes.Len()+10_000,
		died, partly)
}

func TestGEMNamesAreResolved(t *testing.T) {
	spec := Spec{
		Genes: genesNamed(t, "YA", "YB", "YC"),
		Aliases: sgdAliases(t,
			inputs.WriteSGD(t, "ORF YA STDA -", "ORF YB - TWO", "ORF YC - TWO")),
		UnknownGenes: ingest.DropGene,
		GEM: models.Spec{
			File: inputs.Write(t, "m.yml", modelText("(STDA and TWO) OR YB or none", "")),
		},
	}
	g, report, err := Graph(inputs.Opened(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	check.Accounts(t, report)
	rule := g.Reactions.Column("gpr")[0]
	edges := check.EdgeText(g.EdgesOf(ingest.GPR), g.Genes, g.Reactions)
	if rule != "(YA and TWO) or YB or none" || edges != "YA-r1 YB-r1" {
		t.Errorf("rule %s, edges %s", rule, edges)
	}
	const want = "gene__gpr__reaction: 2 of 4 entries of m.yml; dropped: 1 of unknown genes, " +
		"which the rules keep, " +
		"1 of ambiguous names, which the rules keep; unknown names: TWO, none"
	if got := check.AccountOf(t, report, ingest.GPR.String()).String(); got != want {
		t.Errorf("report\n%s\nwant\n%s", got, want)
	}
}

func TestCombinations(t *testing.T) {
	g, report, err := Graph(inputs.Opened(t), Spec{
		Genes: genesNamed(t, "A", "C-D"),
		GEM:   models.Spec{File: "testdata/small.xml", ReactionNodes: models.Combinations},
	})
	if err != nil {
		t.Fatal(err)
	}
	check.Accounts(t, report)
	var got strings.Builder
	for i, id := range g.Reactions.IDs {
		fmt.Fprintf(&got, "%s of %s: %s [%v %v]\n", id, g.Reactions.Column("reaction")[i],
			g.Reactions.Column("gpr")[i], check.Numbers(g.Reactions.Columns[2])[i],
			check.Numbers(g.Reactions.Columns[3])[i])
	}
	const want = `r1_comb0_fwd of r1: C-D and A [0 1000]
r1_comb0_rev of r1: C-D and A [0 1000]
r1_comb1_fwd of r1: A [0 1000]
r1_comb1_rev of r1: A [0 1000]
r2_noGene_fwd of r2:  [0 1000]
`
	if got.String() != want {
		t.Errorf("nodes\n%swant\n%s", got.String(), want)
	}
	const rules = "C-D-r1_comb0_fwd A-r1_comb0_fwd C-D-r1_comb0_rev A-r1_comb0_rev " +
		"A-r1_comb1_fwd A-r1_comb1_rev"
	if got := check.EdgeText(g.EdgesOf(ingest.GPR), g.Genes, g.Reactions); got != rules {
		t.Errorf("gpr edges %s", got)
	}
	const first = "r1_comb0_fwd-m2:-0.5 r1_comb0_fwd-m1:2.5 " +
		"r1_comb0_rev-m2:0.5 r1_comb0_rev-m1:-2.5 "
	stoichiometry := check.EdgeText(g.EdgesOf(ingest.RMR), g.Reactions, g.Metabolites)
	if !strings.HasPrefix(stoichiometry, first) {
		t.Errorf("rmr edges %s", stoichiometry)
	}
	const line = "reactions: 2 of 2 entries of small.xml; noted: 5 nodes, one per combination of " +
		"genes and direction"
	if got := check.AccountOf(t, report, "reactions").String(); got != line {
		t.Errorf("report %s", got)
	}
	_, _, err = Graph(inputs.Opened(t),
		Spec{Genes: genesNamed(t, "A"), GEM: models.Spec{File: "f", ReactionNodes: "edges"}})
	check.Fault(t, err, fault.Usage, "gem.reaction_nodes", `"edges"`)
	pairs := make([]string, 40)
	for i := range pairs {
		pairs[i] = fmt.Sprintf("(A%d or B%d)", i, i)
	}
	wide := modelText(strings.Join(pairs, " and "))
	_, _, err = Graph(inputs.Opened(t), Spec{
		Genes:        genesNamed(t, "A"),
		UnknownGenes: ingest.DropGene,
		GEM: models.Spec{
			File: inputs.Write(t, "m.yml", wide), ReactionNodes: models.Combinations,
		},
	})
	check.Fault(t, err, fault.Input, "m.yml:4", "reaction r1", "10000")
}
