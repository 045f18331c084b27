package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild"
	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
	"tcbuild/internal/slurm"
	"tcbuild/store"
)

type rebuildOptions struct {
	root, dataset  string
	variants       []string
	ingest         ingestSettings
	synth          synthOptions
	build          tcbuild.Options
	method, device string
	keep           int
	force, dryRun  bool
	journal        journalOptions
	slurm          slurmOptions
}

func newRebuild(e *env) *cobra.Command {
	var o rebuildOptions
	cmd := &cobra.Command{
		Use:   "rebuild --config FILE",
		Short: "Bring a named dataset up to date: make input, build and verify all variants, publish a version",
		Long: `Bring the dataset ROOT/DATASET up to date. A new version of it,
ROOT/DATASET/000007-3fa2c1d0/, holds the variants incidence, indices and full-masks
of one graph and perturbation set. When all of them are verified, the symbolic link
ROOT/DATASET/current is switched to it atomically, and versions beyond --keep are removed.

Only what depends on changed inputs, options or program is built again; if nothing
changed, there is nothing to do. Only one run at a time: a second one exits with 75.
The next run continues an interrupted one.

The input is a graph and a perturbation set (--graph, --perturbations). In place of
--graph, a settings section
  ingest: {config: yeast, data: DOWNLOADS}
builds the graph from public sources, as 'tcbuild ingest graph' does. Without any of
these, the input is synthetic.

With --slurm the chain is submitted as jobs: incidence, an array of shards,
finalize, verify.`,
		Example: `  tcbuild rebuild --config quickstart
  tcbuild rebuild --config my.yaml --dry-run
  tcbuild rebuild --config my.yaml --quiet --log-file my.log --metrics-file /var/lib/node_exporter/my.prom
  tcbuild rebuild --config my.yaml --slurm --array 8 --partition cpu --gpu-partition gpu`,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.root, "root", "", "folder for all output: `DIR`")
	flags.StringVar(&o.dataset, "dataset", "", "`NAME` of the dataset, a folder in the root (default: the name of the settings file)")
	flags.StringSliceVar(&o.variants, "variants", allVariants, "what to build")
	inputFlags(cmd, &o.build)
	synthFlags(cmd, &o.synth)
	flags.IntVar(&o.build.Shards, "shards", 0, "number of shards (default: that of --array, else chosen by the dataset's size)")
	flags.StringVar(&o.method, "method", string(gpuverify.Both), "how to regenerate masks for verification: incidence, edges or both")
	flags.StringVar(&o.device, "device", "cpu", "where to regenerate masks for verification")
	flags.IntVar(&o.keep, "keep", 3, "versions to keep, including the current one")
	flags.BoolVar(&o.force, "force", false, "rebuild everything, even if nothing changed")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print what would run and why, without changing anything")
	o.journal.flags(flags)
	o.slurm.flags(flags)
	_ = cmd.MarkFlagRequired("root")
	return configured(e, cmd, func(ctx context.Context, _ []string, settings *conf.Settings) error {
		if err := errors.Join(o.check(e), o.ingest.read(settings)); err != nil {
			return err
		}
		return runRebuild(ctx, e, o)
	}, ingestSection)
}

var allVariants = []string{string(store.Incidence), string(store.Indices), string(store.FullMasks)}

