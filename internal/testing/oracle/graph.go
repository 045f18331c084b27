package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"tcbuild/ingest"
)

// Graph makes a small random graph: 1 to 24 genes, some isolated; no to three gene-gene edge types
// with self loops and duplicates, some without edges; with or without a metabolic part, whose
// reactions have nested rules, some naming genes that are not in the graph, or none; with or
// without nodes of two further types; and edge types between any two node types.
func Graph(r *rand.Rand) *ingest.Graph {
	graph := &ingest.Graph{Genes: nodes(ingest.Gene, "G", 1+r.IntN(24))}
	for _, relation := range []string{"physical", "regulatory", "zz__last"}[:r.IntN(4)] {
		addEdges(r, graph, ingest.EdgeType{Source: ingest.Gene, Relation: relation, Target: ingest.Gene}, r.IntN(200))
	}
	if r.IntN(4) > 0 {
		addMetabolism(r, graph)
	}
	if r.IntN(2) > 0 {
		addFurther(r, graph)
	}
	graph.Sort()
	return graph
}

func addMetabolism(r *rand.Rand, graph *ingest.Graph) {
	graph.Reactions = nodes(ingest.Reaction, "R", r.IntN(9))
	graph.Metabolites = nodes(ingest.Metabolite, "M", r.IntN(5))
	if r.IntN(4) > 0 {
		rules := make([]string, graph.Reactions.Len())
		for i := range rules {
			if r.IntN(4) > 0 {
				rules[i] = rule(r, graph.Genes.Len(), 3)
			}
		}
		graph.Reactions.Columns = []ingest.Column{ingest.TextColumn("gpr", rules)}
	}
	for _, edgeType := range []ingest.EdgeType{ingest.GPR, ingest.RMR} {
		if r.IntN(8) > 0 {
			addEdges(r, graph, edgeType, r.IntN(25))
		}
	}
}

func addFurther(r *rand.Rand, graph *ingest.Graph) {
	for _, nodeType := range []string{"protein", "gene_ontology"}[:r.IntN(3)] {
		graph.Others = append(graph.Others, nodes(nodeType, "N", r.IntN(9)))
	}
	tables := graph.NodeTables()
	for relation := range r.IntN(6) {
		source, target := tables[r.IntN(len(tables))], tables[r.IntN(len(tables))]
		addEdges(r, graph, ingest.EdgeType{Source: source.Type, Relation: fmt.Sprint("further", relation), Target: target.Type}, r.IntN(25))
	}
	if graph.Metabolites != nil && r.IntN(2) > 0 {
		addEdges(r, graph, ingest.MRM, r.IntN(25))
	}
}

func nodes(nodeType, prefix string, count int) *ingest.Nodes {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprint(prefix, i)
	}
	table, _ := ingest.NewNodes(nodeType, ids, nil)
	return table
}

func addEdges(r *rand.Rand, graph *ingest.Graph, edgeType ingest.EdgeType, count int) {
	edges := &ingest.Edges{Type: edgeType, Src: []uint32{}, Dst: []uint32{}}
	sources, targets := graph.Ends(edgeType)
	if sources.Len() > 0 && targets.Len() > 0 {
		for range count {
			edges.Src = append(edges.Src, uint32(r.IntN(sources.Len())))
			edges.Dst = append(edges.Dst, uint32(r.IntN(targets.Len())))
		}
	}
	graph.Edges = append(graph.Edges, edges)
}

// rule makes a rule of at most the given depth. About one name in 25 is not a gene of the graph.
func rule(r *rand.Rand, genes, depth int) string {
	if depth == 0 || r.IntN(3) == 0 {
		return fmt.Sprint("G", r.IntN(genes+1))
	}
	text := rule(r, genes, depth-1)
	for range 1 + r.IntN(2) {
		text += []string{" and ", " or "}[r.IntN(2)] + rule(r, genes, depth-1)
	}
	if r.IntN(3) > 0 {
		text = "(" + text + ")"
	}
	return text
}

// Genotype draws at most count genes of the graph, ascending.
func Genotype(r *rand.Rand, graph *ingest.Graph, count int) []uint32 {
	genotype := []uint32{}
	for _, gene := range r.Perm(graph.Genes.Len())[:min(count, graph.Genes.Len())] {
		genotype = append(genotype, uint32(gene))
	}
	slices.Sort(genotype)
	return genotype
}
