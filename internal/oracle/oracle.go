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
// docs/DESIGN.md (Masks) remove it. byRule chooses the reaction rule "gpr" over "all".
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
	for range graph.Metabolites.Len() {
		next(false)
	}
	for _, edges := range graph.Edges {
		name := edges.Type.String()
		for i := range edges.Len() {
			switch name {
			case "gene__gpr__reaction":
				next(genes[edges.Src[i]])
			case "reaction__rmr__metabolite":
				next(reactions[edges.Src[i]])
			default:
				next(genes[edges.Src[i]] || genes[edges.Dst[i]])
			}
		}
	}
	return removed
}

// Touching lists the edges of a node, ascending: of a gene-gene edge type those with the gene at
// either end, of others those that start at the node.
func Touching(edges *ingest.Edges, node uint32) []uint32 {
	positions := []uint32{}
	for i := range edges.Len() {
		if edges.Src[i] == node || edges.Type.Target == ingest.Gene && edges.Dst[i] == node {
			positions = append(positions, uint32(i))
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
// become TRUE or FALSE until none is left. Gene names contain no blanks.
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