// check refuses conflicting settings, and fills in those that follow from others.
func (o *rebuildOptions) check(e *env) error {
	if o.dataset == "" {
		o.dataset = strings.TrimSuffix(filepath.Base(e.config), filepath.Ext(e.config))
	}
	switch {
	case o.dataset == "" || o.dataset != filepath.Base(o.dataset) || strings.HasPrefix(o.dataset, "."):
		return fault.New(fault.Usage, "add --dataset NAME",
			"rebuild: found dataset name %q, expected the name of a folder in --root", o.dataset)
	case o.keep < 1:
		return fault.New(fault.Usage, "--keep 1 keeps only the current version", "read --keep: found %d, expected 1 or more", o.keep)
	case o.build.Shards < 0 || o.slurm.array < 0:
		return fault.New(fault.Usage, "omit them for their defaults",
			"read --shards and --array: found %d and %d, expected 1 or more", o.build.Shards, o.slurm.array)
	case len(o.variants) == 0:
		return fault.New(fault.Usage, "name one of "+strings.Join(allVariants, ", "), "read --variants: found none")
	case o.build.Graph != "" && o.build.Perturbations == "":
		return fault.New(fault.Usage, "add perturbations=FILE", "rebuild: --graph is given without --perturbations")
	}
	for i, variant := range o.variants {
		if err := oneOf("variants", variant, allVariants...); err != nil {
			return err
		}
		if slices.Contains(o.variants[:i], variant) {
			return fault.New(fault.Usage, "name it once", "read --variants: found %s twice", variant)
		}
	}
	slices.SortFunc(o.variants, func(a, b string) int { return slices.Index(allVariants, a) - slices.Index(allVariants, b) })
	if o.slurm.step != "" {
		o.journal.logFile = "" // the job has its own log
		if err := oneOf("step", o.slurm.step, stepIncidence, stepShards, stepFinalize, stepVerify); err != nil {
			return err
		}
	}
	if o.slurm.used() {
		o.slurm.array = cmp.Or(o.slurm.array, o.build.Shards, 1)
		if o.slurm.gpuPartition != "" && o.device == "cpu" {
			o.device = "cuda"
		}
	}
	if o.build.Shards == 0 {
		o.build.Shards = o.slurm.array
	}
	if o.build.Workers == 0 {
		o.build.Workers = slurm.CPUsPerTask()
	}
	return nil
}

// runRebuild does what the flags ask for: shows the plan, submits jobs, or runs one step or the
// whole chain.
func runRebuild(ctx context.Context, e *env, o rebuildOptions) error {
	chain, err := o.chain(e)
	switch {
	case err != nil:
		return err
	case o.dryRun:
		return printPlan(e, chain, o.force)
	case o.slurm.step == stepShards:
		return o.slurm.requeued(ctx, e, o.buildShards(ctx, e, chain))
	case o.slurm.step == "" && o.slurm.used():
		return o.submit(ctx, e, chain)
	}
	release, err := chain.Lock(ctx, disk.Alone, o.slurm.step != "")
	if err != nil {
		return o.slurm.requeued(ctx, e, err)
	}
	defer release()
	journal, err := o.journal.begin(e, o.dataset)
	if err != nil {
		return err
	}
	chain.Log = e.log
	_, last := o.steps(chain)
	// a job continues what the submission began
	result, err := chain.Run(ctx, last[o.slurm.step], o.force && o.slurm.step == "")
	if err = errors.Join(err, journal.end(exitReason(ctx, err), result)); err != nil {
		return o.slurm.requeued(ctx, e, err)
	}
	return printRebuilt(e, chain, o.variants, result)
}

// printRebuilt prints what a run did.
func printRebuilt(e *env, chain *rebuild.Chain, variants []string, result *rebuild.Result) error {
	switch {
	case e.quiet:
		return nil
	case result.Unchanged:
		e.say(describeReady(chain, result.Version))
		return nil
	case result.Version != "" && result.Ran+result.Kept == 0:
		e.say(fmt.Sprintf("%s: made version %s current: it has the same inputs, options and program", chain.Dir,
			filepath.Base(result.Version)))
		return nil
	case result.Version == "":
		e.say(fmt.Sprintf("%s: %d stages run, %d reused", chain.Dir, result.Ran, result.Kept))
		return nil
	}
	return printVersion(e, result.Version, variants)
}

func describeReady(chain *rebuild.Chain, version string) string {
	return fmt.Sprintf("%s: nothing to do, version %s has the same inputs, options and program", chain.Dir, filepath.Base(version))
}
