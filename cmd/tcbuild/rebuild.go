package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/gpuverify"
	"tcbuild/internal/build"
	"tcbuild/internal/fault"
	"tcbuild/store"
)

type rebuildOptions struct {
	root   string
	synth  synthOptions
	build  build.Options
	method string
}

func newRebuild(e *env) *cobra.Command {
	var o rebuildOptions
	cmd := &cobra.Command{
		Use:   "rebuild --config FILE",
		Short: "Build and verify all three variants of a dataset, as far as they are not there",
		Long: `Build ROOT/incidence, ROOT/indices and ROOT/full-masks from one graph and
perturbation set, verify each, and show what they cost. What is there already is
not built again. Without --graph, from synthetic input.`,
		Example: `  tcbuild rebuild --config quickstart
  tcbuild rebuild root=results graph=yeast/graph perturbations=screen.arrow`,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.root, "root", "", "folder for all output: `DIR`")
	inputFlags(cmd, &o.build)
	synthFlags(cmd, &o.synth)
	flags.StringVar(&o.method, "method", string(gpuverify.ByIncidence), "how to regenerate masks for verification: incidence, edges or both")
	_ = cmd.MarkFlagRequired("root")
	return configured(e, cmd, func(ctx context.Context, _ []string, _ *conf.Settings) error {
		return runRebuild(ctx, e, o)
	})
}

// runRebuild is the whole chain.
func runRebuild(ctx context.Context, e *env, o rebuildOptions) error {
	if err := o.makeInput(ctx, e); err != nil {
		return err
	}
	var rows []variantRow
	for _, variant := range []store.Variant{store.Incidence, store.Indices, store.FullMasks} {
		o.build.Variant, o.build.Out = variant, filepath.Join(o.root, string(variant))
		o.build.Shard, o.build.Resume = store.AllShards, store.ResumeIfPossible
		result, err := buildDataset(ctx, e, o.build)
		if err != nil {
			return err
		}
		report, err := verifyDataset(ctx, e, o.build.Out, verifyOptions{method: o.method, device: "cpu", workers: o.build.Workers})
		if err != nil {
			return err
		}
		if !report.Passed() {
			return printReport(e, "", report)
		}
		rows = append(rows, variantRow{result, report})
	}
	if err := sameContent(rows); err != nil || e.quiet {
		return err
	}
	return printVariants(e, rows)
}

// makeInput makes synthetic input when no graph is given. The folder's name tells all that it follows from.
func (o *rebuildOptions) makeInput(ctx context.Context, e *env) error {
	if o.build.Graph != "" {
		if o.build.Perturbations == "" {
			return fault.New(fault.Usage, "add perturbations=FILE", "rebuild: --graph is given without --perturbations")
		}
		return nil
	}
	if o.build.Perturbations != "" {
		return fault.New(fault.Usage, "add graph=DIR", "rebuild: --perturbations is given without --graph")
	}
	if err := o.synth.check(); err != nil {
		return err
	}
	o.synth.out = filepath.Join(o.root, fmt.Sprintf("input-%s-%d-samples-seed-%d", o.synth.scale, o.synth.samples, o.synth.seed))
	o.build.Graph, o.build.Perturbations = filepath.Join(o.synth.out, "graph"), filepath.Join(o.synth.out, "perturbations.arrow")
	if _, err := os.Stat(o.synth.out); err == nil {
		return nil
	}
	return runSynth(ctx, e, o.synth)
}

// variantRow is what a variant cost, and how it was verified.
type variantRow struct {
	result *build.Result
	report *gpuverify.Report
}

func sameContent(rows []variantRow) error {
	for _, row := range rows {
		if row.report.LogicalContent != rows[0].report.LogicalContent {
			return fault.New(fault.Damaged, "remove both and build them again", "compare variants: the logical content of %s is not that of %s",
				row.report.Dataset, rows[0].report.Dataset)
		}
	}
	return nil
}

func printVariants(e *env, rows []variantRow) error {
	out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "variant\tcodec\tbuild time\tbytes per sample\ttotal\tverified\t\n")
	for _, row := range rows {
		m := row.result.Manifest
		built := fmt.Sprintf("%.2f s", row.result.Seconds)
		if row.result.State == build.Unchanged {
			built = "there already"
		}
		codec := m.Codec
		if codec == "" {
			codec = "-"
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s samples/s\t\n", m.Variant, codec, built,
			humanCount(int(m.SampleBytes())/m.Samples), humanBytes(m.DataBytes()), humanCount(int(row.report.SamplesPerSecond)))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	m := rows[0].result.Manifest
	e.say("", fmt.Sprintf("The same masks in all three, bit for bit: %s samples x %d masks, %s positions per sample,",
		humanCount(m.Samples), len(m.Masks), humanCount(m.MaskPositions())),
		fmt.Sprintf("0 differences by %s; logical content %.12s…", rows[0].methodWords(), m.LogicalContent))
	return nil
}

func (r variantRow) methodWords() string {
	if r.report.Method == gpuverify.Both {
		return "two independent methods"
	}
	return "method " + string(r.report.Method)
}
