package main

import (
	"context"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"tcbuild/internal/bench"
)

func newBench(e *env) *cobra.Command {
	var o bench.Options
	cmd := &cobra.Command{
		Use:   "bench --graph DIR --perturbations FILE --out DIR",
		Short: "Measure what each way of storing masks costs, on your own graph",
		Long: `Measure what each way of storing masks costs, on your own graph: build every variant with every
codec and read it back in Go. Print tables and what to choose; DIR/report.html adds a plot,
DIR/results.json every figure. Datasets take up to 3 GB of disk at a time by default.
'python -m tcbuild.compare' measures training.`,
		Example: `  tcbuild bench --graph demo/graph --perturbations demo/perturbations.arrow --out demo/bench`,
	}
	flags := cmd.Flags()
	inputFlags(cmd, &o.Options)
	outFlag(flags, &o.Out, "out", newOutput, "folder to create: `DIR`")
	intFlag(flags, &o.Samples, "samples", 0, 0,
		"samples in each dataset, 2 or more (default: up to 100,000, and 2.5 GB)")
	intFlag(flags, &o.Rounds, "rounds", 3, 1, "times to measure everything")
	intFlag(flags, &o.Extrapolate, "extrapolate", 0, 0,
		"samples to extrapolate costs to (default: all in the perturbation set)")
	flags.BoolVar(&o.Keep, "keep", false,
		"keep the last round's DIR/datasets and DIR/inputs")
	require(cmd, "graph", "perturbations", "out")
	return configured(e, cmd, func(ctx context.Context, _ []string) error {
		return runBench(ctx, e, o)
	})
}

func runBench(ctx context.Context, e *env, o bench.Options) error {
	o.Workers, o.Program, o.Log = runtime.GOMAXPROCS(0), buildVersion(), e.log
	out := o.Out
	var results *bench.Results
	err := publish(out, func(dir string) (err error) {
		o.Out = dir
		results, err = bench.Run(ctx, o)
		return err
	})
	if err != nil || e.quiet {
		return err
	}
	if err := results.Print(e.stdout); err != nil {
		return err
	}
	e.say("", "As a page: "+filepath.Join(out, "report.html"))
	return nil
}
