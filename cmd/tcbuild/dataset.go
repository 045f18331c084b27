package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild"
	"tcbuild/encode"
	"tcbuild/incidence"
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
		Example: `  tcbuild dataset --mode indices \
      --graph demo/graph --perturbations demo/perturbations.arrow --out demo/indices
  tcbuild dataset --mode full-masks --codec raw \
      --graph demo/graph --perturbations demo/perturbations.arrow --out demo/raw`,
	}
	set := datasetFlags(cmd, &o)
	flags := cmd.Flags()
	choiceFlag(cmd, &o.Variant, "mode", "", []store.Variant{store.Indices, store.FullMasks},
		"what to store: indices or full-masks")
	flags.StringVar(&o.Codec, "codec", "",
		fmt.Sprintf("how to encode masks: %s for indices; %s for full-masks (default: the first)",
			strings.Join(encode.Codecs(encode.Indices), ", "),
			strings.Join(encode.Codecs(encode.FullMasks), ", ")))
	intFlag(flags, &o.Shards, "shards", 0, 0,
		"number of shards (default: chosen by the dataset's size)")
	choiceFlag(cmd, &o.Resume, "resume", store.ResumeIfPossible,
		[]store.Resume{store.ResumeNever, store.ResumeIfPossible, store.ResumeAlways},
		"resume an interrupted build: never, if-possible or always")
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
	return set.configured(e, cmd, &o.Spec, func(ctx context.Context, _ []string) error {
		return runBuild(ctx, e, o)
	})
}

func newIncidence(e *env) *cobra.Command {
	o := tcbuild.Options{Variant: store.Incidence}
	cmd := &cobra.Command{
		Use:   "incidence --graph DIR [--perturbations FILE] --out DATASET",
		Short: "Build an incidence dataset: the deleted genes, and one incidence cache",
		Long: `Build an incidence dataset. It stores every sample's deleted genes and phenotypes,
and one incidence cache: the positions that each gene and reaction removes, from which readers
make the masks. It is the smallest variant, and for most uses the fastest. Without
--perturbations, build only the cache.`,
		Example: `  tcbuild incidence --graph demo/graph \
      --perturbations demo/perturbations.arrow --out demo/incidence
  tcbuild incidence --graph yeast/graph --perturbations screen.xlsx \
      --genes-columns gene_a,gene_b --out yeast/screen`,
	}
	set := datasetFlags(cmd, &o)
	return set.configured(e, cmd, &o.Spec, func(ctx context.Context, _ []string) error {
		return runBuild(ctx, e, o)
	})
}

// inputFlags declares the input flags that all dataset variants share.
func inputFlags(cmd *cobra.Command, o *tcbuild.Options) *perturbations {
	flags := cmd.Flags()
	flags.StringVar(&o.Graph, "graph", "", "cell graph: `DIR`")
	workersFlag(flags, &o.Workers)
	choiceFlag(cmd, &o.ReactionRule, "reaction-rule", incidence.RuleAll,
		[]incidence.ReactionRule{incidence.RuleAll, incidence.RuleGPR},
		"when to remove a reaction: all, if any of its genes is deleted, as in torchcell; gpr, "+
			"if its boolean rule becomes false, so that isozymes keep it")
	return perturbationFlags(cmd)
}

// datasetFlags declares the flags of a command that builds one dataset.
func datasetFlags(cmd *cobra.Command, o *tcbuild.Options) *perturbations {
	set := inputFlags(cmd, o)
	outFlag(cmd.Flags(), &o.Out, "out", datasetOutput, "dataset to create: `DATASET`")
	require(cmd, "graph", "out")
	return set
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
	line := fmt.Sprintf("%s: %s variant, %s samples, %s in %.2f s", out, m.Variant,
		humanCount(m.Samples), humanBytes(total), result.Seconds)
	if m.Samples > 0 {
		line += fmt.Sprintf(" (%s per sample)", humanBytes(m.SampleBytes()/int64(m.Samples)))
	}
	return line
}

func newStage(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stage DATASET DIR",
		Short: "Copy a dataset to node-local disk or memory, with checks, unless it is there",
		Long: `Make DIR a copy of a dataset, on a node's own disk or in /dev/shm. Every file is
checked against its checksum while it is copied. If DIR is a copy already, it is checked and
kept. An earlier copy in DIR, of this dataset or another, is replaced at the end, in one step.
If several processes stage to the same DIR, one copies and the others wait. An interrupted copy
starts again.`,
		Example: `  tcbuild stage data/yeast/current/full-masks /dev/shm/yeast`,
	}
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		path := args[0]
		dir, err := checkPlace(args[1])
		if err != nil {
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
