package tcbuild

import (
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
)

// readRules reads the gpr rules, if masks depend on them. Genes that are not in the graph count as
// never deleted, and are logged once.
func (b *builder) readRules() (err error) {
	byRule := b.ReactionRule == incidence.RuleGPR && b.graph.Reactions.Len() > 0
	if byRule && b.graph.Reactions.Column("gpr") == nil {
		return fault.New(fault.Usage, "add the column gpr to the reactions, or choose --reaction-rule all",
			"read graph %s: %s has no column gpr, which --reaction-rule gpr needs: no reaction would ever be removed",
			b.Graph, b.nodeFile(ingest.Reaction))
	}
	if b.rules, err = incidence.ReadRules(b.graph, b.ReactionRule); err != nil {
		return fault.New(fault.Input, "correct the rule, or leave the field empty",
			"read graph %s: %s %w", b.Graph, b.nodeFile(ingest.Reaction), err)
	}
	if unknown := b.rules.UnknownGenes; len(unknown) > 0 {
		b.Log.Warn("gpr rules name genes that are not in the graph; they count as never deleted",
			"genes", len(unknown), "reactions", b.rules.NamingUnknown, "first", unknown[:min(len(unknown), 5)])
	}
	return nil
}

// nodeFile returns the name of a node table's file, relative to the graph folder.
func (b *builder) nodeFile(nodeType string) string {
	i := slices.IndexFunc(b.inputs, func(input ingest.Input) bool { return strings.HasPrefix(input.Name, "nodes/"+nodeType+".") })
	return b.inputs[i].Name
}
