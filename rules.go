package tcbuild

import (
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
)

// readRules reads the gpr rules, if masks depend on them. Genes that the graph does not have are
// never deleted; it logs that once.
func (b *builder) readRules() (err error) {
	byRule := b.ReactionRule == incidence.RuleGPR && b.graph.Reactions.Len() > 0
	if byRule && b.graph.Reactions.Column("gpr") == nil {
		return fault.New(fault.Usage, "add the column gpr to the reactions, or choose --reaction-rule all",
			"read graph %s: %s has no column gpr, which --reaction-rule gpr needs: no reaction would ever be removed", b.Graph, b.nodeFile(ingest.Reaction))
	}
	if b.rules, err = incidence.ReadRules(b.graph, b.ReactionRule); err != nil {
		return fault.New(fault.Input, "correct the rule, or empty it", "read graph %s: %s %w", b.Graph, b.nodeFile(ingest.Reaction), err)
	}
	if unknown := b.rules.UnknownGenes; len(unknown) > 0 {
		b.Log.Warn("gpr rules name genes that the graph does not have; they count as never deleted",
			"genes", len(unknown), "reactions", b.rules.NamingUnknown, "first", unknown[:min(len(unknown), 5)])
	}
	return nil
}

// nodeFile is the name of the file that held a node table, inside the graph folder.
func (b *builder) nodeFile(nodeType string) string {
	i := slices.IndexFunc(b.report.Inputs, func(input ingest.Input) bool { return strings.HasPrefix(input.Name, "nodes/"+nodeType+".") })
	return b.report.Inputs[i].Name
}
