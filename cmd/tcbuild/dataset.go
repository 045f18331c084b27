package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild"
	"tcbuild/conf"
	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/store"
)

func newDataset(e *env) *cobra.Command {
	var o tcbuild.Options
	var shard string
	cmd := &cobra.Command{
		Use:   "dataset --mode indices|full-masks --graph DIR --perturbations FILE --out DATASET",
		Short: "Build a dataset that holds every sample's masks",
		Long: `Build a dataset that stores every sample's masks in LMDB shards, either as removed
positions (indices) or whole (full-masks).

The same input and options give the same bytes with any number of workers. To resume
an interrupted build after its last complete shard, run the same command again.
Several processes can each build one shard, with --shard I/N and I from 0 to N-1; the
process that completes the last shard publishes the dataset.`,
		Example: `  tcbuild dataset --mode indices --graph demo/graph --perturbations demo/perturbations.arrow --out demo/indices
  tcbuild dataset --mode full-masks --codec raw --graph demo/graph --perturbations demo/perturbations.arrow --out demo/raw
  tcbuild dataset --mode indices --graph big/graph --perturbations big/perturbations.arrow --out big/indices --shard 2/8`,
	}
	datasetFlags(cmd, &o)
	flags := cmd.Flags()
	choiceFlag(cmd, &o.Variant, "mode", "", []store.Variant{store.Indices, store.FullMasks}, "what to store: indices or full-masks")
	flags.StringVar(&o.Codec, "codec", "", fmt.Sprintf("how to encode masks: %s for indices; %s for full-masks (default: the first)",
		strings.Join(encode.Codecs(encode.Indices), ", "), strings.Join(encode.Codecs(encode.FullMasks), ", ")))
	flags.IntVar(&o.Shards, "shards", 0, "number of shards (default: chosen by the dataset's size)")
	flags.StringVar(&shard, "shard", "", "build only shard I of N, counted from 0: `I/N`")
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
	return configured(e, cmd, func(ctx context.Context, _ []string, _ *conf.Settings) error {
		if o.Shards < 0 {
			return fault.New(fault.Usage, "omit --shards to have the number chosen by the dataset's size",
				"read --shards: found %d, expected 1 or more", o.Shards)
		}
		if shard != "" {
			i, n, err := parseShard(shard)
			if err != nil {
				return err
			}
			if o.Shards != 0 && o.Shards != n {
				return fault.New(fault.Usage, "omit --shards", "read --shard: found %q together with --shards %d", shard, o.Shards)
			}
			o.Shard, o.Shards = &i, n
		}
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
	return configured(e, cmd, func(ctx context.Context, _ []string, _ *conf.Settings) error {
		return runBuild(ctx, e, o)
	})
}

// parseShard parses I/N.
func parseShard(text string) (i, n int, err error) {
	index, count, _ := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if err1 != nil || err2 != nil || i < 0 || i >= n {
		return 0, 0, fault.New(fault.Usage, "shards count from 0: 0/4 is the first of four",
			"read --shard: found %q, expected I/N with 0 <= I < N", text)
	}
	return i, n, nil
}
