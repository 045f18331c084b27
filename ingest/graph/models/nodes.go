package models

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/names"
)

// Genes are the genes that the rules of a model name.
func (m *Model) Genes() (*ingest.Nodes, *ingest.Account, error) {
	named := make(map[string]bool)
	for _, reaction := range m.reactions {
		for _, gene := range reaction.rule.Genes() {
			if err := graph.CheckID(ingest.Gene, gene); err != nil {
				return nil, nil, fmt.Errorf("read genes %s: %w", m.path, err)
			}
			named[gene] = true
		}
	}
	if len(named) == 0 {
		return nil, nil, fault.New(fault.Input, "name a gene list in place of gem",
			"read genes %s: found no rule with a gene, expected at least one", m.path)
	}
	nodes, _ := ingest.NewNodes(ingest.Gene, slices.Sorted(maps.Keys(named)), nil)
	account := &ingest.Account{Made: "genes", File: m.path, Rows: len(named), Kept: len(named)}
	return nodes, account, nil
}

// AddTo adds the reactions and metabolites of a model, with their edges, to a graph. In rules it
// replaces other gene names by ids of the gene list, as masks need them. A reaction's edges are the
// genes of its rule, each once, in the order of first mention. A gene that is not in the list is an
// error. If drop is set, it has no edges, but stays in rules: as nothing can delete it, it counts
// as present.
func (m *Model) AddTo(
	cell *ingest.Graph, kind ReactionNodes, genes *names.Resolver, drop bool,
) (ingest.Accounts, error) {
	account := func(made string, rows int) *ingest.Account {
		return &ingest.Account{Made: made, File: m.path, Rows: rows, Kept: rows}
	}
	reactions := account("reactions", len(m.reactions))
	if err := m.resolveGenes(genes, drop, reactions); err != nil {
		return nil, err
	}
	made := m
	if kind == Combinations {
		var err error
		if made, err = m.combinations(); err != nil {
			return nil, err
		}
		reactions.Add(ingest.ReactionNode, "", len(made.reactions))
	}
	cell.Metabolites = made.metaboliteNodes()
	var err error
	if cell.Reactions, err = made.reactionNodes(kind); err != nil {
		return nil, err
	}
	gpr, gprAccount := made.geneEdges(genes)
	rmr, err := made.metaboliteEdges(cell.Metabolites)
	if err != nil {
		return nil, err
	}
	cell.Edges = append(cell.Edges, gpr, rmr)
	rmrAccount := account(ingest.RMR.String(), rmr.Len())
	rmrAccount.Rows += made.merged
	rmrAccount.Add(ingest.RepeatedCoefficient, "", made.merged)
	accounts := ingest.Accounts{
		reactions, account("metabolites", cell.Metabolites.Len()), rmrAccount,
	}
	if gprAccount.Rows > 0 { // otherwise, it is a model without rules
		accounts = append(accounts, gprAccount)
	}
	return accounts, nil
}

// resolveGenes replaces gene names in the rules by ids, and counts the rules that it changes, and
// the reactions that have only unknown genes.
func (m *Model) resolveGenes(genes *names.Resolver, drop bool, account *ingest.Account) error {
	for i := range m.reactions {
		reaction := &m.reactions[i]
		changed, known, unknown := false, false, ""
		rule := reaction.rule.Rename(func(name string) string {
			answer := genes.Find([]byte(name))
			if answer.Meaning != names.Gene {
				unknown = cmp.Or(unknown, name)
				return name
			}
			known, changed = true, changed || genes.ID(answer) != name
			return genes.ID(answer)
		})
		switch {
		case unknown != "" && !drop:
			return m.wrong(reaction.line, "reaction %s: %w", reaction.id,
				graph.MissingNode(genes, []byte(unknown), drop))
		case unknown != "" && !known:
			account.Add(ingest.UntouchedReaction, "", 1)
		}
		if reaction.genes = rule.Genes(); changed {
			reaction.rule, reaction.ruleText = rule, rule.String()
			account.Add(ingest.RenamedRule, "", 1)
		}
	}
	return nil
}

// metaboliteNodes does not check for duplicate ids, as Read has done so.
func (m *Model) metaboliteNodes() *ingest.Nodes {
	ids := make([]string, len(m.metabolites))
	for i, metabolite := range m.metabolites {
		ids[i] = metabolite.id
	}
	nodes, _ := ingest.NewNodes(ingest.Metabolite, ids, nil)
	return nodes
}

func (m *Model) reactionNodes(kind ReactionNodes) (*ingest.Nodes, error) {
	n := len(m.reactions)
	ids, rules, subsystems := make([]string, n), make([]string, n), make([]string, n)
	lower, upper := make([]float64, n), make([]float64, n)
	origins := make([]string, n)
	for i, reaction := range m.reactions {
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
	if kind == Combinations {
		columns = append(columns, ingest.TextColumn("reaction", origins))
	}
	nodes, repeated := ingest.NewNodes(ingest.Reaction, ids, columns)
	if repeated != nil { // two reactions, one named like a node of the other
		return nil, fault.New(fault.Input, "use whole reactions, or rename one",
			"read model %s: found two reactions that make the node %q", m.path, repeated.ID)
	}
	return nodes, nil
}

// geneEdges makes the edges of genes to reactions.
func (m *Model) geneEdges(genes *names.Resolver) (*ingest.Edges, *ingest.Account) {
	const inRules = ", which the rules keep"
	edges := &ingest.Edges{Type: ingest.GPR}
	account := &ingest.Account{Made: ingest.GPR.String(), File: m.path}
	for i, reaction := range m.reactions {
		for _, name := range reaction.genes {
			answer := genes.Find([]byte(name))
			account.Rows++
			if answer.Meaning == names.Gene {
				edges.Src = append(edges.Src, answer.Gene)
				edges.Dst = append(edges.Dst, uint32(i))
				continue
			}
			account.Drop(answer.Reason(), inRules, int64(i), []byte(name))
			account.AddName(name, 1)
		}
	}
	account.Kept = edges.Len()
	return edges, account
}

// metaboliteEdges makes the edges of reactions to metabolites.
func (m *Model) metaboliteEdges(metabolites *ingest.Nodes) (*ingest.Edges, error) {
	edges := &ingest.Edges{Type: ingest.RMR}
	var values []float64
	for i, reaction := range m.reactions {
		for _, c := range reaction.stoichiometry {
			row, ok := metabolites.Index(c.metabolite.id)
			if !ok {
				return nil, m.wrong(c.metabolite.line,
					"reaction %s: metabolite %q is not among the model's metabolites, "+
						"expected one of their %s ids",
					reaction.id, c.metabolite.id, ingest.Grouped(metabolites.Len()))
			}
			edges.Src, edges.Dst = append(edges.Src, uint32(i)), append(edges.Dst, row)
			values = append(values, c.value)
		}
	}
	edges.Columns = []ingest.Column{ingest.NumberColumn("stoichiometry", values)}
	return edges, nil
}
