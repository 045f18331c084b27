package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest/source"
)

func newIngest(e *env) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "ingest KIND",
		Short: "Turn public data into a cell graph or a perturbation set",
		Long: `Turn public data into a cell graph or a perturbation set: sources describes the public
sources, fetch downloads their files, and graph and perturbations read them.`,
		Example: `  tcbuild ingest fetch --config yeast
  tcbuild ingest graph --config yeast --out yeast/graph
  tcbuild ingest perturbations screen.tsv --graph yeast/graph --out screen.arrow
  tcbuild ingest perturbations SGA_NxN.txt --source costanzo2016 --graph yeast/graph --out sga.arrow`,
	})
	cmd.AddCommand(newIngestSources(e), newIngestGraph(e), newIngestPerturbations(e), newIngestFetch(e))
	return cmd
}

func newIngestSources(e *env) *cobra.Command {
	return carried(e, &cobra.Command{
		Use:   "sources [NAME]",
		Short: "List the public sources that settings can name, or print one",
		Long: `List the public sources that settings can name, as in edges: [{source: string, file: FILE}]:
the sections that can name each, what it is, and its download address. With NAME, print the
source's columns, filters and licence, to copy into settings of your own.`,
		Example: `  tcbuild ingest sources
  tcbuild ingest sources string`,
	}, func() [][]string {
		rows := [][]string{{"source", "in", "about", "address"}}
		for _, source := range conf.Sources() {
			rows = append(rows, []string{source.Name, strings.Join(source.Sections, ","), source.About, source.Address})
		}
		return rows
	}, func(name string) ([]byte, error) {
		source, err := conf.SourceOf(name)
		return source.Text, err
	})
}

func newIngestFetch(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fetch --config FILE",
		Short: "Download the public files that settings name, and check their digests",
		Long: `Download the public files listed in the settings under downloads, to the paths where
'tcbuild ingest graph' reads them, and check the SHA-256 of every file. Existing files are
checked and not downloaded again. A file whose content differs from its digest is
an error, unless the settings say that its publisher updates it in place (changes: true). If
the settings have no digest, prints the digest that it finds. Add it to the settings as
sha256, and later downloads are checked against it.`,
		Example: `  tcbuild ingest fetch --config yeast
  tcbuild ingest fetch --config yeast data=downloads`,
	}
	return configured(e, cmd, func(ctx context.Context, _ []string, settings *conf.Settings) error {
		var spec source.GraphSpec
		if err := settings.Decode(&spec); err != nil {
			return err
		}
		if len(spec.Downloads) == 0 {
			return fault.New(fault.Usage, "'tcbuild presets yeast' shows one", "ingest fetch: found no section downloads in the settings")
		}
		for _, download := range spec.Downloads {
			fetched, err := download.Fetch(ctx)
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
	}, conf.Keys(&source.GraphSpec{})...)
}
