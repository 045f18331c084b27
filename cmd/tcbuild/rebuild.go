package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/internal/bench"
	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
	"tcbuild/internal/variants"
	"tcbuild/store"
)

type rebuildOptions struct {
	root, dataset string
	variants      []string
	build         tcbuild.Options
	method        gpuverify.Method
	devices       *gpuverify.Devices
	keep          int
	force, dryRun bool
	step          rebuild.Step
	asJSON        bool
}

var allVariants = []string{string(store.Incidence), string(store.Indices), string(store.FullMasks)}

func newRebuild(e *env) *cobra.Command {
	var o rebuildOptions
	cmd := &cobra.Command{
		Use:        "rebuild --config FILE",
		SuggestFor: []string{"update", "refresh"},
		Short:      "Bring a dataset up to date: build and verify all variants, publish them",
		Long: `Bring the dataset ROOT/DATASET up to date. A version, ROOT/DATASET/KEY, holds all variants of
one graph and perturbation set; its key is a digest of inputs, settings, format and program. A
version that is not there is built and verified. Then the link ROOT/DATASET/current is switched
to it, in one step, unless there is a file ROOT/DATASET/hold. Older versions stay (keep=3).

Each run checks the sizes of current's files, the digests of those that changed, and every 30
days all of them. A version that fails is built again; if it was current, with exit code 4. The
next run continues an interrupted one. Exit code 75 is tried three times more, after pauses.

Schedulers run the same work as the steps below, on any number of nodes: key, then build of
every part, verify of every part, and publish. 'tcbuild docs operations' has examples. Only a
few settings have a flag below; write others as keep=5. 'tcbuild docs settings' lists them all.`,
		Example: `  tcbuild rebuild --config my.yaml --dry-run
  tcbuild rebuild build --config my.yaml --part 3/16`,
	}
	cmd.Flags().BoolVar(&o.force, "force", false, "build the version again even if it is there")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false,
		"say what differs from the current version, and change nothing")
	rebuildFlags(cmd, &o, "dry-run", "force")
	cmd = configured(e, cmd, func(ctx context.Context, _ []string) error {
		return o.patiently(ctx, e, func(r *rebuild.Rebuild) error {
			if o.dryRun {
				return printDifferences(ctx, e, r)
			}
			result, err := r.Run(ctx)
			return printResult(ctx, e, r, result, err)
		})
	})
	cmd.AddCommand(rebuildSteps(e)...)
	return cmd
}

// rebuildSteps are the commands for schedulers.
func rebuildSteps(e *env) []*cobra.Command {
	key := newStep(e, "key", "Print the key of the version that would be built now",
		`Print the key of the version that would be built now, 16 hexadecimal digits, and begin its folder.
Inputs whose size, times and inode are known are not read again. --json also says whether the
version is ready, and names a folder for the scheduler's notes, which are lost with the version.`,
		func(ctx context.Context, o *rebuildOptions, r *rebuild.Rebuild) error {
			plan, err := r.Key(ctx, o.step.Count)
			if err == nil && o.asJSON {
				return e.json(plan)
			}
			if err == nil {
				_, err = fmt.Fprintln(e.stdout, plan.Key)
			}
			return err
		})
	part := func(verify bool) func(context.Context, *rebuildOptions, *rebuild.Rebuild) error {
		return func(ctx context.Context, o *rebuildOptions, r *rebuild.Rebuild) error {
			m, err := r.RunPart(ctx, verify, o.step)
			if err != nil {
				return err
			}
			return e.json(map[string]int{"samples": m.Samples, "positions": m.MaskPositions(),
				"columns": len(m.Phenotypes) + len(m.Attributes), "variants": len(r.Names)})
		}
	}
	const done = `
A part that is done is skipped. Print samples, positions, columns and variants as JSON, from which
workflows estimate memory and time.`
	build := newStep(e, "build", "Build a part of the version", `Build a part of all variants. The `+
		`first process makes what all parts share; the others wait.`+done, part(false))
	verify := newStep(e, "verify", "Verify a part of the version, when all are built",
		`Verify a part of all variants, when all parts are built.`+done, part(true))
	publish := newStep(e, "publish", "Make the version current, when all parts are verified",
		`Complete the version from its parts, unless it is ready, and make it current. Read every input in
full; if one has changed since the key was printed, exit with 75.`,
		func(ctx context.Context, o *rebuildOptions, r *rebuild.Rebuild) error {
			result, err := r.Publish(ctx, o.step)
			return printResult(ctx, e, r, result, err)
		})
	return []*cobra.Command{key, build, verify, publish}
}

