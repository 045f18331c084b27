package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild"
	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/internal/rebuild"
	"tcbuild/store"
)

func newDataset(e *env) *cobra.Command {
	var o tcbuild.Options
	cmd := &cobra.Command{
		Use:   "dataset --mode indices|full-masks --graph DIR --perturbations FILE --out DATASET",
		Short: "Build a dataset that holds every sample's masks",
		Long: `Build a dataset that stores every sample's masks in LMDB shards, either as removed
positions (indices) or whole (full-masks).

The same input and options give the same bytes with any number of workers. To resume
an interrupted build after its last complete shard, run the same command again.
To share the work between machines, see the steps of 'tcbuild rebuild'.`,
		Example: `  tcbuild dataset --mode indices --graph demo/graph --perturbations demo/perturbations.arrow --out demo/indices
  tcbuild dataset --mode full-masks --codec raw --graph demo/graph --perturbations demo/perturbations.arrow --out demo/raw`,
	}
	datasetFlags(cmd, &o)
	flags := cmd.Flags()
	choiceFlag(cmd, &o.Variant, "mode", "", []store.Variant{store.Indices, store.FullMasks}, "what to store: indices or full-masks")
	flags.StringVar(&o.Codec, "codec", "", fmt.Sprintf("how to encode masks: %s for indices; %s for full-masks (default: the first)",
		strings.Join(encode.Codecs(encode.Indices), ", "), strings.Join(encode.Codecs(encode.FullMasks), ", ")))
	intFlag(flags, &o.Shards, "shards", 0, 0, "number of shards (default: chosen by the dataset's size)")
	choiceFlag(cmd, &o.Resume, "resume", store.ResumeIfPossible,
		[]store.Resume{store.ResumeNever, store.ResumeIfPossible, store.ResumeAlways},
		"resume an interrupted build: never, if-possible or always")
	require(cmd, "mode", "perturbations")
	_ = cmd.RegisterFlagCompletionFunc("codec", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		codecs := encode.Codecs(encode.Mode(o.Variant))
		if len(codecs) == 0 { // of any mode, until one is given
			codecs = append(encode.Codecs(encode.Indices), encode.Codecs(encode.FullMasks)...)
		}
		return slices.Compact(slices.Sorted(slices.Values(codecs))), cobra.ShellCompDirectiveNoFileComp
	})
	return configured(e, cmd, func(ctx context.Context, _ []string) error {
		return runBuild(ctx, e, o)
	})
}

func newIncidence(e *env) *cobra.Command {
	o := tcbuild.Options{Variant: store.Incidence}
	cmd := &cobra.Command{
		Use:   "incidence --graph DIR [--perturbations FILE] --out DATASET",
		Short: "Build an incidence dataset: the deleted genes, and one incidence cache",
		Long: `Build an incidence dataset. It stores every sample's deleted genes and phenotypes, and one
incidence cache: the positions that each gene and reaction removes, from which readers
make the masks. It is the smallest variant, and for most uses the fastest.
Without --perturbations, build only the cache.`,
		Example: `  tcbuild incidence --graph demo/graph --perturbations demo/perturbations.arrow --out demo/incidence`,
	}
	datasetFlags(cmd, &o)
	return configured(e, cmd, func(ctx context.Context, _ []string) error {
		return runBuild(ctx, e, o)
	})
}

// inputFlags declares the input flags that all dataset variants share.
func inputFlags(cmd *cobra.Command, o *tcbuild.Options) {
	flags := cmd.Flags()
	flags.StringVar(&o.Graph, "graph", "", "cell graph: `DIR`")
	flags.StringVar(&o.Perturbations, "perturbations", "",
		"perturbation set: `FILE`, the lmdb folder of a torchcell build, or a computed set: synth:SCALE:SAMPLES:SEED or combinations:GENES:K[:FIRST:END]")
	workersFlag(flags, &o.Workers)
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
		"`KINDS` of perturbations that remove a gene from the graph, such as deletion,knockdown; "+
			"all, as in torchcell; or none (default: losses; a set with other kinds is an error)")
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
	cmd.Flags().StringSliceVar(&rule.Ignore, "ignore", nil,
		"`COLUMNS` that may differ between duplicates merged into one sample; "+
			"all others but phenotypes must agree")
}

// datasetFlags declares the flags of a command that builds one dataset.
func datasetFlags(cmd *cobra.Command, o *tcbuild.Options) {
	inputFlags(cmd, o)
	outFlag(cmd.Flags(), &o.Out, "out", datasetOutput, "dataset to create: `DATASET`")
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
	}
	total := m.DataBytes()
	line := fmt.Sprintf("%s: %s variant, %s samples, %s in %.2f s", out, m.Variant, humanCount(m.Samples),
		humanBytes(total), result.Seconds)
	if m.Samples > 0 {
		line += fmt.Sprintf(" (%s per sample)", humanBytes(m.SampleBytes()/int64(m.Samples)))
	}
	return line
}

func newStage(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stage DATASET DIR",
		Short: "Copy a dataset to node-local disk or memory, with checks, unless it is there",
		Long: `Make DIR a copy of a dataset, on a node's own disk or in /dev/shm. Every file is checked
against its checksum while it is copied. If DIR is a copy already, it is checked and kept.
An earlier copy in DIR, of this dataset or another, is replaced at the end, in one step. If several
processes stage to the same DIR, one copies and the others wait. An interrupted copy
starts again.`,
		Example: `  tcbuild stage data/yeast/current/full-masks /dev/shm/yeast`,
	}
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		path, dir := args[0], args[1]
		if err := checkPlace(dir); err != nil {
			return err
		}
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			path = resolved // current may change while files are copied
		}
		dataset, err := store.Open(path)
		if err != nil {
			return err
		}
		copied, err := dataset.Stage(ctx, dir)
		if err != nil {
			return err
		}
		what := "copied"
		if !copied {
			what = "were there"
		}
		e.say(fmt.Sprintf("%s: %s %s", dir, humanBytes(dataset.Manifest.DataBytes()), what))
		if version := filepath.Base(filepath.Dir(path)); rebuild.IsVersion(version) {
			e.say(fmt.Sprintf("%s: it holds version %s", dir, version))
		}
		return nil
	})
}
