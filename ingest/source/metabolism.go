package source

import (
	"cmp"
	"fmt"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
)

// addMetabolism adds the reactions and metabolites of a model, with their edges, to a graph. In
// rules it replaces other gene names by ids of the gene list, as masks need them. A reaction's
// edges are the genes of its rule, each once, in the order of first mention. Unless unknown is an
// error, a gene that is not in the list has no edges, but stays in rules: as nothing can delete it,
// it counts as present. model is the one whose genes are the graph's, if there is one.
func (s *GraphSpec) addMetabolism(files *inputfile.Files, graph *ingest.Graph, genes *names.Resolver, model *gem) (_ ingest.Accounts, err error) {
	spec := s.GEM
	if spec.File == "" {
		return nil, nil
	}
	if model == nil || model.path != spec.File {
		if model, err = readGEM(files, spec.File); err != nil {
			return nil, err
		}
	}
	renamed, untouched, err := model.resolveGenes(genes, s.UnknownGenes)
	if err != nil {
		return nil, err
	}
	reactions := &ingest.Account{Made: "reactions", File: spec.File, Rows: len(model.reactions), Kept: len(model.reactions)}
	reactions.Add(ingest.UntouchedReaction, "", untouched)
	reactions.Add(ingest.RenamedRule, "", renamed)
	if spec.ReactionNodes == Combinations {
		if model, err = model.combinations(); err != nil {
			return nil, err
		}
		reactions.Add(ingest.ReactionNode, "", len(model.reactions))
	}
	graph.Metabolites = metaboliteNodes(model)
	if graph.Reactions, err = reactionNodes(model, spec); err != nil {
		return nil, err
	}
	gprEdges, gprReport := geneEdges(model, genes)
	rmrEdges, err := metaboliteEdges(model, graph.Metabolites)
	if err != nil {
		return nil, err
	}
	graph.Edges = append(graph.Edges, gprEdges, rmrEdges)
	gprReport.File = spec.File
	reports := ingest.Accounts{
		reactions,
		{Made: "metabolites", File: spec.File, Rows: graph.Metabolites.Len(), Kept: graph.Metabolites.Len()},
		{Made: ingest.RMR.String(), File: spec.File, Rows: rmrEdges.Len() + model.merged, Kept: rmrEdges.Len()},
		gprReport,
	}
	reports[2].Add(ingest.RepeatedCoefficient, "", model.merged)
	if gprReport.Rows == 0 { // a model without rules
		return reports, checkAll(reports[:3], gemHint, genes, *s.MaxDropped)
	}
	return reports, checkAll(reports, "check the names of its genes: none is in the gene list or its aliases", genes, *s.MaxDropped)
}

// resolveGenes replaces gene names in the rules by ids. It returns how many rules it changed, and
// how many reactions have only unknown genes. An unknown gene is an error if policy says so.
func (m *gem) resolveGenes(genes *names.Resolver, policy UnknownNames) (renamed, untouched int, err error) {
	for i := range m.reactions {
		reaction, changed, known, unknown := &m.reactions[i], false, false, ""
		rule := reaction.rule.Rename(func(name string) string {
			answer := genes.Find([]byte(name))
			if answer.Meaning != names.Gene {
				unknown = cmp.Or(unknown, name)
				return name
			}
			known, changed = true, changed || genes.ID(answer) != name
			return genes.ID(answer)
		})
		if unknown != "" && policy == RefuseNames {
			return 0, 0, m.fault(reaction.line, "reaction %s: %w", reaction.id, unknownName(genes, []byte(unknown)))
		}
		if unknown != "" && !known {
			untouched++
		}
		if reaction.genes = rule.Genes(); changed {
			reaction.rule, reaction.ruleText = rule, rule.String()
			renamed++
		}
	}
	return renamed, untouched, nil
}

// metaboliteNodes does not check for duplicate ids, as readGEM has done so.
func metaboliteNodes(model *gem) *ingest.Nodes {
	ids := make([]string, len(model.metabolites))
	for i, metabolite := range model.metabolites {
		ids[i] = metabolite.id
	}
	nodes, _ := ingest.NewNodes(ingest.Metabolite, ids, nil)
	return nodes
}