// newStep makes the command of a step.
func newStep(e *env, name, short, long string,
	run func(context.Context, *rebuildOptions, *rebuild.Rebuild) error) *cobra.Command {
	var o rebuildOptions
	cmd := &cobra.Command{Short: short, Long: long}
	flags := cmd.Flags()
	of := "--parts 16"
	if hasParts := name == "build" || name == "verify"; hasParts {
		of = "--part 3/16"
		partFlag(flags, &o.step.Part)
		require(cmd, "part")
	} else {
		intFlag(flags, &o.step.Count, "parts", 1, 1, "number of parts: `N`")
	}
	cmd.Use = name + " --config FILE " + of
	cmd.Example = "  tcbuild rebuild " + name + " --config my.yaml " + of
	if name == "key" {
		flags.BoolVar(&o.asJSON, "json", false, "print JSON")
	} else {
		flags.StringVar(&o.step.Key, "key", "",
			"what 'tcbuild rebuild key' printed: `KEY`; exit with 75 for another one")
	}
	rebuildFlags(cmd, &o, "part", "parts", "json", "key")
	return configured(e, cmd, func(ctx context.Context, _ []string) error {
		return o.patiently(ctx, e, func(r *rebuild.Rebuild) error { return run(ctx, &o, r) })
	})
}

// rebuildFlags declares the flags of rebuild and all its steps. Only a few of them are shown, and
// own.
func rebuildFlags(cmd *cobra.Command, o *rebuildOptions, own ...string) {
	flags := cmd.Flags()
	outFlag(flags, &o.root, "root", folderOutput, "folder for all output: `DIR`")
	flags.StringVar(&o.dataset, "dataset", "",
		"folder in the root: `NAME` (default: the name of the settings file)")
	flags.StringSliceVar(&o.variants, "variants", allVariants, "variants to build")
	completes(cmd, "variants", allVariants...)
	inputFlags(cmd, &o.build)
	choiceFlag(cmd, &o.method, "method", gpuverify.Both, methods,
		"how to regenerate masks: incidence, edges or both")
	deviceFlag(cmd, &o.devices,
		"where to regenerate masks: cpu, cuda (all devices), or cuda:0,2")
	intFlag(flags, &o.keep, "keep", 3, 1, "versions to keep, with the current one")
	require(cmd, "root", "graph", "perturbations")
	shown := append(own, "root", "dataset", "graph", "perturbations")
	flags.VisitAll(func(flag *pflag.Flag) { flag.Hidden = !slices.Contains(shown, flag.Name) })
}

// rebuild returns what the options describe.
func (o *rebuildOptions) rebuild(e *env) (*rebuild.Rebuild, error) {
	if o.dataset == "" {
		o.dataset = strings.TrimSuffix(filepath.Base(e.config), filepath.Ext(e.config))
	}
	if !rebuild.IsName(o.dataset) {
		return nil, fault.New(fault.Usage, "add --dataset NAME",
			"rebuild: found dataset name %q, expected letters, digits, ., _ and -, "+
				"with a letter, digit or _ first", o.dataset)
	}
	if len(o.variants) == 0 {
		return nil, fault.New(fault.Usage, "name one of "+strings.Join(allVariants, ", "),
			"read --variants: found none")
	}
	for _, variant := range o.variants {
		if err := fault.OneOf("read --variants", variant, allVariants...); err != nil {
			return nil, err
		}
	}
	var names []store.Variant // in this order
	for _, variant := range allVariants {
		if slices.Contains(o.variants, variant) {
			names = append(names, store.Variant(variant))
		}
	}
	program, err := identity()
	if err != nil {
		return nil, err
	}
	redact := e.settings.Redact
	o.build.Program, o.build.Log = buildVersion(), e.log
	o.build.Redact = func(text string) string { return redact(text, 1) }
	return &rebuild.Rebuild{
		Dir: filepath.Join(o.root, o.dataset), Program: program, Keep: o.keep, Force: o.force,
		Log: e.log, Redact: redact,
		Set: variants.Set{
			Names: names, Build: o.build,
			Verify: gpuverify.Options{Method: o.method, Workers: o.build.Workers,
				Devices: o.devices},
			Progress: func(stage string, samples int) tcbuild.Progress {
				return newProgress(e, stage, samples)
			},
		},
	}, nil
}

