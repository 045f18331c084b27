package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/internal/bench"
)

func newBench(e *env) *cobra.Command {
	var o bench.Options
	cmd := &cobra.Command{
		Use:   "bench --graph DIR --perturbations FILE --out DIR",
		Short: "Measure what each way of storing masks costs, on your own graph",
		Long: `Measure what each way of storing masks costs, on your own graph: build every
variant with every codec and read it back, in several rounds. Prints tables, plots size
against loading time in DIR/report.html, and writes every figure to DIR/results.json. The
datasets take up to 3 GB of disk at a time by default, and are removed at the end.`,
		Example: `  tcbuild bench --graph demo/graph --perturbations demo/perturbations.arrow --out demo/bench
  tcbuild bench --graph big/graph --perturbations big/perturbations.arrow --out big/bench --extrapolate 20000000`,
	}
	flags := cmd.Flags()
	inputFlags(cmd, &o.Options)
	flags.StringVar(&o.Out, "out", "", "folder to create: `DIR`")
	flags.IntVar(&o.Samples, "samples", 0, "samples in each dataset (default: up to 100,000; full masks as raw or bits, at most 2.5 GB)")
	flags.IntVar(&o.Rounds, "rounds", 3, "number of times to measure everything")
	flags.IntVar(&o.Extrapolate, "extrapolate", 0,
		"number of samples to extrapolate costs to (default: the size of the perturbation set)")
	flags.BoolVar(&o.Keep, "keep", false, "keep the last round's datasets in DIR/datasets and their inputs in DIR/inputs")
	require(cmd, "graph", "perturbations", "out")
	return configured(e, cmd, func(ctx context.Context, _ []string, _ *conf.Settings) error {
		return runBench(ctx, e, o)
	})
}

func runBench(ctx context.Context, e *env, o bench.Options) error {
	err := errors.Join(atLeast("samples", o.Samples, 0), atLeast("rounds", o.Rounds, 1), atLeast("extrapolate", o.Extrapolate, 0))
	if err != nil {
		return err
	}
	if o.Workers, err = useCores(o.Workers); err != nil {
		return err
	}
	o.Program, o.Log = buildVersion(), e.log
	out := o.Out
	var results *bench.Results
	err = publish(out, func(dir string) error {
		if err := os.Mkdir(dir, 0o777); err != nil {
			return err
		}
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
	e.say("", "Plot and how to read it: "+filepath.Join(out, "report.html"))
	return nil
}

// atLeast refuses a flag's value that is too small.
func atLeast(flag string, value, least int) error {
	if value < least {
		return fault.New(fault.Usage, "omit --"+flag+" for its default",
			"read --%s: found %d, expected %d or more", flag, value, least)
	}
	return nil
}
