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
	"tcbuild/internal/oracle"
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
	for range 60 {
		graphs = append(graphs, oracle.Graph(r))
	}
	for number, graph := range graphs {
		for _, rule := range reactionRules {
			rules := newTestRules(t, graph, rule)
			look, scatter := NewLooker(rules), NewScatterer(rules, NewIncidence(rules))
			for _, size := range []int{0, 1, 2, 63, 64} {
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
					scatter.Reset()
				}
			}
		}
	}
}

func TestMaskBuffer(t *testing.T) {
	b := NewMaskBuffer(6)
	for _, position := range []int{4, 1, 4} {
		b.Remove(position)
	}
	for _, test := range []struct {
		removed []uint32
		want    bool
	}{
		{[]uint32{1, 4}, true},
		{[]uint32{1}, false},
		{[]uint32{1, 3}, false},
		{[]uint32{1, 4, 5}, false},
		{nil, false},
	} {
		if got := b.Equals(test.removed); got != test.want {
			t.Errorf("equals(%d) is %v, want %v", test.removed, got, test.want)
		}
	}
	if got := b.Sorted(); !slices.Equal(got, []uint32{1, 4}) || !slices.Equal(b.Masks, []byte{1, 0, 1, 1, 0, 1}) {
		t.Errorf("removed %d, masks %d", got, b.Masks)
	}
	b.Reset()
	if !b.Equals(nil) || !slices.Equal(b.Masks, []byte{1, 1, 1, 1, 1, 1}) {
		t.Errorf("after reset masks are %d", b.Masks)
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
