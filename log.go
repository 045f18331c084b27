package tcbuild

import (
	"cmp"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/store"
)

func (b *builder) logGraph(cell *ingest.Graph, layout incidence.Layout) {
	repeated, loops := 0, 0
	for _, edges := range graph.OddEdges(cell) {
		repeated += edges.Duplicates
		loops += edges.SelfLoops
	}
	b.stage("read graph", "genes", cell.Genes.Len(), "reactions", cell.Reactions.Len(),
		"metabolites", cell.Metabolites.Len(), "edge_types", len(cell.Edges),
		"edges", layout.EdgePositions(), "duplicate_edges", repeated, "self_loops", loops)
	if columns := cell.LeftOut(); len(columns) > 0 {
		b.Log.Warn("ignoring columns of the graph", "columns", fault.List(columns))
	}
}

// logRules says which genes of the rules are not in the graph, and what the reaction rule all means
// for reactions whose gpr rule has an or.
func (b *builder) logRules(rules *incidence.Rules, rule incidence.ReactionRule,
	reactions *ingest.Nodes) {
	if unknown := rules.UnknownGenes; len(unknown) > 0 {
		b.Log.Warn("gpr rules name genes that are not in the graph; they count as never deleted",
			"genes", len(unknown), "reactions", rules.NamingUnknown, "first",
			unknown[:min(len(unknown), 5)])
	}
	if rule == incidence.RuleGPR || reactions.Len() == 0 {
		return
	}
	withIsozymes := 0
	for _, text := range reactions.Column("gpr") {
		if rule, err := gpr.Parse(text); err == nil && rule.HasIsozymes() {
			withIsozymes++
		}
	}
	if withIsozymes > 0 {
		b.Log.Info("these reactions have isozymes, and any deleted gene removes them; "+
			"--reaction-rule gpr keeps them while an isozyme is left", "reactions", withIsozymes)
	}
}

// logColumns says what the columns of a perturbation set are.
func (b *builder) logColumns(set *samples.Set) {
	columns := set.Columns()
	var uses []any
	for _, use := range columns.Uses() {
		uses = append(uses, use[0], use[1])
	}
	b.Log.Info("columns", uses...)
	if len(columns.Phenotypes) == 0 {
		b.Log.Warn(
			"the perturbation set has no phenotypes: its samples have masks and nothing to predict")
	}
	if len(columns.ByName) > 0 {
		b.Log.Info("numbers that are attributes by their names: "+
			"name those that were measured in --phenotypes", "columns", fault.List(columns.ByName))
	}
}

// logSurvey says what was found in a perturbation set, and what became of its rows.
func (b *builder) logSurvey(found *survey, kinds *store.Kinds) {
	account := found.account
	b.stage("survey samples", append([]any{"samples", account.Kept}, account.Attributes()...)...)
	if len(b.Controls) > 0 {
		b.Log.Info("controls delete nothing", "names", fault.List(b.Controls),
			"found", account.Sum(ingest.ControlName))
	}
	if kinds != nil {
		removing := "all"
		if kinds.Removing != nil {
			removing = fault.List(kinds.Removing)
		}
		b.Log.Info("kinds of perturbations",
			"perturbations", samples.ListKinds(kinds.Perturbations), "removing", removing)
	}
	b.logRepeats(account)
	warn := func(message, what string, n int) {
		if n > 0 {
			b.Log.Warn(message, what, n)
		}
	}
	warn("samples that list a gene twice are dropped", "samples", account.Sum(ingest.SelfPair))
	warn("removed the spaces around texts of attributes", "values", account.Sum(ingest.TrimmedText))
	warn("infinite phenotype values count as missing", "values", account.Sum(ingest.InfiniteValue))
	none := func(names []string, values string) {
		if len(names) > 0 {
			b.Log.Warn("phenotypes that may be none: name the others in --phenotypes",
				"phenotypes", fault.List(names), "values", values)
		}
	}
	none(found.unmeasured.Constant(), "one value in all samples")
	none(found.unmeasured.Indices(), "numbers of the rows")
	if names := found.unmeasured.Names(); len(names) > 0 {
		b.Log.Warn("phenotypes without a value in any sample", "phenotypes", fault.List(names))
	}
}

// logRepeats says that genotypes repeat.
func (b *builder) logRepeats(account *ingest.Account) {
	repeats, choice := account.Repeats, cmp.Or(b.Duplicates, duplicates.Keep)
	if repeats.RepeatedGenotypes > 0 {
		b.Log.Warn("genotypes repeat", "genotypes", repeats.Genotypes,
			"repeated", repeats.RepeatedGenotypes, "in_samples", repeats.RepeatedSamples,
			"duplicates", choice)
	}
}
