package main

import (
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"tcbuild"
	"tcbuild/gpuverify"
	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
	"tcbuild/store"
)

// printPlan prints what a run would do, and why.
func printPlan(e *env, chain *rebuild.Rebuild, plan *rebuild.Plan) error {
	if plan.Ready() != "" {
		e.say(describeReady(chain, plan.Ready()))
		return nil
	}
	out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "stage\taction\twhy\n")
	for _, step := range plan.Steps {
		fmt.Fprintf(out, "%s\t%s\t%s\n", step.Name, step.Action, step.Why)
	}
	return out.Flush()
}

// variantRow is a variant's cost and how it was verified.
type variantRow struct {
	manifest *store.Manifest
	run      tcbuild.Result
	report   gpuverify.Report
}

// printVersion prints the cost of a version's variants, from the files stored with them.
func printVersion(e *env, version string, variants []string) error {
	var rows []variantRow
	for _, variant := range variants {
		row, err := readVariant(version, variant)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "variant\tcodec\tbuild time\tbytes per sample\ttotal\tverified\t\n")
	for _, row := range rows {
		m := row.manifest
		codec := m.Codec
		if codec == "" {
			codec = "-"
		}
		fmt.Fprintf(out, "%s\t%s\t%.2f s\t%s\t%s\t%s samples/s\t\n", m.Variant, codec, row.run.Seconds,
			humanCount(int(m.SampleBytes())/m.Samples), humanBytes(m.DataBytes()), humanCount(int(row.report.SamplesPerSecond)))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	m := rows[0].manifest
	agreement := map[int]string{1: "Masks that match the graph", 2: "The same masks in both", 3: "The same masks in all three"}
	e.say("", fmt.Sprintf("%s, bit for bit: %s samples x %d masks, %s positions per sample,",
		agreement[len(rows)], humanCount(m.Samples), len(m.Masks), humanCount(m.MaskPositions())),
		fmt.Sprintf("0 differences by %s; logical content %.12s…", rows[len(rows)-1].methodWords(), m.LogicalContent))
	return nil
}

func readVariant(version, variant string) (row variantRow, err error) {
	dataset := filepath.Join(version, variant)
	if row.manifest, err = store.ReadManifest(dataset); err != nil {
		return row, err
	}
	if err := readJSON(filepath.Join(dataset, "run.json"), &row.run); err != nil {
		return row, err
	}
	return row, readJSON(filepath.Join(version, rebuild.ReportName(variant)), &row.report)
}

func readJSON(path string, value any) error {
	if err := disk.ReadJSON(path, value); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// methodWords is how a variant was verified. The incidence variant, which comes first, is always
// verified by both methods.
func (r variantRow) methodWords() string {
	if r.report.Method == gpuverify.Both {
		return "two independent methods"
	}
	return "method " + string(r.report.Method)
}

// printRebuilt prints what a run did.
func printRebuilt(e *env, chain *rebuild.Rebuild, result *rebuild.Result) error {
	switch {
	case e.quiet || result.Submitted:
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
	return printVersion(e, result.Version, chain.Variants)
}

func describeReady(chain *rebuild.Rebuild, version string) string {
	return fmt.Sprintf("%s: nothing to do, version %s has the same inputs, options and program", chain.Dir, filepath.Base(version))
}
