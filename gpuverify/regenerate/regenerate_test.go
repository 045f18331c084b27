package regenerate

import (
	"fmt"
	"math/rand/v2"
	"reflect"
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

// Every node's list is what a look at every edge finds.
func TestIncidence(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	for graphNumber := range 100 {
		graph := oracle.Graph(r)
		rules := newTestRules(t, graph, incidence.RuleAll)
		incidence := NewIncidence(rules)
		if rows := len(incidence.Offsets) - 1; rows != rules.nodes() {
			t.Fatalf("seed %d, graph %d: %d rows of %d nodes", seed, graphNumber, rows, rules.nodes())
		}
		genes := graph.Genes.Len()
		for node := range uint32(rules.nodes()) {
			nodeType, number := ingest.Gene, node
			if node >= uint32(genes) {
				nodeType, number = ingest.Reaction, node-uint32(genes)
			}
			if want := oracle.Row(graph, nodeType, number); !slices.Equal(incidence.Row(node), want) {
				t.Fatalf("seed %d, graph %d, %s %d: positions %d, want %d", seed, graphNumber, nodeType, number, incidence.Row(node), want)
			}
		}
	}
}

// The masks are in the order of docs/FORMAT.md, whatever the order of the graph's edge tables.
func TestSpace(t *testing.T) {
	nodes := func(nodeType string, ids ...string) *ingest.Nodes {
		table, _ := ingest.NewNodes(nodeType, ids, nil)
		return table
	}
	edges := func(name string, count int) *ingest.Edges {
		edgeType, err := ingest.ParseEdgeType(name)
		if err != nil {
			t.Fatal(err)
		}
		return &ingest.Edges{Type: edgeType, Src: make([]uint32, count), Dst: make([]uint32, count)}
	}
	source, both := []string{"source"}, []string{"source", "target"}
	for _, test := range []struct {
		graph *ingest.Graph
		want  []Mask
	}{
		{&ingest.Graph{Genes: nodes("gene", "A", "B")}, []Mask{{"gene", 0, 2, nil}}},
		{
			&ingest.Graph{Genes: nodes("gene", "A"), Metabolites: nodes("metabolite", "m", "n"), Reactions: nodes("reaction"), Edges: []*ingest.Edges{
				edges("reaction__rmr__metabolite", 0), edges("gene__physical__gene", 3), edges("gene__Zeta__gene", 1), edges("gene__gpr__reaction", 2)}},
			[]Mask{{"gene", 0, 1, nil}, {"reaction", 1, 0, nil}, {"metabolite", 1, 2, nil}, {"gene__Zeta__gene", 3, 1, both}, {"gene__gpr__reaction", 4, 2, source},
				{"gene__physical__gene", 6, 3, both}, {"reaction__rmr__metabolite", 9, 0, both}},
		},
		{
			&ingest.Graph{Genes: nodes("gene", "A"), Metabolites: nodes("metabolite", "m"), Others: []*ingest.Nodes{nodes("protein", "P", "Q"), nodes("complex", "C")},
				Edges: []*ingest.Edges{edges("protein__in__complex", 2), edges("complex__of__gene", 1)}},
			[]Mask{{"gene", 0, 1, nil}, {"metabolite", 1, 1, nil}, {"complex", 2, 1, nil}, {"protein", 3, 2, nil}, {"complex__of__gene", 5, 1, both}, {"protein__in__complex", 6, 2, both}},
		},
	} {
		s := newSpace(test.graph)
		if !reflect.DeepEqual(s.Masks, test.want) {
			t.Errorf("got %v, want %v", s.Masks, test.want)
		}
		for i, m := range test.want {
			if s.Start[m.Name] != m.Start {
				t.Errorf("%s starts at %d, want %d", m.Name, s.Start[m.Name], m.Start)
			}
			for within := range m.Size {
				if number, at := s.At(m.Start + within); number != i || at != within {
					t.Errorf("position %d is %d of mask %d, want %d of %d", m.Start+within, at, number, within, i)
				}
			}
		}
	}
}
