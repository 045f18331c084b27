package main

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/synth"
)

type synthOptions struct {
	out     string
	scale   string
	samples int
	seed    int
}

func newSynth(e *env) *cobra.Command {
	var o synthOptions
	cmd := &cobra.Command{
		Use:        "synth --out DIR",
		SuggestFor: []string{"demo", "generate", "example"},
		Short:      "Make a synthetic cell graph and perturbation set",
		Long: `Make a synthetic cell graph, DIR/graph, and a perturbation set for it,
DIR/perturbations.arrow. The same scale, samples and seed give the same bytes.`,
		Example: `  tcbuild synth --out demo
  tcbuild synth --out big scale=yeast samples=1000000`,
	}
	flags := cmd.Flags()
	outFlag(flags, &o.out, "out", newOutput, "folder to create: `DIR`")
	choiceFlag(cmd, &o.scale, "scale", synth.Tiny.Name, []string{synth.Tiny.Name, synth.Yeast.Name},
		"size of the graph: tiny or yeast")
	intFlag(flags, &o.samples, "samples", 0, 0,
		"number of samples (default: "+humanCount(synth.Tiny.Samples)+" at tiny, "+
			humanCount(synth.Yeast.Samples)+" at yeast)")
	intFlag(flags, &o.seed, "seed", 1, 0, "random seed")
	require(cmd, "out")
	return configured(e, cmd, func(ctx context.Context, _ []string) error {
		return runSynth(ctx, e, o)
	})
}

func runSynth(ctx context.Context, e *env, o synthOptions) error {
	size, err := synth.ParseScale(o.scale)
	if err != nil {
		return err
	}
	o.samples = cmp.Or(o.samples, size.Samples)
	if o.samples > ingest.MostSamples {
		return fault.New(fault.Usage, "give a smaller number: a million samples take some seconds",
			"synth: found --samples %d, expected at most the %s that a dataset holds",
			o.samples, humanCount(ingest.MostSamples))
	}
	return publish(o.out, func(dir string) error {
		made := synth.Graph(size, uint64(o.seed))
		if err := graph.Write(filepath.Join(dir, "graph"), made); err != nil {
			return err
		}
		_, edges := made.Size()
		e.log.Info("made graph", "genes", made.Genes.Len(), "reactions", made.Reactions.Len(),
			"metabolites", made.Metabolites.Len(), "edges", edges)
		if err := samples.Write(ctx, filepath.Join(dir, "perturbations.arrow"),
			synth.Samples(size, uint64(o.seed), o.samples), made.Genes); err != nil {
			return err
		}
		e.log.Info("made perturbations", "samples", o.samples)
		return nil
	})
}
