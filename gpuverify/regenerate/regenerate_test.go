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
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/oracle"
	"tcbuild/internal/testing/testrun"
)

var reactionRules = []incidence.ReactionRule{incidence.RuleAll, incidence.RuleGPR}

func newTestRules(t testing.TB, graph *ingest.Graph, rule incidence.ReactionRule) *Rules {
	t.Helper()
	rules, err := NewRules(graph, rule == incidence.RuleGPR)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// Both methods give what the oracle gives, for graphs of every shape; by edges for batches of every
// size.
func TestMethodsAreTheOracles(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	graphs := []*ingest.Graph{synth.Graph(synth.Tiny, 1)}
	for range testrun.Cases(60, 15) {
		graphs = append(graphs, oracle.Graph(r))
	}
	for number, graph := range graphs {
		for _, rule := range reactionRules {
			rules := newTestRules(t, graph, rule)
			look, scatter := NewLooker(rules), NewScatterer(rules, NewIncidence(rules))
			for _, size := range []int{0, 1, 2, 64, 65, BatchSamples} {
				var genotypes, want [][]uint32
				for k := range size {
					genotypes = append(genotypes, oracle.Genotype(r, graph, k%17))
					want = append(want, oracle.Removed(graph, genotypes[k], rule == incidence.RuleGPR))
				}
				byEdges := look.Regenerate(genotypes)
				if len(byEdges) != size {
					t.Fatalf("seed %d, graph %d: %d results for %d genotypes", seed, number, len(byEdges), size)
				}
				for k := range size {
					where := fmt.Sprintf("seed %d, graph %d, rule %s, genotype %d (%d of %d)", seed, number, rule, genotypes[k], k, size)
					if !slices.Equal(byEdges[k], want[k]) {
						t.Fatalf("%s: by edges %d, want %d", where, byEdges[k], want[k])
					}
					scatter.Regenerate(genotypes[k])
					if !scatter.Equals(want[k]) || !slices.Equal(scatter.Sorted(), want[k]) {
						t.Fatalf("%s: by incidence %d, want %d", where, scatter.Sorted(), want[k])
					}
				}
			}
		}
	}
}

// A Scatterer tells what it regenerated from lists that lack a position, have one more or another.
func TestScattererEquals(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	for range 60 {
		graph := oracle.Graph(r)
		rules := newTestRules(t, graph, incidence.RuleAll)
		scatter := NewScatterer(rules, NewIncidence(rules))
		genes := oracle.Genotype(r, graph, 2)
		right := oracle.Removed(graph, genes, false)
		scatter.Regenerate(genes)
		for position := range uint32(rules.Size) {
			at, found := slices.BinarySearch(right, position)
			wrong := slices.Insert(slices.Clone(right), at, position)
			if found {
				wrong = slices.Delete(slices.Clone(right), at, at+1)
			} else if at > 0 {
				other := slices.Clone(right)
				if other[at-1] = position; scatter.Equals(other) {
					t.Errorf("removed are %d, and %d seems equal", right, other)
				}
			}
			if scatter.Equals(wrong) {
				t.Errorf("removed are %d, and %d seems equal", right, wrong)
			}
		}
		if !scatter.Equals(right) {
			t.Errorf("genotype %d: removed are %d, and %d does not seem equal", genes, scatter.Sorted(), right)
		}
	}
}

func TestUnreadableRule(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A"}, nil)
	reactions, _ := ingest.NewNodes(ingest.Reaction, []string{"R0", "R1"}, []ingest.Column{ingest.TextColumn("gpr", []string{"A", "A and"})})
	metabolites, _ := ingest.NewNodes(ingest.Metabolite, nil, nil)
	graph := &ingest.Graph{Genes: genes, Reactions: reactions, Metabolites: metabolites}
	newTestRules(t, graph, incidence.RuleAll) // reads no rules
	_, err := NewRules(graph, true)
	if err == nil || !strings.HasPrefix(err.Error(), "gpr rule of reaction R1: ") || fault.KindOf(err) != fault.Input {
		t.Errorf("error %v (kind %d), want a fault.Input that names reaction R1", err, fault.KindOf(err))
	}
}