func (o *rebuildOptions) patiently(
	ctx context.Context, e *env, run func(r *rebuild.Rebuild) error,
) error {
	r, err := o.rebuild(e)
	if err != nil {
		return err
	}
	return rebuild.Patiently(ctx, e.log, func() error { return run(r) })
}

// printResult prints what a run did, if it succeeded.
func printResult(ctx context.Context, e *env, r *rebuild.Rebuild, result *rebuild.Result,
	err error) error {
	if err != nil || e.quiet {
		return err
	}
	key := filepath.Base(result.Version)
	if result.Built {
		err = printVersion(ctx, e, r, result.Version)
	}
	switch {
	case result.Held:
		e.say(fmt.Sprintf("%s: held; version %s is ready", r.Dir, key))
	case result.Built:
	case result.Linked:
		e.say(fmt.Sprintf("%s: version %s is current again", r.Dir, key))
	default:
		sayUnchanged(e, r.Dir, key)
	}
	return err
}

func sayUnchanged(e *env, dir, key string) {
	e.say(fmt.Sprintf("%s: nothing to do, version %s has the same inputs, settings and program",
		dir, key))
}

// printDifferences prints what a run would do, and why.
func printDifferences(ctx context.Context, e *env, r *rebuild.Rebuild) error {
	want, lines, err := r.Compare(ctx)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		sayUnchanged(e, r.Dir, want.Key)
		return nil
	}
	action := "would be built"
	if disk.Exists(filepath.Join(r.Dir, want.Key)) {
		action = "would be checked, and become current"
	}
	e.say(fmt.Sprintf("%s: version %s %s:", r.Dir, want.Key, action))
	for _, line := range lines {
		e.say("  " + oneLine(line))
	}
	return nil
}

// printVersion prints the cost of a version's variants, and that they agree, from the files stored
// with them. It measures reading, as bench does.
func printVersion(ctx context.Context, e *env, r *rebuild.Rebuild, version string) error {
	rows := [][]string{strings.Split("variant,codec,build time,graph,samples,bytes per sample,"+
		"verified,Go reader's CPU", ",")}
	var m *store.Manifest
	var report gpuverify.Report
	for _, variant := range r.Names {
		var err error
		var run tcbuild.Result
		dataset := filepath.Join(version, string(variant))
		if m, err = store.ReadManifest(dataset); err != nil {
			return err
		}
		err = errors.Join(disk.ReadJSON(filepath.Join(dataset, "run.json"), &run),
			disk.ReadJSON(filepath.Join(version, variants.ReportName(variant)), &report))
		if err != nil {
			return err
		}
		reading, err := bench.CPUPerSample(ctx, dataset, m.Samples)
		if err != nil {
			return err
		}
		samples := m.SampleBytes()
		rows = append(rows, []string{string(variant), cmp.Or(m.Codec, "-"),
			fmt.Sprintf("%.2f s", run.Seconds), humanBytes(m.DataBytes() - samples),
			humanBytes(samples), humanCount(int(samples) / m.Samples),
			humanCount(int(report.SamplesPerSecond)) + " samples/s",
			humanize.SIWithDigits(reading, 1, "s/sample")})
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
		agreement[len(r.Names)-1], humanCount(m.Samples), len(m.Masks),
		humanCount(m.MaskPositions())),
		fmt.Sprintf("0 differences by %s; logical content %.12s…", method, m.LogicalContent))
	return nil
}
