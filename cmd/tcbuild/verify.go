package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/ingest/graph"
	"tcbuild/internal/disk"
	"tcbuild/internal/variants"
)

type verifyOptions struct {
	gpuverify.Options
	graph, json string
	digests     bool
}

// reportKind is the kind of JSON that --json has.
const reportKind = "verify report"

var methods = []gpuverify.Method{gpuverify.ByIncidence, gpuverify.ByEdges, gpuverify.Both}

func newVerify(e *env) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:        "verify DATASET",
		SuggestFor: []string{"check", "validate", "test"},
		Short:      "Prove that a dataset's masks follow from its graph and genotypes",
		Long: `Prove that a dataset's masks follow from its graph and genotypes: compare every file and record
with its checksum, regenerate every mask of every sample, and compare it with the stored one; in
the incidence variant, its cache and the masks made from it. Each difference is reported with
sample, mask, position, expected and found value, and the exit code is 4.

The method incidence writes zeros at the positions of the deleted genes' edges; edges looks up
both ends of every edge; both runs the two, which must agree. They share with the builder only
the code that reads graph and records. --device cuda uses CUDA devices; the CPU reads, decodes,
and rechecks samples with differences.

--digests only compares files with their digests, and so finds damage since they were verified.
DATASET may then be a version of 'tcbuild rebuild', such as data/my/current.`,
		Example: `  tcbuild verify demo/indices
  tcbuild verify demo/indices --method edges --json report.json`,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.graph, "graph", "",
		"also check that the dataset has this graph: `DIR`")
	cuda := deviceFlag(cmd, &o.Devices,
		"where to regenerate masks: cpu, cuda (all devices), or cuda:0,2")
	memoryFlag(flags, &cuda.Memory, "gpu-memory",
		"memory to use on each device, such as 2GB (default: 90% of what is free)")
	choiceFlag(cmd, &o.Method, "method", gpuverify.Both, methods,
		"how to regenerate masks: incidence, edges or both")
	report := &output{
		path: &o.json, role: replaced, dash: true, ours: beginsWith(jsonBegin(reportKind)),
	}
	flags.Var(report, "json", "write the report to `FILE` (- for stdout)")
	workersFlag(flags, &o.Workers)
	flags.BoolVar(&o.digests, "digests", false,
		"only compare files with their digests")
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		if o.digests {
			return compareDigests(ctx, e, args[0])
		}
		return runVerify(ctx, e, args[0], o)
	})
}

func runVerify(ctx context.Context, e *env, path string, o verifyOptions) error {
	dataset, err := tcbuild.Open(path)
	if err != nil {
		return err
	}
	if o.graph != "" {
		graph, _, err := graph.Read(o.graph)
		if err != nil {
			return err
		}
		if err := dataset.CheckGraph(graph, o.graph); err != nil {
			return err
		}
	}
	bar := newProgress(e, "verify", dataset.Manifest.Samples)
	defer bar.Done()
	o.Progress = bar
	report, err := tcbuild.Verify(ctx, dataset, o.Options)
	if err != nil {
		return err
	}
	return printReport(e, o.json, report)
}

// compareDigests compares the files of a dataset, or of a version, with their digests.
func compareDigests(ctx context.Context, e *env, path string) error {
	if disk.Exists(filepath.Join(path, variants.RecordName)) {
		err := variants.Check(ctx, path, variants.AllFiles)
		if errors.Is(err, variants.ErrNotNoted) {
			e.log.Warn("the next rebuild compares again", "why", err)
		} else if err != nil {
			return err
		}
		e.say(path + ": all files have their digests")
		return nil
	}
	dataset, err := tcbuild.Open(path)
	if err != nil {
		return err
	}
	for _, file := range dataset.Manifest.Files {
		if err := dataset.CheckFile(file); err != nil {
			return err
		}
	}
	e.say(fmt.Sprintf("%s: %d files have their digests", path, len(dataset.Manifest.Files)))
	return nil
}

// shownFindings is how many findings are printed; the report has more.
const shownFindings = 5

// printReport prints what a verification found, and writes it as JSON. It returns an error if the
// dataset failed.
func printReport(e *env, jsonPath string, report *gpuverify.Report) error {
	text, err := markedJSON(report, reportKind)
	switch {
	case err != nil || jsonPath == "":
	case jsonPath == "-":
		_, err = e.stdout.Write(text)
	default:
		err = replace(jsonPath, text, jsonBegin(reportKind))
	}
	if err != nil {
		return err
	}
	summary := fmt.Sprintf(
		"%s: %s samples x %d masks on %s by %s: %s differences, %s damaged (%s samples/s)",
		report.Dataset, humanCount(report.Samples), len(report.Masks), report.Device, report.Method,
		humanCount(int(report.Differences)), humanCount(int(report.Damaged)),
		humanCount(int(report.SamplesPerSecond)))
	if report.Passed() {
		if jsonPath != "-" {
			e.say(summary)
			for _, d := range report.Devices {
				e.say(fmt.Sprintf("%s: %s samples, %s uploaded", d.Name, humanCount(d.Samples),
					humanBytes(d.UploadedBytes)))
			}
		}
		return nil
	}
	findings := report.Findings()
	for _, line := range findings[1:min(len(findings), shownFindings)] {
		fmt.Fprintln(e.stderr, line)
	}
	if more := report.Differences + report.Damaged - shownFindings; more > 0 {
		fmt.Fprintf(e.stderr,
			"and %s more; the report, --json FILE, lists the first of each kind\n",
			humanCount(int(more)))
	}
	return fault.New(fault.Damaged, "build the dataset again, or restore it from a copy",
		"verify %s; first: %s", summary, findings[0])
}
