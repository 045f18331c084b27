package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild"
	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
	"tcbuild/store"
)

type rebuildOptions struct {
	root, dataset string
	variants      []string
	ingest        ingestSettings
	synth         synthOptions
	build         tcbuild.Options
	method        gpuverify.Method
	devices       *gpuverify.Devices
	keep          int
	force, dryRun bool
	ifBusy        string
	logFile       string
	metricsFile   string
	step          rebuild.StepKind
	part          part
	parts         int
	scrubDays     int
	forward       bool
	settings      *conf.Settings
	given         *pflag.FlagSet
}

func newRebuild(e *env) *cobra.Command {
	var o rebuildOptions
	cmd := &cobra.Command{
		Use: "rebuild --config FILE",
		Short: "Bring a named dataset up to date: make its input, build and verify all variants, " +
			"publish a version",
		Long: `Bring the dataset ROOT/DATASET up to date. A new version, ROOT/DATASET/000007-3fa2c1d0/,
holds the variants incidence, indices and full-masks of one graph and perturbation set.
When all of them are verified, the symbolic link ROOT/DATASET/current is switched to it
atomically, and all but the newest versions are removed (keep=3).

Only what depends on a changed input, option or program is rebuilt. A second run at the
same time exits with 75. After an interruption, the next run continues.

The input is a graph and a perturbation set (--graph, --perturbations). In place of
--graph, the settings section

    ingest: {config: yeast, data: DOWNLOADS}

builds the graph from public sources, as 'tcbuild ingest graph' does. With scale=yeast
instead of both, the input is synthetic.

Schedulers run the same work as steps, on any number of nodes:

    --step prepare --parts N   makes the input and the first dataset, and pins the plan
    --step build --part I/N    for each I from 1 to N, in any order
    --step verify --part I/N   when all parts are built
    --step publish             when all parts are verified

A part that is done is skipped. If inputs, settings or the program have changed since the
plan was made, or another run has replaced it, a step exits with 75: prepare again.

If somebody points current at an older version, it stays there until inputs or settings
change, or until a run with --forward. Every scrub_days=30 days, a run compares all files
of the current version with their digests. If one is damaged, the run builds everything
again, and exits with 4.

Most settings are not listed below. Write them in the settings file or as key=value, such as
keep=5 or variants=[indices]. 'tcbuild docs operations' has examples, 'tcbuild docs
settings' lists every key.`,
		Example: `  tcbuild rebuild --config quickstart
  tcbuild rebuild --config my.yaml --dry-run
  tcbuild rebuild --config my.yaml --quiet --if-busy ok \
      --log-file my.log --metrics-file /var/lib/node_exporter/my.prom
  tcbuild rebuild --config my.yaml --step prepare --parts 16
  tcbuild rebuild --config my.yaml --step build --part 3/16`,
	}
	flags := cmd.Flags()
	outFlag(flags, &o.root, "root", folderOutput, "folder for all output: `DIR`")
	flags.StringVar(&o.dataset, "dataset", "",
		"`NAME` of the dataset, a folder in the root (default: the name of the settings file)")
	flags.StringSliceVar(&o.variants, "variants", allVariants, "variants to build")
	completes(cmd, "variants", allVariants...)
	set := inputFlags(cmd, &o.build)
	synthFlags(cmd, &o.synth)
	scale := flags.Lookup("scale") // without it, the input is not synthetic
	scale.Usage, scale.DefValue =
		"use synthetic input of this size instead of graph and perturbations: tiny or yeast", ""
	intFlag(flags, &o.build.Shards, "shards", 0, 0,
		"number of shards (default: chosen by the dataset's size); "+
			"--parts rounds it up to a multiple")
	choiceFlag(cmd, &o.method, "method", gpuverify.Both, methods,
		"how to regenerate masks for verification: incidence, edges or both")
	deviceFlag(cmd, &o.devices,
		"where to regenerate masks for verification: cpu, cuda (all CUDA devices), or cuda:0,2")
	intFlag(flags, &o.keep, "keep", 3, 1, "versions to keep, including the current one")
	flags.BoolVar(&o.force, "force", false, "rebuild everything, even if nothing changed")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print what would run and why, but change nothing")
	choiceFlag(cmd, &o.ifBusy, "if-busy", "fail", []string{"fail", "ok"},
		"what to do if another run is rebuilding the dataset: fail exits with 75; "+
			"ok says so on stdout, or nothing with --quiet, and exits with 0, "+
			"unless this is a step")
	logFlag(flags, &o.logFile, "log-file", "also append the log to `FILE`")
	metrics := &output{
		path: &o.metricsFile, role: optional, ours: beginsWith(rebuild.MetricsBegin),
	}
	flags.Var(metrics, "metrics-file", "write metrics about the rebuild to `FILE`; "+
		"end its name in .prom for node_exporter's textfile collector")
	steps := []rebuild.StepKind{rebuild.Prepare, rebuild.Build, rebuild.Verify, rebuild.Publish}
	choiceFlag(cmd, &o.step, "step", "", steps,
		"run one step: prepare, build, verify or publish")
	partFlag(flags, &o.part)
	intFlag(flags, &o.parts, "parts", 1, 1, "with --step prepare: number of parts `N`")
	intFlag(flags, &o.scrubDays, "scrub-days", 30, 0,
		"days after which a run compares the current version with its digests again; 0: never")
	flags.BoolVar(&o.forward, "forward", false,
		"make the newest version current again after somebody went back to an older one")
	require(cmd, "root")
	shown := []string{"root", "dataset", "graph", "perturbations", "dry-run", "force", "if-busy",
		"log-file", "metrics-file", "step", "part", "parts", "forward"}
	flags.VisitAll(func(flag *pflag.Flag) { flag.Hidden = !slices.Contains(shown, flag.Name) })
	o.given = flags
	return set.configured(e, cmd, &o.build.Spec, func(ctx context.Context, _ []string) error {
		o.settings = e.settings
		if err := errors.Join(o.check(e), o.ingest.read(e.settings)); err != nil {
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
	case !rebuild.IsName(o.dataset):
		return fault.New(fault.Usage, "add --dataset NAME",
			"rebuild: found dataset name %q, expected letters, digits, ., _ and -, "+
				"with a letter, digit or _ first", o.dataset)
	case o.step.HasParts() != (o.part.count > 0):
		return fault.New(fault.Usage,
			"write --step build --part 3/16, for each part from 1 to the N of --step prepare",
			"read --step: expected --part I/N with build and verify, and only with them")
	case len(o.variants) == 0:
		return fault.New(fault.Usage, "name one of "+strings.Join(allVariants, ", "),
			"read --variants: found none")
	}
	for _, variant := range o.variants {
		if err := fault.OneOf("read --variants", variant, allVariants...); err != nil {
			return err
		}
	}
	slices.SortFunc(o.variants, func(a, b string) int {
		return slices.Index(allVariants, a) - slices.Index(allVariants, b)
	})
	o.variants = slices.Compact(o.variants)
	return nil
}

// runRebuild does what the flags ask for: show, run one step, or run the whole chain.
func runRebuild(ctx context.Context, e *env, o rebuildOptions) (err error) {
	if o.dryRun {
		chain, err := o.chain(e)
		if err != nil {
			return err
		}
		return printPlan(e, chain)
	}
	sharing := disk.Alone
	if o.step.HasParts() {
		sharing = disk.Shared
	}
	dir := filepath.Join(o.root, o.dataset)
	lock, err := rebuild.Lock(dir, sharing)
	// a scheduler would think that a step which did nothing is done
	if fault.KindOf(err) == fault.Busy && o.ifBusy == "ok" && o.step == "" {
		e.say(err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	journal, log, err := rebuild.BeginJournal(rebuild.JournalOptions{
		Dir: dir, Step: o.step, Part: o.part.number, Parts: o.part.count,
		LogFile: o.logFile, MetricsFile: o.metricsFile, Handler: e.fileHandler,
		Redact: o.redact(shortestSecret),
	}, e.log)
	if err != nil {
		return err
	}
	e.log = log
	var chain *rebuild.Rebuild
	var result *rebuild.Result
	err = fault.Catch(func() (err error) {
		if chain, err = o.chain(e); err != nil {
			return err
		}
		chain.Progress = journal.Watch(chain.Progress)
		result, err = o.run(ctx, chain)
		return err
	})()
	err = exitReason(ctx, err)
	journal.End(err, result)
	if err != nil || o.step.HasParts() {
		return err
	}
	return printRebuilt(e, chain, result)
}

func (o *rebuildOptions) run(
	ctx context.Context, chain *rebuild.Rebuild,
) (*rebuild.Result, error) {
	if o.step.HasParts() {
		return nil, chain.Part(ctx, o.step, o.part.number, o.part.count)
	}
	if err := chain.Scrub(ctx, o.scrubDays); err != nil {
		return nil, err
	}
	switch o.step {
	case rebuild.Prepare:
		return chain.Prepare(ctx, o.parts)
	case rebuild.Publish:
		return chain.Publish(ctx)
	}
	return chain.Run(ctx)
}

// chain makes the chain, whose stages run as the commands of their names do.
func (o *rebuildOptions) chain(e *env) (*rebuild.Rebuild, error) {
	program, err := rebuild.Identity(buildVersion())
	if err != nil {
		return nil, err
	}
	input, err := o.input(e)
	if err != nil {
		return nil, err
	}
	o.build.Program, o.build.Redact = buildVersion(), o.redact(1)
	chain := &rebuild.Rebuild{
		Chain: rebuild.Chain{
			Dir: filepath.Join(o.root, o.dataset), Program: program, Keep: o.keep,
			Force: o.force, Forward: o.forward, Log: e.log, Redact: o.redact(1),
		},
		Variants: o.variants, Input: input, Build: o.build,
		Verify: gpuverify.Options{Method: o.method, Workers: o.build.Workers, Devices: o.devices},
		Progress: func(stage string, samples int) tcbuild.Progress {
			return newProgress(e, stage, samples)
		},
	}
	return chain, chain.AddStages()
}

// shortestSecret is the shortest value of an environment variable that messages leave out.
const shortestSecret = 4

// redact returns a function that takes the values of environment variables out of a text, if they
// have at least so many bytes.
func (o *rebuildOptions) redact(least int) func(text string) string {
	return func(text string) string {
		return o.settings.Redact(o.ingest.settings.Redact(text, least), least)
	}
}
