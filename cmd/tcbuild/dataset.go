package main

import (
	"context"
	"fmt"
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
	var mode, shard string
	cmd := &cobra.Command{
		Use:   "dataset --mode indices|full-masks --graph DIR --perturbations FILE --out DATASET",
		Short: "Build a dataset that holds every sample's masks",
		Long: `Build a dataset that holds every sample's masks, as the positions they remove
(indices) or whole (full-masks), in LMDB shards.

The same input and options give the same bytes, with any number of workers. An
interrupted build resumes after its last shard when the same command is run again.
Shards can be built apart, by --shard I/N with I from 0 to N-1; the process that
completes the last one publishes the dataset.`,
		Example: `  tcbuild dataset --mode indices --graph demo/graph --perturbations demo/perturbations.arrow --out demo/indices
  tcbuild dataset --mode full-masks --codec raw --graph demo/graph --perturbations demo/perturbations.arrow --out demo/raw
  tcbuild dataset --mode indices --graph big/graph --perturbations big/perturbations.arrow --out big/indices --shard 2/8`,
	}
	stats := datasetFlags(cmd, &o)
	flags := cmd.Flags()
	flags.StringVar(&mode, "mode", "", "what to hold: indices or full-masks")
	flags.StringVar(&o.Codec, "codec", "", fmt.Sprintf("how to encode masks: %s for indices, %s for full-masks (default: the first)",
		strings.Join(encode.Codecs(encode.Indices), ", "), strings.Join(encode.Codecs(encode.FullMasks), ", ")))
	flags.IntVar(&o.Shards, "shards", 0, "number of shards (default: chosen by the dataset's size)")
	flags.StringVar(&shard, "shard", "", "build one shard of several, `I/N` with I from 0")
	flags.StringVar((*string)(&o.Resume), "resume", string(store.ResumeIfPossible),
		"resume an interrupted build: never, if-possible or always")
	require(cmd, "mode", "perturbations")
	return configured(e, cmd, func(ctx context.Context, _ []string, _ *conf.Settings) error {
		o.Variant = store.Variant(mode)
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
		return runBuild(ctx, e, o, *stats)
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
