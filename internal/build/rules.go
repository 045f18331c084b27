package build

import (
	"slices"
	"strings"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
	"tcbuild/internal/fault"
)

// checkRules makes sure that the gpr rules of all reactions can be read, if masks depend on them.
func (b *builder) checkRules() error {
	if b.ReactionRule != incidence.RuleGPR || b.graph.Reactions == nil {
		return nil
	}
	for row, text := range b.graph.Reactions.Column("gpr") {
		if _, err := gpr.Parse(text); err != nil {
			return fault.New(fault.Input, "correct the rule, or empty it", "read graph %s: %s row %d: gpr rule of reaction %q: %w",
				b.Graph, b.nodeFile(ingest.Reaction), row, b.graph.Reactions.IDs[row], err)
		}
	}
	return nil
}

// nodeFile is the name of the file that held a node table, inside the graph folder.
func (b *builder) nodeFile(nodeType string) string {
	i := slices.IndexFunc(b.report.Inputs, func(input ingest.Input) bool { return strings.HasPrefix(input.Name, "nodes/"+nodeType+".") })
	return b.report.Inputs[i].Name
}