func reactionNodes(model *gem, spec GEMSpec) (*ingest.Nodes, error) {
	n := len(model.reactions)
	ids, rules, subsystems := make([]string, n), make([]string, n), make([]string, n)
	lower, upper := make([]float64, n), make([]float64, n)
	origins := make([]string, n)
	for i, reaction := range model.reactions {
		ids[i], rules[i], subsystems[i] = reaction.id, reaction.ruleText, reaction.subsystem
		lower[i], upper[i] = reaction.lower, reaction.upper
		origins[i] = reaction.origin
	}
	columns := []ingest.Column{
		ingest.TextColumn("gpr", rules),
		ingest.TextColumn("subsystem", subsystems),
		ingest.NumberColumn("lower_bound", lower),
		ingest.NumberColumn("upper_bound", upper),
	}
	if spec.ReactionNodes == Combinations {
		columns = append(columns, ingest.TextColumn("reaction", origins))
	}
	nodes, duplicate := ingest.NewNodes(ingest.Reaction, ids, columns)
	if duplicate >= 0 { // two reactions, one named like a node of the other
		return nil, fault.New(fault.Input, "use whole reactions, or rename one",
			"read model %s: found two reactions that make the node %q", spec.File, ids[duplicate])
	}
	return nodes, nil
}

func geneEdges(model *gem, genes *names.Resolver) (*ingest.Edges, *ingest.Account) {
	edges := &ingest.Edges{Type: ingest.GPR}
	report := &ingest.Account{Made: ingest.GPR.String()}
	var missing missingNames
	for i, reaction := range model.reactions {
		for _, name := range reaction.genes {
			report.Rows++
			answer := genes.Find([]byte(name))
			if answer.Meaning != names.Gene {
				missing.lose(name, answer.Meaning)
				continue
			}
			edges.Src, edges.Dst = append(edges.Src, answer.Gene), append(edges.Dst, uint32(i))
		}
	}
	report.Kept = edges.Len()
	missing.account(report)
	for k := range report.Dropped {
		report.Dropped[k].Detail += ", which the rules keep"
	}
	return edges, report
}

func metaboliteEdges(model *gem, metabolites *ingest.Nodes) (*ingest.Edges, error) {
	edges := &ingest.Edges{Type: ingest.RMR}
	var coefficients []float64
	for i, reaction := range model.reactions {
		for _, c := range reaction.stoichiometry {
			row, ok := metabolites.Index(c.metabolite.id)
			if !ok {
				return nil, model.fault(c.metabolite.line, "reaction %s: metabolite %q is not among the model's metabolites, expected one of their %s ids",
					reaction.id, c.metabolite.id, ingest.Grouped(metabolites.Len()))
			}
			edges.Src, edges.Dst = append(edges.Src, uint32(i)), append(edges.Dst, row)
			coefficients = append(coefficients, c.value)
		}
	}
	edges.Columns = []ingest.Column{ingest.NumberColumn("stoichiometry", coefficients)}
	return edges, nil
}

// ReactionNodes says how a reaction of a metabolic model becomes nodes.
type ReactionNodes string

const (
	WholeReactions ReactionNodes = "whole" // one node each, with its rule
	// as in torchcell: one node per alternative set of genes and direction
	Combinations ReactionNodes = "combinations"
)

// maxAlternatives limits the nodes of a rule; rules of published models have at most some dozens.
const maxAlternatives = 10_000

// combinations returns the model with one reaction per alternative set of genes and direction,
// named as in torchcell: <reaction>_comb<k>_fwd and _rev, k from 0 in the order of
// gpr.Rule.Alternatives, and <reaction>_noGene_fwd and _rev without a rule. Only reversible
// reactions have _rev, with the signs of the stoichiometry reversed.
//
// A node needs all genes of its set, so removing a node with any of its genes is exact: a
// reaction's gpr rule is true if and only if one of its nodes is left.
func (m *gem) combinations() (*gem, error) {
	expanded := &gem{modelFile: m.modelFile, metabolites: m.metabolites, merged: m.merged}
	for _, reaction := range m.reactions {
		sets, err := reaction.rule.Alternatives(maxAlternatives)
		if err != nil {
			return nil, m.fault(reaction.line, "reaction %s: %w", reaction.id, err)
		}
		if sets == nil {
			expanded.addDirections(reaction, "noGene", nil)
		}
		for k, genes := range sets {
			expanded.addDirections(reaction, fmt.Sprintf("comb%d", k), genes)
		}
	}
	return expanded, nil
}

// addDirections adds the nodes of one set of genes of a reaction.
func (m *gem) addDirections(reaction gemReaction, suffix string, genes []string) {
	forward := reaction
	forward.origin = reaction.id
	forward.id = reaction.id + "_" + suffix + "_fwd"
	forward.ruleText = strings.Join(genes, " and ")
	forward.genes = genes
	if reaction.reversible {
		forward.lower = 0
	}
	m.reactions = append(m.reactions, forward)
	if !reaction.reversible {
		return
	}
	backward := forward
	backward.id = reaction.id + "_" + suffix + "_rev"
	backward.upper = -reaction.lower
	backward.stoichiometry = make([]gemCoefficient, len(reaction.stoichiometry))
	for i, c := range reaction.stoichiometry {
		backward.stoichiometry[i] = gemCoefficient{c.metabolite, -c.value}
	}
	m.reactions = append(m.reactions, backward)
}
