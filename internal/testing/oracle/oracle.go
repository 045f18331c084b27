// Package oracle computes, in the simplest possible way, what a genotype removes from a cell graph.
// Tests compare the fast implementations with it; it shares no code with them.
package oracle

import (
	"regexp"
	"strings"

	"tcbuild/ingest"
)

// Removed returns the positions of the mask space that a genotype removes,
// ascending. It asks of every node and every edge whether the rules of
// docs/concepts.md (Masks) remove it. byRule chooses the reaction rule "gpr" over "all".
func Removed(graph *ingest.Graph, genotype []uint32, byRule bool) []uint32 {
	genes := make(map[uint32]bool)
	for _, gene := range genotype {
		genes[gene] = true
	}
	reactions := make(map[uint32]bool)
	for reaction := range uint32(graph.Reactions.Len()) {
		if byRule {
			reactions[reaction] = ruleFails(graph, reaction, genes)
		} else {
			reactions[reaction] = losesGene(graph, reaction, genes)
		}
	}

	var removed []uint32
	position := uint32(0)
	next := func(isRemoved bool) {
		if isRemoved {
			removed = append(removed, position)
		}
		position++
	}
	for gene := range uint32(graph.Genes.Len()) {
		next(genes[gene])
	}
	for reaction := range uint32(graph.Reactions.Len()) {
		next(reactions[reaction])
	}
	for range nodesThatStay(graph) {
		next(false)
	}
	gone := map[string]map[uint32]bool{"gene": genes, "reaction": reactions}
	for _, edges := range graph.Edges {
		for i := range edges.Len() {
			next(gone[edges.Type.Source][edges.Src[i]] || gone[targetThatCounts(edges)][edges.Dst[i]])
		}
	}
	return removed
}

func nodesThatStay(graph *ingest.Graph) int {
	count := graph.Metabolites.Len()
	for _, nodes := range graph.Others {
		count += nodes.Len()
	}
	return count
}

// targetThatCounts is the node type of the targets with which edges go.
func targetThatCounts(edges *ingest.Edges) string {
	switch edges.Type.String() {
	case "gene__gpr__reaction":
		return "" // its reaction may be gone because another gene is missing
	case "metabolite__reaction__metabolite":
		return "reaction" // a hyperedge
	}
	return edges.Type.Target
}

// Row lists, ascending, the positions of the mask space that go with a gene or reaction: its own,
// and those of its edges.
func Row(graph *ingest.Graph, nodeType string, node uint32) []uint32 {
	positions := []uint32{node}
	if nodeType == "reaction" {
		positions[0] += uint32(graph.Genes.Len())
	}
	position := uint32(graph.Genes.Len() + graph.Reactions.Len() + nodesThatStay(graph))
	for _, edges := range graph.Edges {
		for i := range edges.Len() {
			if edges.Type.Source == nodeType && edges.Src[i] == node || targetThatCounts(edges) == nodeType && edges.Dst[i] == node {
				positions = append(positions, position)
			}
			position++
		}
	}
	return positions
}

// losesGene reports whether one of a reaction's genes is deleted.
func losesGene(graph *ingest.Graph, reaction uint32, deleted map[uint32]bool) bool {
	for _, edges := range graph.Edges {
		if edges.Type.String() != "gene__gpr__reaction" {
			continue
		}
		for i := range edges.Len() {
			if edges.Dst[i] == reaction && deleted[edges.Src[i]] {
				return true
			}
		}
	}
	return false
}

// ruleFails reports whether a reaction has a rule, and it is false.
func ruleFails(graph *ingest.Graph, reaction uint32, deleted map[uint32]bool) bool {
	for _, column := range graph.Reactions.Columns {
		if column.Name != "gpr" || column.Values.IsNull(int(reaction)) {
			continue
		}
		if rule := column.Values.ValueStr(int(reaction)); strings.TrimSpace(rule) != "" {
			return !holds(graph, rule, deleted)
		}
	}
	return false
}

var innermost = regexp.MustCompile(`\(([^()]*)\)`)

// holds evaluates a rule by rewriting its text: the innermost parentheses
// become TRUE or FALSE until none is left. Gene names contain no spaces.
func holds(graph *ingest.Graph, rule string, deleted map[uint32]bool) bool {
	for innermost.MatchString(rule) {
		rule = innermost.ReplaceAllStringFunc(rule, func(group string) string {
			if anyHolds(graph, strings.Trim(group, "()"), deleted) {
				return "TRUE"
			}
			return "FALSE"
		})
	}
	return anyHolds(graph, rule, deleted)
}

// anyHolds evaluates a rule without parentheses.
func anyHolds(graph *ingest.Graph, rule string, deleted map[uint32]bool) bool {
	for _, complex := range strings.Split(rule, " or ") {
		all := true
		for _, name := range strings.Split(complex, " and ") {
			name = strings.TrimSpace(name)
			for gene, id := range graph.Genes.IDs {
				if id == name && deleted[uint32(gene)] {
					name = "FALSE"
				}
			}
			all = all && name != "FALSE"
		}
		if all {
			return true
		}
	}
	return false
}
