package synth

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tcbuild/ingest"
)

var subsystems = []string{
	"amino acid metabolism", "central carbon metabolism", "cofactor metabolism", "exchange",
	"lipid metabolism", "nucleotide metabolism", "respiration", "transport",
}

// participants is the number of metabolites of a reaction, drawn uniformly: 20/7 on average.
var participants = []int{1, 2, 2, 2, 3, 4, 6}

// addMetabolism adds reactions, metabolites, and the edges gene -> reaction -> metabolite, each
// ascending by source, then target.
func addMetabolism(graph *ingest.Graph, scale Scale, seed uint64) {
	addReactions(graph, scale, newRandom(seed, "reactions"))
	addMetabolites(graph, scale, newRandom(seed, "metabolites"))
}

// addReactions draws reactions. 7 of 15 have a rule, with 1.67 genes on average. A reaction's gpr
// edges are the genes of its rule.
func addReactions(graph *ingest.Graph, scale Scale, r *random) {
	type edge struct{ gene, reaction uint32 }
	var edges []edge
	genes := newHubs(r.shuffled(scale.genes)[:scale.metabolic], scale.metabolic/20)
	rules := make([]string, scale.reactions)
	subsystem := make([]string, scale.reactions)
	ruled := 0
	for reaction := range rules {
		subsystem[reaction] = subsystems[r.below(len(subsystems))]
		if r.below(15) >= 7 {
			continue
		}
		rule, members := drawRule(r, ruled, genes, graph.Genes.IDs)
		ruled++
		rules[reaction] = rule
		for _, gene := range members {
			edges = append(edges, edge{gene, uint32(reaction)})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.gene, b.gene), cmp.Compare(a.reaction, b.reaction))
	})

	graph.Reactions = newNodes(ingest.Reaction, numbered("r_%04d", scale.reactions),
		[]ingest.Column{
			ingest.TextColumn("gpr", rules),
			ingest.TextColumn("subsystem", subsystem),
		})
	gpr := &ingest.Edges{Type: ingest.GPR, Src: make([]uint32, len(edges)),
		Dst: make([]uint32, len(edges))}
	for i, e := range edges {
		gpr.Src[i], gpr.Dst[i] = e.gene, e.reaction
	}
	graph.Edges = append(graph.Edges, gpr)
}

// drawRule returns the boolean rule number n of a graph and its genes, each once. Rules cycle
// through the kinds, so that a graph with few rules has most kinds.
func drawRule(r *random, n int, genes hubs, ids []string) (rule string, members []uint32) {
	names := func(count int) []string {
		members = genes.drawDistinct(r, count)
		texts := make([]string, count)
		for i, gene := range members {
			texts[i] = ids[gene]
		}
		return texts
	}
	switch kind := (86 + 61*n) % 100; {
	case kind < 68:
		rule = names(1)[0]
	case kind < 84: // isozymes
		rule = "(" + strings.Join(names(2+r.below(3)), " or ") + ")"
	case kind < 93: // a complex
		rule = "(" + strings.Join(names(2+r.below(3)), " and ") + ")"
	case kind < 97: // two complexes that share a subunit
		g := names(3)
		rule = fmt.Sprintf("((%s and %s) or (%s and %s))", g[0], g[1], g[0], g[2])
	default: // a complex of isozymes
		g := names(4)
		rule = fmt.Sprintf("((%s or %s) and (%s or %s))", g[0], g[1], g[2], g[3])
	}
	return rule, members
}

// addMetabolites draws the metabolites of each reaction. It uses the first half, rounded up
// (negative stoichiometry), and makes the rest.
func addMetabolites(graph *ingest.Graph, scale Scale, r *random) {
	metabolites := newHubs(r.shuffled(scale.metabolites), 5)
	rmr := &ingest.Edges{Type: ingest.RMR}
	var stoichiometry []float64
	for reaction := range uint32(scale.reactions) {
		drawn := metabolites.drawDistinct(r, participants[r.below(len(participants))])
		used := slices.Clone(drawn[:(len(drawn)+1)/2])
		slices.Sort(drawn)
		for _, metabolite := range drawn {
			amount := 1.0
			if r.below(8) == 0 {
				amount = 2
			}
			if slices.Contains(used, metabolite) {
				amount = -amount
			}
			rmr.Src = append(rmr.Src, reaction)
			rmr.Dst = append(rmr.Dst, metabolite)
			stoichiometry = append(stoichiometry, amount)
		}
	}
	rmr.Columns = []ingest.Column{ingest.NumberColumn("stoichiometry", stoichiometry)}
	graph.Metabolites = newNodes(ingest.Metabolite, numbered("s_%04d", scale.metabolites), nil)
	graph.Edges = append(graph.Edges, rmr)
}

// numbered returns count ids, numbered from 1.
func numbered(format string, count int) []string {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprintf(format, i+1)
	}
	return ids
}
