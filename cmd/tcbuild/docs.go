package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/docs"
	"tcbuild/fault"
)

func newDocs(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "docs [PAGE]",
		Short: "List the pages of the documentation, or print one",
		Long: `List the pages of the documentation, or print one as Markdown. The program carries
all pages, so that they are at hand without a checkout and describe this version.`,
		Example: `  tcbuild docs
  tcbuild docs settings | less`,
	}
	return configured(e, cmd, func(_ context.Context, args []string, _ *conf.Settings) error {
		rows := [][]string{{"page", "about"}}
		var names []string
		for _, page := range docs.Pages() {
			if len(args) == 1 && args[0] == page.Name {
				_, err := io.WriteString(e.stdout, page.Text)
				return err
			}
			names = append(names, page.Name)
			rows = append(rows, []string{page.Name, page.Title})
		}
		if len(args) == 1 {
			return fault.New(fault.Usage, fault.DidYouMean(args[0], names, "'tcbuild docs' lists them"),
				"docs: found no page %q", args[0])
		}
		return e.table(rows...)
	})
}
