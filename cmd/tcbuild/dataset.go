package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild"
	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/store"
)

// buildOptions are the options of a command that builds one dataset.
type buildOptions struct {
	tcbuild.Options
	dropped string // file for the table of dropped names; "" for none
}

func newDataset(e *env) *cobra.Command {
	var o buildOptions
	cmd := &cobra.Command{
		Use:   "dataset --mode indices|full-masks --graph DIR --perturbations FILE --out DATASET",
		Short: "Build a dataset of every sample's masks",
		Long: `Build a dataset that stores every sample's masks in LMDB shards: as removed positions
(indices) or whole (full-masks). The bytes depend only on the input and options. The same
command resumes an interrupted build; 'tcbuild rebuild' shares the work between machines.`,
		Example: `  tcbuild dataset --mode indices \
      --graph demo/graph --perturbations demo/perturbations.arrow --out demo/indices`,
	}
	datasetFlags(cmd, &o)
	flags := cmd.Flags()
	choiceFlag(cmd, &o.Variant, "mode", "", []store.Variant{store.Indices, store.FullMasks},
		"what to store: indices or full-masks")
	flags.StringVar(&o.Codec, "codec", "",
		fmt.Sprintf("encoding: %s for indices; %s for full-masks (default: the first)",
			strings.Join(encode.Codecs(encode.Indices), ", "),
			strings.Join(encode.Codecs(encode.FullMasks), ", ")))
	intFlag(flags, &o.Shards, "shards", 0, 0,
		"number of shards (default: by the dataset's size)")
	choiceFlag(cmd, &o.Resume, "resume", store.ResumeIfPossible,
		[]store.Resume{store.ResumeNever, store.ResumeIfPossible, store.ResumeAlways},
		"resume a build: never, if-possible or always")
	require(cmd, "mode", "perturbations")
	_ = cmd.RegisterFlagCompletionFunc("codec",
		func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			codecs := encode.Codecs(encode.Mode(o.Variant))
			if len(codecs) == 0 { // of any mode, until one is given
				codecs = append(encode.Codecs(encode.Indices), encode.Codecs(encode.FullMasks)...)
			}
			slices.Sort(codecs)
			return slices.Compact(codecs), cobra.ShellCompDirectiveNoFileComp
		})
	return configured(e, cmd, func(ctx context.Context, _ []string) error {
		return runBuild(ctx, e, o)
	})
}

func newIncidence(e *env) *cobra.Command {
	o := buildOptions{Options: tcbuild.Options{Variant: store.Incidence}}
	cmd := &cobra.Command{
		Use:        "incidence --graph DIR [--perturbations FILE] --out DATASET",
		SuggestFor: []string{"build", "create"},
		Short:      "Build a dataset of deleted genes and one incidence cache",
		Long: `Build the smallest variant, mostly the fastest to read, too: every sample's deleted genes and
phenotypes, and one incidence cache. The cache has the positions that each gene and reaction
removes, from which readers make masks. Without --perturbations, build only the cache.`,
		Example: `  tcbuild incidence --graph yeast/graph --perturbations screen.tsv \
      --genes-columns gene_a,gene_b --out yeast/screen --dry-run`,
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
	workersFlag(flags, &o.Workers)
	choiceFlag(cmd, &o.ReactionRule, "reaction-rule", incidence.RuleAll,
		[]incidence.ReactionRule{incidence.RuleAll, incidence.RuleGPR},
		"remove a reaction with any of its genes (all), or when its boolean rule becomes false, so "+
			"that isozymes keep it (gpr)")
	perturbationFlags(cmd, &o.Spec)
}

// datasetFlags declares the flags of a command that builds one dataset.
func datasetFlags(cmd *cobra.Command, o *buildOptions) {
	inputFlags(cmd, &o.Options)
	flags := cmd.Flags()
	outFlag(flags, &o.Out, "out", datasetOutput, "dataset to create: `DATASET`")
	flags.BoolVar(&o.DryRun, "dry-run", false,
		"read all input, say what would be built, and write nothing")
	fileFlag(flags, &o.dropped, "dropped", beginsWith(ingest.DroppedNamesHeader),
		"write names that match no gene, with reasons and counts, to `FILE`")
	require(cmd, "graph", "out")
}

func runBuild(ctx context.Context, e *env, o buildOptions) error {
	if o.dropped != "" {
		o.Dropped = func(table []byte) error {
			return replace(o.dropped, table, ingest.DroppedNamesHeader)
		}
	}
	result, err := buildDataset(ctx, e, o.Options)
	if err != nil {
		return err
	}
	if o.DryRun {
		return printPlanned(e, o.Options, result)
	}
	e.say(describeBuild(o.Out, result))
	return nil
}

// printPlanned prints what --dry-run found out: the account of the rows, and what the columns are.
func printPlanned(e *env, o tcbuild.Options, result *tcbuild.Result) error {
	m := result.Manifest
	e.say(fmt.Sprintf("%s: %s variant, %s samples x %d masks; nothing is written", o.Out, m.Variant,
		humanCount(m.Samples), len(m.Masks)))
	if result.Account == nil || e.quiet {
		return nil
	}
	e.say(result.Account.Line(o.File))
	var rows [][]string
	for _, use := range result.Columns.Uses() {
		rows = append(rows, []string{use.What, oneLine(strings.Join(use.Columns, ", "))})
	}
	return e.table(rows...)
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
	if result.State == tcbuild.Unchanged {
		return fmt.Sprintf("%s: nothing to do, the dataset exists and is up to date", out)
	}
	total := m.DataBytes()
	line := fmt.Sprintf("%s: %s variant, %s samples, %s in %.2f s", out, m.Variant,
		humanCount(m.Samples), humanBytes(total), result.Seconds)
	if m.Samples > 0 {
		line += fmt.Sprintf(" (%s per sample)", humanBytes(m.SampleBytes()/int64(m.Samples)))
	}
	return line
}
