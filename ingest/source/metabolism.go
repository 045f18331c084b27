package source

import (
	"slices"

	"tcbuild/ingest"
	"tcbuild/internal/fault"
)

// addMetabolism adds the reactions, metabolites and their edges of a model to
// a graph. A reversible reaction is one node. Rules name genes by the ids of
// the gene list, as masks read them; the edges of a reaction are the genes of
// its rule, each once, in the order of first mention.
func addMetabolism(graph *ingest.Graph, path string) ([]SourceReport, error) {
	model, err := readGEM(path)
	if err != nil {
		return nil, err
	}
	graph.Metabolites = metaboliteNodes(model)
	graph.Reactions = reactionNodes(model)
	gprEdges, gprReport := geneEdges(model, graph.Genes)
	rmrEdges, err := metaboliteEdges(model, graph.Metabolites, path)
	if err != nil {
		return nil, err
	}
	graph.Edges = append(graph.Edges, gprEdges, rmrEdges)
	gprReport.File = path
	return []SourceReport{
		{Made: "reactions", File: path, Rows: graph.Reactions.Len(), Kept: graph.Reactions.Len()},
		{Made: "metabolites", File: path, Rows: graph.Metabolites.Len(), Kept: graph.Metabolites.Len()},
		gprReport,
		{Made: ingest.RMR.String(), File: path, Rows: rmrEdges.Len(), Kept: rmrEdges.Len()},
	}, nil
}

// metaboliteNodes and reactionNodes can leave out the check for duplicate ids, which readGEM has made.
func metaboliteNodes(model *gem) *ingest.Nodes {
	ids := make([]string, len(model.metabolites))
	for i, metabolite := range model.metabolites {
		ids[i] = metabolite.id
	}
	nodes, _ := ingest.NewNodes(ingest.Metabolite, ids, nil)
	return nodes
}

func reactionNodes(model *gem) *ingest.Nodes {
	n := len(model.reactions)
	ids, rules, subsystems := make([]string, n), make([]string, n), make([]string, n)
	lower, upper := make([]float64, n), make([]float64, n)
	for i, reaction := range model.reactions {
		ids[i], rules[i], subsystems[i] = reaction.id, reaction.ruleText, reaction.subsystem
		lower[i], upper[i] = reaction.lower, reaction.upper
	}
	nodes, _ := ingest.NewNodes(ingest.Reaction, ids, []ingest.Column{
		{Name: "gpr", Texts: rules},
		{Name: "subsystem", Texts: subsystems},
		{Name: "lower_bound", Numbers: lower},
		{Name: "upper_bound", Numbers: upper},
	})
	return nodes
}

func geneEdges(model *gem, genes *ingest.Nodes) (*ingest.Edges, SourceReport) {
	edges := &ingest.Edges{Type: ingest.GPR}
	report := SourceReport{Made: ingest.GPR.String()}
	missing := make(map[string]bool)
	for i, reaction := range model.reactions {
		for _, name := range reaction.rule.Genes() {
			report.Rows++
			row, ok := genes.Index(name)
			if !ok {
				missing[name] = true
				continue
			}
			edges.Src, edges.Dst = append(edges.Src, row), append(edges.Dst, uint32(i))
		}
	}
	report.Kept = edges.Len()
	report.Dropped = appendCount(nil, "of unknown genes, which the rules keep", report.Rows-report.Kept)
	report.Unknown = sortedNames(missing)
	return edges, report
}

func metaboliteEdges(model *gem, metabolites *ingest.Nodes, path string) (*ingest.Edges, error) {
	edges := &ingest.Edges{Type: ingest.RMR}
	var coefficients []float64
	for i, reaction := range model.reactions {
		for _, c := range reaction.stoichiometry {
			row, ok := metabolites.Index(c.metabolite.id)
			if !ok {
				return nil, fault.New(fault.Input, "",
					"read model %s: reaction %s: metabolite %q is not in the section metabolites (expected one of its %s ids)",
					gemReader{path}.where(c.metabolite.line), reaction.id, c.metabolite.id, grouped(metabolites.Len()))
			}
			edges.Src, edges.Dst = append(edges.Src, uint32(i)), append(edges.Dst, row)
			coefficients = append(coefficients, c.value)
		}
	}
	edges.Columns = []ingest.Column{{Name: "stoichiometry", Numbers: coefficients}}
	return edges, nil
}

// sortedNames returns the names of a set, ascending.
func sortedNames(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
