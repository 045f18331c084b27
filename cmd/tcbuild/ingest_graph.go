package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/source"
)

func newIngestGraph(e *env) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "graph --config FILE --out DIR",
		Short: "Build a cell graph from public sources",
		Long: `Build a cell graph from the sources named in the settings: a gene list, edge
tables, a metabolic model, an ontology. 'tcbuild ingest sources' lists the public
sources that settings can name, and 'tcbuild docs settings' every key.

Prints how many rows of each source became edges, how many were dropped or merged, and
why. The same account is in DIR/sources.json.`,
		Example: `  tcbuild ingest graph --config yeast --out yeast/graph
  tcbuild ingest graph --config my.yaml --out my/graph self_loops=none`,
	}
	cmd.Flags().StringVar(&out, "out", "", "folder to create: `DIR`")
	require(cmd, "out")
	run := func(ctx context.Context, _ []string, settings *conf.Settings) error {
		var spec source.GraphSpec
		if err := settings.Decode(&spec); err != nil {
			return err
		}
		_, err := runIngestGraph(ctx, e, out, spec)
		return err
	}
	return configured(e, cmd, run, conf.Keys(&source.GraphSpec{})...)
}

// runIngestGraph returns the files that it read, by path.
func runIngestGraph(ctx context.Context, e *env, out string, spec source.GraphSpec) ([]ingest.Input, error) {
	var built *ingest.Graph
	var report source.Report
	var files inputfile.Files
	defer files.Close()
	err := publish(out, func(dir string) (err error) {
		if built, report, err = source.BuildGraph(&files, spec); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := graph.Write(dir, built); err != nil {
			return err
		}
		if err := report.Write(dir); err != nil {
			return err
		}
		return files.Unchanged()
	})
	if err != nil {
		return nil, explainMissing(inputfile.Explain(err, &files), spec)
	}
	logGraph(e, "built graph", built)
	for _, source := range report {
		if source.AllKept {
			e.log.Warn("min and max dropped no row; compare them with the values", "edges", source.Made, "file", source.File)
		}
	}
	if !e.quiet {
		err = report.WriteTable(e.stderr)
	}
	return files.Inputs(), err
}

// explainMissing adds the address to the error of a file that is not there and can be downloaded.
func explainMissing(err error, spec source.GraphSpec) error {
	download, missing := spec.MissingDownload()
	if !missing || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fault.New(fault.Failed, "'tcbuild ingest fetch' with the same --config and key=value downloads it from "+download.Address, "%w", err)
}
