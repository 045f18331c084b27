package tcbuild

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/samples"
	"tcbuild/store"
)

func (b *builder) logGraph(cell *ingest.Graph, layout incidence.Layout) {
	repeated, loops := 0, 0
	for _, edges := range graph.OddEdges(cell) {
		repeated += edges.Duplicates
		loops += edges.SelfLoops
	}
	b.stage("read graph", "genes", cell.Genes.Len(), "reactions", cell.Reactions.Len(),
		"metabolites", cell.Metabolites.Len())
	b.Log.Info("edges", "types", len(cell.Edges), "edges", layout.EdgePositions(),
		"duplicates", repeated, "self_loops", loops)
	if columns := cell.LeftOut(); len(columns) > 0 {
		b.Log.Warn("ignoring columns of the graph", "columns", fault.List(columns))
	}
}

// logRules says which genes of the rules are not in the graph, and what the reaction rule all means
// for reactions whose gpr rule has an or.
func (b *builder) logRules(rules *incidence.Rules, rule incidence.ReactionRule,
	reactions *ingest.Nodes) {
	if unknown := rules.UnknownGenes; len(unknown) > 0 {
		b.Log.Warn("unknown genes in gpr rules stay", "genes", len(unknown),
			"reactions", rules.NamingUnknown, "first", unknown[0])
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
		b.Log.Info("isozymes keep no reaction; with --reaction-rule=gpr they do",
			"reactions", withIsozymes)
	}
}

// columnNames are columns of one use. A log in JSON names all of them.
type columnNames []string

// MarshalJSON implements json.Marshaler.
func (c columnNames) MarshalJSON() ([]byte, error) { return json.Marshal(strings.Join(c, ",")) }

// MarshalText shows three names at most, as a line of a log must not be long.
func (c columnNames) MarshalText() ([]byte, error) {
	shown := c[:min(len(c), 3)]
	if more := len(c) - len(shown); more > 0 {
		shown = append(slices.Clip(shown), fmt.Sprintf("+%d", more))
	}
	return []byte(strings.Join(shown, ",")), nil
}

// logColumns says in one line what the columns of a perturbation set are; those of genes and ids
// only if they have other names.
func (b *builder) logColumns(set *samples.Set) {
	var uses []any
	for _, use := range set.Columns().Uses() {
		if !slices.Equal(use.Columns, []string{use.What}) {
			uses = append(uses, use.What, columnNames(use.Columns))
		}
	}
	if len(uses) > 0 {
		b.Log.Info("columns", uses...)
	}
	if len(set.Columns().Phenotypes) == 0 {
		b.Log.Warn("found no phenotypes: samples have masks and nothing to predict")
	}
}

// logSurvey says what was found in a perturbation set, and what became of its rows.
func (b *builder) logSurvey(found *survey, kinds *store.Kinds) {
	account := found.account
	counts := []any{"samples", account.Kept}
	for _, c := range slices.Concat(account.Dropped, account.Noted) {
		if c.Reason != ingest.MissingGene { // it has a line of its own
			counts = append(counts, c.Reason.String(), c.Rows)
		}
	}
	b.stage("survey samples", counts...)
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
	if repeats := account.Repeats; repeats.RepeatedGenotypes > 0 {
		b.Log.Warn("genotypes repeat", "genotypes", repeats.Genotypes,
			"repeated", repeats.RepeatedGenotypes, "in_samples", repeats.RepeatedSamples)
	}
	warn := func(message, what string, n int) {
		if n > 0 {
			b.Log.Warn(message, what, n)
		}
	}
	warn("empty genes: merged cells? fill them first (pandas: ffill)", "samples",
		account.Sum(ingest.MissingGene))
	warn("samples of unknown or ambiguous genes are dropped", "samples", account.Sum(
		ingest.UnknownGene)+account.Sum(ingest.AmbiguousName)+account.Sum(ingest.NoGeneLeft))
	warn("unknown or ambiguous genes are left out of their samples", "genes",
		account.Sum(ingest.UnknownLeftOut))
	warn("samples that list a gene twice are dropped", "samples", account.Sum(ingest.SelfPair))
	warn("removed the spaces around texts of attributes", "values", account.Sum(ingest.TrimmedText))
	warn("infinite phenotype values count as missing", "values", account.Sum(ingest.InfiniteValue))
	none := func(names []string, values string) {
		if len(names) > 0 {
			b.Log.Warn("name what was measured in --phenotypes", "unlikely", fault.List(names),
				"why", values)
		}
	}
	none(found.unmeasured.Constant(), "one value in all samples")
	none(found.unmeasured.Indices(), "numbers of the rows")
	if names := found.unmeasured.Names(); len(names) > 0 {
		b.Log.Warn("phenotypes without a value in any sample", "phenotypes", fault.List(names))
	}
}
