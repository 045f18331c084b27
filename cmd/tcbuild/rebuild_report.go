package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"tcbuild"
	"tcbuild/gpuverify"
	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
	"tcbuild/store"
)

// printPlan prints what a run would do, and why.
func printPlan(e *env, chain *rebuild.Rebuild) error {
	plan, err := chain.Plan()
	if err != nil {
		return err
	}
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
	rows := [][]string{{"variant", "codec", "build time", "graph", "samples", "bytes per sample",
		"verified"}}
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
		samples := m.SampleBytes()
		rows = append(rows, []string{string(m.Variant), cmp.Or(m.Codec, "-"),
			fmt.Sprintf("%.2f s", run.Seconds), humanBytes(m.DataBytes() - samples),
			humanBytes(samples), humanCount(int(samples) / m.Samples),
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
