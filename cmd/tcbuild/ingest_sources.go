package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild/conf"
)

func newIngestSources(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sources [NAME]",
		Short: "List the public sources that settings can name, or print one",
		Long: `List the public sources that settings can name, as in edges: [{source: string, file: FILE}]:
where each can be named, what it is, and where it is downloaded from. With NAME, print the
source's file: its columns, filters and licence, to copy into settings of your own.`,
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
