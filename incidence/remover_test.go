package incidence_test

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
	"tcbuild/internal/testing/sets"
)

var reactionRules = []incidence.ReactionRule{incidence.RuleAll, incidence.RuleGPR}

func newRemover(t testing.TB, graph *ingest.Graph, rule incidence.ReactionRule) *incidence.Remover {
	t.Helper()
	rules, err := incidence.ReadRules(graph, rule)
	if err != nil {
		t.Fatal(err)
	}
	return incidence.NewRemover(graph, incidence.Build(graph), rules)
}

// checkRemoved holds one genotype against the oracle.
func checkRemoved(t *testing.T, remover *incidence.Remover, graph *ingest.Graph, genotype []uint32, rule incidence.ReactionRule) {
	t.Helper()
	want := oracle.Removed(graph, genotype, rule == incidence.RuleGPR)
	if got := remover.Removed(genotype); !slices.Equal(got, want) {
		t.Fatalf("rule %s, genotype %d: removed %d, want %d", rule, genotype, got, want)
	}
}

// Graphs of every shape, genotypes of 0 to 16 genes and of all genes; one Remover for many
// genotypes.
func TestRemovedIsTheOracles(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	for number := range 300 {
		graph := oracle.Graph(r)
		for _, rule := range reactionRules {
			remover := newRemover(t, graph, rule)
			for count := range 17 {
				checkRemoved(t, remover, graph, oracle.Genotype(r, graph, count), rule)
			}
			checkRemoved(t, remover.Clone(), graph, oracle.Genotype(r, graph, graph.Genes.Len()), rule)
		}
		if t.Failed() {
			t.Fatalf("seed %d, graph %d", seed, number)
		}
	}
}

func TestRemovedOfSynthIsTheOracles(t *testing.T) {
	graph := synth.Graph(synth.Tiny, 1)
	for _, rule := range reactionRules {
		remover := newRemover(t, graph, rule)
		_, err := sets.Read(synth.Samples(synth.Tiny, 1, 50), func(samples *ingest.Samples) error {
			for i := range samples.Len() {
				checkRemoved(t, remover, graph, samples.Genes(i), rule)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A clone and its original may work at the same time; run with -race.
func TestClonesShareNoScratch(t *testing.T) {
	graph := synth.Graph(synth.Tiny, 1)
	for _, rule := range reactionRules {
		original := newRemover(t, graph, rule)
		failures := make(chan string)
		for worker := range 4 {
			remover := original.Clone()
			go func() {
				r := rand.New(rand.NewPCG(uint64(worker), 0))
				for range 100 {
					genotype := oracle.Genotype(r, graph, 5)
					got, want := remover.Removed(genotype), oracle.Removed(graph, genotype, rule == incidence.RuleGPR)
					if !slices.Equal(got, want) {
						failures <- fmt.Sprintf("rule %s, genotype %d: removed %d, want %d", rule, genotype, got, want)
						return
					}
				}
				failures <- ""
			}()
		}
		for range 4 {
			if failure := <-failures; failure != "" {
				t.Error(failure)
			}
		}
	}
}

func TestUnreadableRule(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A"}, nil)
	reactions, _ := ingest.NewNodes(ingest.Reaction, []string{"R0", "R1"}, []ingest.Column{ingest.TextColumn("gpr", []string{"A", "(A or"})})
	metabolites, _ := ingest.NewNodes(ingest.Metabolite, nil, nil)
	graph := &ingest.Graph{Genes: genes, Reactions: reactions, Metabolites: metabolites}
	if _, err := incidence.ReadRules(graph, incidence.RuleAll); err != nil {
		t.Errorf("rule all reads no rules, but: %v", err)
	}
	_, err := incidence.ReadRules(graph, incidence.RuleGPR)
	if err == nil || !strings.HasPrefix(err.Error(), `row 1: gpr rule of reaction "R1": `) || fault.KindOf(err) != fault.Input {
		t.Errorf("error %v (kind %d), want a fault.Input that names reaction R1", err, fault.KindOf(err))
	}
}
