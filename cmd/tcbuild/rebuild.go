package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild"
	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/build"
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
		return o.show(e)
	}
	chain, chainErr := o.chain(e)
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
	var result *rebuild.Result
	err = fault.Catch(func() (err error) {
		if chainErr != nil {
			return chainErr
		}
		chain.Log, chain.Progress = log, journal.Watch(chain.Progress)
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

// show prints what a run would do, and why.
func (o *rebuildOptions) show(e *env) error {
	chain, err := o.chain(e)
	if err != nil {
		return err
	}
	plan, err := chain.Plan()
	if err != nil {
		return err
	}
	return printPlan(e, chain, plan)
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
		if o.ingest.settings != nil {
			text = o.ingest.settings.Redact(text, least)
		}
		if o.settings != nil {
			text = o.settings.Redact(text, least)
		}
		return text
	}
}

// input is how the chain makes the input that is not given.
func (o *rebuildOptions) input(e *env) (rebuild.Input, error) {
	switch public, graph := o.ingest.Config != "", o.build.Graph != ""; {
	case public && graph:
		return rebuild.Input{}, fault.New(fault.Usage, "omit one of them",
			"rebuild: found both --graph and a section ingest")
	case (public || graph) && o.build.File == "":
		return rebuild.Input{}, fault.New(fault.Usage, "add perturbations=FILE",
			"rebuild: a graph is given without --perturbations")
	case public:
		return o.ingest.input(e)
	case graph:
		return rebuild.Input{}, nil
	case o.build.File != "":
		return rebuild.Input{}, fault.New(fault.Usage, "add graph=DIR",
			"rebuild: --perturbations is given without --graph")
	case !o.given.Changed("scale"):
		return rebuild.Input{}, fault.New(fault.Usage,
			"add graph=DIR perturbations=FILE; scale=tiny makes a synthetic input",
			"rebuild: found no input, expected --graph and --perturbations")
	}
	if err := o.synth.check(); err != nil {
		return rebuild.Input{}, err
	}
	return rebuild.Input{
		Stage: "synth",
		Options: map[string]string{"scale": o.synth.scale, "samples": strconv.Itoa(o.synth.samples),
			"seed": fmt.Sprint(o.synth.seed)},
		Make: func(ctx context.Context, out string) ([]ingest.Input, error) {
			options := o.synth
			options.out = out
			return nil, runSynth(ctx, e, options)
		},
	}, nil
}

func printPlan(e *env, chain *rebuild.Rebuild, plan *rebuild.Plan) error {
	if plan.Ready != "" {
		sayReady(e, chain, plan.Ready)
		return nil
	}
	rows := [][]string{{"stage", "action", "why"}}
	for _, step := range plan.Steps {
		rows = append(rows, []string{step.Name, string(step.Action), step.Why})
	}
	return e.table(rows...)
}

func sayReady(e *env, chain *rebuild.Rebuild, version string) {
	e.say(fmt.Sprintf("%s: nothing to do, version %s has the same inputs, options and program",
		chain.Dir, filepath.Base(version)))
}

// printRebuilt prints what a run did: the cost of the version's variants, and that they agree, from
// the files stored with them.
func printRebuilt(e *env, chain *rebuild.Rebuild, result *rebuild.Result) error {
	switch {
	case e.quiet || result.Version == "":
		return nil
	case result.Unchanged:
		sayReady(e, chain, result.Version)
		return nil
	}
	rows := [][]string{{"variant", "codec", "build time", "bytes per sample", "total", "verified"}}
	var m *store.Manifest
	var report gpuverify.Report
	for _, variant := range chain.Variants {
		dataset := filepath.Join(result.Version, variant)
		var run tcbuild.Result
		var err error
		if m, err = store.ReadManifest(dataset); err != nil {
			return err
		}
		runErr := disk.ReadJSON(filepath.Join(dataset, "run.json"), &run)
		path := filepath.Join(result.Version, rebuild.ReportName(variant))
		if err := errors.Join(runErr, disk.ReadJSON(path, &report)); err != nil {
			return fmt.Errorf("read how %s was made: %w", dataset, err)
		}
		rows = append(rows,
			[]string{string(m.Variant), cmp.Or(m.Codec, "-"), fmt.Sprintf("%.2f s", run.Seconds),
				humanCount(int(m.SampleBytes()) / m.Samples), humanBytes(m.DataBytes()),
				humanCount(int(report.SamplesPerSecond)) + " samples/s"})
	}
	if err := e.table(rows...); err != nil {
		return err
	}
	// the incidence variant, which comes first, is always verified by both methods
	method := "method " + string(report.Method)
	if report.Method == gpuverify.Both {
		method = "two independent methods"
	}
	agreement := []string{"Masks that match the graph", "The same masks in both",
		"The same masks in all three"}
	e.say("", fmt.Sprintf("%s, bit for bit: %s samples x %d masks, %s positions per sample,",
		agreement[len(chain.Variants)-1], humanCount(m.Samples), len(m.Masks),
		humanCount(m.MaskPositions())),
		fmt.Sprintf("0 differences by %s; logical content %.12s…", method, m.LogicalContent))
	return nil
}

// ingestSection is the top-level key of the settings for public sources.
const ingestSection = "ingest"

// ingestSettings is that section: the settings file of 'tcbuild ingest graph', and changes to its
// settings.
type ingestSettings struct {
	Config    string
	overrides []string
	place     string         // of the section
	settings  *conf.Settings // once they are loaded
}

func (s *ingestSettings) read(settings *conf.Settings) error {
	var section struct{ Ingest map[string]string }
	if err := settings.Decode(&section); err != nil || section.Ingest == nil {
		return err
	}
	for _, entry := range settings.Entries() {
		if entry.Key == ingestSection {
			s.place = conf.Where(entry.Value)
		}
	}
	if s.Config = section.Ingest["config"]; s.Config == "" {
		return fault.New(fault.Usage, "add config: yeast, or your own settings file",
			"read settings %s: the section ingest has no config", s.place)
	}
	for _, key := range slices.Sorted(maps.Keys(section.Ingest)) {
		if key != "config" {
			s.overrides = append(s.overrides, key+"="+section.Ingest[key])
		}
	}
	return nil
}

// load reads the settings. An override must be for ingest graph, or for a value of the file's own.
func (s *ingestSettings) load() (*conf.Settings, error) {
	settings, err := conf.Load(s.Config, s.overrides)
	if err != nil {
		return nil, err
	}
	s.settings = settings
	known := conf.Keys(&build.Spec{})
	for _, entry := range settings.Entries() {
		if entry.Referenced {
			known = append(known, entry.Key)
		}
	}
	for _, entry := range settings.Entries() {
		if entry.IsOverride() && !entry.Referenced && !slices.Contains(known, entry.Key) {
			return nil, fault.New(fault.Usage, fault.DidYouMean(entry.Key, known,
				"the keys here are config, "+strings.Join(known, ", ")),
				"read settings %s: ingest: unknown setting %q", s.place, entry.Key)
		}
	}
	return settings, nil
}

// input builds the graph from public sources.
func (s *ingestSettings) input(e *env) (rebuild.Input, error) {
	settings, err := s.load()
	if err != nil {
		return rebuild.Input{}, err
	}
	var spec build.Spec
	if err := settings.Decode(&spec); err != nil {
		return rebuild.Input{}, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return rebuild.Input{}, err
	}
	return rebuild.Input{
		Stage: "ingest", Options: map[string]string{"graph": string(text)}, Files: spec.Files(),
		Make: func(ctx context.Context, out string) ([]ingest.Input, error) {
			return runIngestGraph(ctx, e, filepath.Join(out, "graph"), spec)
		},
	}, nil
}
