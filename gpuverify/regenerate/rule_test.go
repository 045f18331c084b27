package regenerate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
	"tcbuild/internal/testing/testrun"
)

func TestParseRule(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B", "C", "YAL038W-A"}, nil)
	for _, test := range []struct {
		text string
		want postfix
	}{
		{"", nil},
		{" \t\u00a0\u2003", nil},
		{"A", postfix{0}},
		{"X", postfix{absent}},
		{"((B))", postfix{1}},
		{"YAL038W-A", postfix{3}},
		{"A and B", postfix{0, 1, and}},
		{"A or B and C", postfix{0, 1, 2, and, or}},
		{"A and B or C", postfix{0, 1, and, 2, or}},
		{"(A or B) and C", postfix{0, 1, or, 2, and}},
		{"A and (B or C and X)", postfix{0, 1, 2, absent, and, or, and}},
		{"A OR B Or C", postfix{0, 1, or, 2, or}},
		{"A&B&&C|X||A", postfix{0, 1, and, 2, and, absent, or, 0, or}},
		{"(A)and(B)", postfix{0, 1, and}},
		{"A\u00a0or\u2028B", postfix{0, 1, or}},
		{strings.Repeat("(", 5000) + "A" + strings.Repeat(")", 5000), postfix{0}},
	} {
		if got, err := parseRule(test.text, genes); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%.50q: got %d, error %v, want %d", test.text, got, err, test.want)
		}
	}
	for _, text := range []string{"and", "A and", "or A", "A B", "A (B)", "(A) B", "(", ")", "()", "(A", "A)", "A or or B", "A &&& B", "A and )", ") A (", "(A or) B"} {
		if got, err := parseRule(text, genes); fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("%q: got %d, error %v", text, got, err)
		}
	}
}

// The builder's and the verifier's parsers take the same texts, and give them the same meaning:
// both methods find what the builder removes, for batches of genotypes in any order.
func TestRulesAreTheBuilders(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B", "C", "D"}, nil)
	pieces := []string{"A", "B", "C", "D", "X", " and ", " or ", "&", "||", "(", ")", " ", " AND ", "A or B", "(C and D)", "\u0085"}
	var texts []string
	tries := testrun.Cases(200_000, 20_000)
	for range tries {
		var text string
		for range r.IntN(9) {
			text += pieces[r.IntN(len(pieces))]
		}
		_, buildErr := gpr.Parse(text)
		_, err := parseRule(text, genes)
		if (err == nil) != (buildErr == nil) {
			t.Fatalf("seed %d: %q: error %v, the builder's %v", seed, text, err, buildErr)
		}
		if err == nil {
			texts = append(texts, text)
		}
	}
	if len(texts) < tries/20 {
		t.Fatalf("only %d valid rules", len(texts))
	}
	ids := make([]string, len(texts))
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	graph := &ingest.Graph{Genes: genes}
	graph.Reactions, _ = ingest.NewNodes(ingest.Reaction, ids, []ingest.Column{ingest.TextColumn("gpr", texts)})
	builders, err := incidence.ReadRules(graph, incidence.RuleGPR)
	if err != nil {
		t.Fatal(err)
	}
	var genotypes, want [][]uint32
	remover := incidence.NewRemover(graph, incidence.Build(graph), builders)
	for range 3 {
		for _, deleted := range r.Perm(1 << genes.Len()) {
			var genotype []uint32
			for gene := range uint32(genes.Len()) {
				if deleted>>gene&1 != 0 {
					genotype = append(genotype, gene)
				}
			}
			genotypes = append(genotypes, genotype)
			want = append(want, slices.Clone(remover.Removed(genotype)))
		}
	}
	rules := newTestRules(t, graph, incidence.RuleGPR)
	scatter := NewScatterer(rules, NewIncidence(rules))
	for k, got := range NewLooker(rules).Regenerate(genotypes) {
		scatter.Regenerate(genotypes[k])
		for method, removed := range map[string][]uint32{"by edges": got, "by incidence": scatter.Sorted()} {
			if !slices.Equal(removed, want[k]) {
				t.Fatalf("seed %d, without genes %d: %s %d, the builder removes %d", seed, genotypes[k], method, removed, want[k])
			}
		}
	}
}
