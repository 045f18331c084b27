package tcbuild

import (
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
)

// checkRules makes sure that there are gpr rules and that all can be read, if masks depend on
// them. Genes that the graph does not have are never deleted, which is told once.
func (b *builder) checkRules() error {
	if b.ReactionRule != incidence.RuleGPR || b.graph.Reactions.Len() == 0 {
		return nil
	}
	rules := b.graph.Reactions.Column("gpr")
	if rules == nil {
		return fault.New(fault.Usage, "add the column gpr to the reactions, or choose --reaction-rule all",
			"read graph %s: %s has no column gpr, which --reaction-rule gpr needs: no reaction would ever be removed", b.Graph, b.nodeFile(ingest.Reaction))
	}
	var unknown []string
	reactions := 0
	for row, text := range rules {
		rule, err := gpr.Parse(text)
		if err != nil {
			return fault.New(fault.Input, "correct the rule, or empty it", "read graph %s: %s row %d: gpr rule of reaction %q: %w",
				b.Graph, b.nodeFile(ingest.Reaction), row, b.graph.Reactions.IDs[row], err)
		}
		known := len(unknown)
		for _, gene := range rule.Genes() {
			if _, ok := b.graph.Genes.Index(gene); !ok {
				unknown = append(unknown, gene)
			}
		}
		if len(unknown) > known {
			reactions++
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		unknown = slices.Compact(unknown)
		b.Log.Warn("gpr rules name genes that the graph does not have; they count as never deleted",
			"genes", len(unknown), "reactions", reactions, "first", unknown[:min(len(unknown), 5)])
	}
	return nil
}

// nodeFile is the name of the file that held a node table, inside the graph folder.
func (b *builder) nodeFile(nodeType string) string {
	i := slices.IndexFunc(b.report.Inputs, func(input ingest.Input) bool { return strings.HasPrefix(input.Name, "nodes/"+nodeType+".") })
	return b.report.Inputs[i].Name
}
