package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild/conf"
)

func newIngest(e *env) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "ingest KIND",
		Short: "Turn public data into a cell graph or a perturbation set",
		Long: `Turn public data into a cell graph or a perturbation set: sources describes the public
sources, fetch downloads files, graph and perturbations read them.`,
		Example: `  tcbuild ingest fetch --config yeast
  tcbuild ingest graph --config yeast --out yeast/graph
  tcbuild ingest perturbations screen.tsv --graph yeast/graph --out screen.arrow
  tcbuild ingest perturbations SGA_NxN.txt --source costanzo2016 --graph yeast/graph --out sga.arrow`,
	})
	cmd.AddCommand(newIngestSources(e), newIngestGraph(e), newIngestPerturbations(e), newIngestFetch(e))
	return cmd
}

func newIngestSources(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sources [NAME]",
		Short: "List the public sources that settings can name, or print one",
		Long: `List the public sources that settings can name, as in edges: [{source: string, file: FILE}]:
the sections that can name each, what it is, and its download address. With NAME, print the
source's columns, filters and licence, to copy into settings of your own.`,
		Example: `  tcbuild ingest sources
  tcbuild ingest sources string`,
	}
	return configured(e, cmd, func(_ context.Context, args []string, _ *conf.Settings) error {
		if len(args) == 1 {
			source, err := conf.SourceOf(args[0])
			if err != nil {
				return err
			}
			_, err = e.stdout.Write(source.Text)
			return err
		}
		rows := [][]string{{"source", "in", "about", "address"}}
		for _, source := range conf.Sources() {
			rows = append(rows, []string{source.Name, strings.Join(source.Sections, ","), source.About, source.Address})
		}
		return e.table(rows...)
	})
}
