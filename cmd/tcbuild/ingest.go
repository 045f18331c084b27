package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/graph/build"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/download"
)

func newIngest(e *env) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "ingest KIND",
		Short: "Turn public data into a cell graph or a perturbation set",
		Long: `Turn public data into a cell graph or a perturbation set: sources describes the
public sources, fetch downloads their files, and graph and perturbations read them.`,
		Example: `  tcbuild ingest fetch --config yeast
  tcbuild ingest graph --config yeast --out yeast/graph
  tcbuild ingest perturbations screen.tsv --graph yeast/graph --out screen.arrow
  tcbuild ingest perturbations SGA_NxN.txt --source costanzo2016 \
      --graph yeast/graph --out sga.arrow`,
	})
	cmd.AddCommand(newIngestSources(e), newIngestGraph(e), newIngestPerturbations(e),
		newIngestFetch(e))
	return cmd
}

func newIngestSources(e *env) *cobra.Command {
	return carried(e, &cobra.Command{
		Use:   "sources [NAME]",
		Short: "List the public sources that settings can name, or print one",
		Long: `List the public sources that settings can name, as in edges: [{source: string,
file: FILE}]: the sections that can name each, what it is, and its download address. With NAME,
print the source's columns, filters and licence, to copy into settings of your own.`,
		Example: `  tcbuild ingest sources
  tcbuild ingest sources string`,
	}, []string{"source", "in", "about", "address"}, func() (texts []carriedText) {
		for _, source := range conf.Sources() {
			row := []string{source.Name, strings.Join(source.Sections, ","), source.About,
				source.Address}
			texts = append(texts, carriedText{row, source.Text})
		}
		return texts
	})
}

func newIngestFetch(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fetch --config FILE",
		Short: "Download the public files that settings name, and check their digests",
		Long: `Download the public files listed in the settings under downloads, to the paths where
'tcbuild ingest graph' reads them, and check the SHA-256 of every file. Existing files are
checked and not downloaded again. A server that stalls for a minute, or breaks the
connection, is asked again for the rest; if that does not help, the exit code is 75, and
running the command again continues the download. A file whose content differs from its
digest is an error, unless the settings say that its publisher updates it in place
(changes: true). If the settings have no digest, prints the digest that it finds. Add it to
the settings as sha256, and later downloads are checked against it.`,
		Example: `  tcbuild ingest fetch --config yeast
  tcbuild ingest fetch --config yeast data=downloads`,
	}
	return configured(e, cmd, func(ctx context.Context, _ []string) error {
		var spec build.Spec
		if err := e.settings.Decode(&spec); err != nil {
			return err
		}
		if len(spec.Downloads) == 0 {
			return fault.New(fault.Usage, "'tcbuild presets yeast' shows one",
				"ingest fetch: found no section downloads in the settings")
		}
		for _, file := range spec.Downloads {
			if _, err := checkPlace(file.File); err != nil {
				return err
			}
		}
		client := download.Patient
		client.Tell = func(line string) { e.log.Info(line) }
		for _, file := range spec.Downloads {
			fetched, err := file.Fetch(ctx, client)
			if err != nil {
				return err
			}
			verb := "downloaded"
			if fetched.Present {
				verb = "found"
			}
			line := fmt.Sprintf("%s: %s %s", fetched.File, verb, humanBytes(fetched.Bytes))
			switch fetched.SHA256 {
			case "":
				line += ", unchecked, sha256 " + fetched.Found
			case fetched.Found:
			default:
				line += ", another version than the settings have"
			}
			e.say(line)
		}
		return nil
	}, conf.Keys(&build.Spec{})...)
}

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
	outFlag(cmd.Flags(), &out, "out", newOutput, "folder to create: `DIR`")
	require(cmd, "out")
	run := func(ctx context.Context, _ []string) error {
		var spec build.Spec
		if err := e.settings.Decode(&spec); err != nil {
			return err
		}
		_, err := runIngestGraph(ctx, e, out, spec)
		return err
	}
	return configured(e, cmd, run, conf.Keys(&build.Spec{})...)
}

// runIngestGraph returns the files that it read, by path.
func runIngestGraph(ctx context.Context, e *env, out string,
	spec build.Spec) ([]ingest.Input, error) {
	var built *ingest.Graph
	var report ingest.Accounts
	var files inputfile.Files
	defer files.Close()
	err := publish(out, func(dir string) (err error) {
		if built, report, err = build.Graph(&files, spec); err != nil {
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
		if source.Sum(ingest.WeightsInside) > 0 {
			e.log.Warn("min and max dropped no row; compare them with the values",
				"edges", source.Made, "file", source.File)
		}
	}
	if !e.quiet {
		err = report.WriteTable(e.stderr)
	}
	return files.Inputs(), err
}

// explainMissing adds the address to the error of a file that is not there and can be downloaded.
func explainMissing(err error, spec build.Spec) error {
	download, missing := spec.MissingDownload()
	if !missing || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fault.New(fault.Failed,
		"'tcbuild ingest fetch' with the same --config and key=value downloads it from "+
			download.Address, "%w", err)
}
