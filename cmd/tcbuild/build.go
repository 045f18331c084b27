package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/samples/duplicates"
)

// inputFlags declares the input flags that all dataset variants share.
func inputFlags(cmd *cobra.Command, o *tcbuild.Options) {
	flags := cmd.Flags()
	flags.StringVar(&o.Graph, "graph", "", "cell graph: `DIR`")
	flags.StringVar(&o.Perturbations, "perturbations", "",
		"perturbation set: `FILE`, the lmdb folder of a torchcell build, or a computed set: synth:SCALE:SAMPLES:SEED or combinations:GENES:K[:FIRST:END]")
	flags.IntVar(&o.Workers, "workers", 0, "CPU cores to use (default: all that are available)")
	choiceFlag(cmd, &o.ReactionRule, "reaction-rule", incidence.RuleAll, []incidence.ReactionRule{incidence.RuleAll, incidence.RuleGPR},
		"when to remove a reaction: all, if any of its genes is deleted, as in torchcell; gpr, if its boolean rule becomes false, so that isozymes keep it")
	choiceFlag(cmd, &o.UnknownGenes, "unknown-genes", ingest.RefuseUnknownGenes, ingest.UnknownGenesChoices,
		"what to do with genes that are not in the graph: error, drop-sample or drop-gene; drops are counted")
	o.MaxDropped = flags.Float64("max-dropped", tcbuild.DefaultMaxDropped, "largest `SHARE` of the samples to drop because of unknown genes; more is an error")
	controlsFlag(flags, &o.Controls)
	flags.BoolVar(&o.AllowWildtype, "allow-wildtype", false, "accept samples that delete no gene")
	flags.BoolVar(&o.AllowDuplicateIDs, "allow-duplicate-ids", false, "accept duplicate and empty sample ids")
	columnFlags(flags, &o.Phenotypes, &o.NotPhenotypes, &o.Attributes)
	whereFlag(flags, &o.Where)
	duplicatesFlags(cmd, &o.Rule)
	flags.StringSliceVar(&o.RemovingKinds, "removing-kinds", nil,
		"`KINDS` of perturbations that remove a gene from the graph, such as deletion,knockdown (default: all)")
	hide(flags, "max-dropped", "allow-duplicate-ids", "removing-kinds")
}

// columnFlags declares what the columns of a perturbation set are.
func columnFlags(flags *pflag.FlagSet, phenotypes, notPhenotypes, attributes *[]string) {
	flags.StringSliceVar(phenotypes, "phenotypes", nil,
		"phenotype `COLUMNS` (default: every numeric column without another use)")
	flags.StringSliceVar(notPhenotypes, "not-phenotypes", nil, "numeric `COLUMNS` to ignore")
	flags.StringSliceVar(attributes, "attributes", nil,
		"`COLUMNS` of text or numbers to keep as attributes (default: every text column without another use)")
}

// controlsFlag declares the names of controls.
func controlsFlag(flags *pflag.FlagSet, controls *[]string) {
	flags.StringSliceVar(controls, "controls", nil, "`NAMES` that appear in place of a gene but delete nothing, such as ctrl,non-targeting")
}

// whereFlag declares the filter of samples.
func whereFlag(flags *pflag.FlagSet, where *string) {
	flags.StringVar(where, "where", "",
		"keep only the samples for which `EXPR` is true, such as 'fitness > 0.5 and medium == \"YPD\"' ('tcbuild docs input' describes the language)")
}

// duplicatesFlags declares what to do with samples of the same genotype.
func duplicatesFlags(cmd *cobra.Command, rule *duplicates.Rule) {
	choiceFlag(cmd, &rule.Duplicates, "duplicates", duplicates.Keep, duplicates.Choices,
		"what to do with samples that delete the same genes: keep, error, first, last, or mean, which also adds phenotypes NAME_n and NAME_sd")
	cmd.Flags().StringSliceVar(&rule.GroupBy, "group-by", nil,
		"`ATTRIBUTES` that duplicates must share; with --duplicates keep, only for counting them")
}

// datasetFlags declares the flags of a command that builds one dataset.
func datasetFlags(cmd *cobra.Command, o *tcbuild.Options) {
	inputFlags(cmd, o)
	cmd.Flags().StringVar(&o.Out, "out", "", "dataset to create: `DATASET`")
	require(cmd, "graph", "out")
}

func runBuild(ctx context.Context, e *env, o tcbuild.Options) error {
	result, err := buildDataset(ctx, e, o)
	if err != nil {
		return err
	}
	e.say(describeBuild(o.Out, result))
	return nil
}

func buildDataset(ctx context.Context, e *env, o tcbuild.Options) (*tcbuild.Result, error) {
	var err error
	if o.Workers, err = useCores(o.Workers); err != nil {
		return nil, err
	}
	o.Program, o.Log = buildVersion(), e.log
	o.Progress = func(total int) tcbuild.Progress {
		if total == 0 {
			return newProgress(e, "survey", 0)
		}
		return newProgress(e, "build", total)
	}
	return tcbuild.Build(ctx, o)
}

func describeBuild(out string, result *tcbuild.Result) string {
	m := result.Manifest
	switch result.State {
	case tcbuild.Unchanged:
		return fmt.Sprintf("%s: nothing to do, the dataset exists and is up to date", out)
	case tcbuild.Waiting:
		return fmt.Sprintf("%s: this shard is complete; others are not", out)
	}
	total := m.DataBytes()
	line := fmt.Sprintf("%s: %s variant, %s samples, %s in %.2f s", out, m.Variant, humanCount(m.Samples),
		humanBytes(total), result.Seconds)
	if m.Samples > 0 {
		line += fmt.Sprintf(" (%s per sample)", humanBytes(m.SampleBytes()/int64(m.Samples)))
	}
	return line
}
