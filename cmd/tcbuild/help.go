package main

import (
	"context"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/docs"
	"tcbuild/fault"
)

// carried makes a command that lists texts built into the program, or prints one. rows has the
// titles, then a row for each text.
func carried(e *env, cmd *cobra.Command, rows func() [][]string, text func(name string) ([]byte, error)) *cobra.Command {
	return configured(e, cmd, func(_ context.Context, args []string) error {
		if len(args) == 0 {
			return e.table(rows()...)
		}
		found, err := text(args[0])
		if err != nil {
			return err
		}
		_, err = e.stdout.Write(found)
		return err
	})
}

func newDocs(e *env) *cobra.Command {
	return carried(e, &cobra.Command{
		Use:   "docs [PAGE]",
		Short: "List the pages of the documentation, or print one",
		Long: `List the pages of the documentation, or print one as Markdown. The pages are built into
the program and describe this version.`,
		Example: `  tcbuild docs
  tcbuild docs settings | less`,
	}, func() [][]string {
		rows := [][]string{{"page", "about"}}
		for _, page := range docs.Pages() {
			rows = append(rows, []string{page.Name, page.Title})
		}
		return rows
	}, func(name string) ([]byte, error) {
		var names []string
		for _, page := range docs.Pages() {
			if page.Name == name {
				return []byte(page.Text), nil
			}
			names = append(names, page.Name)
		}
		return nil, fault.New(fault.Usage, fault.DidYouMean(name, names, "'tcbuild docs' lists them"), "docs: found no page %q", name)
	})
}

func newPresets(e *env) *cobra.Command {
	return carried(e, &cobra.Command{
		Use:   "presets [NAME]",
		Short: "List the settings files that come with the program, or print one",
		Long: `List the settings files that come with the program, or print one as a starting point for
your own. --config accepts their names.`,
		Example: `  tcbuild presets
  tcbuild presets yeast > my.yaml`,
	}, func() [][]string {
		rows := [][]string{{"preset", "about"}}
		for _, name := range conf.Presets() {
			rows = append(rows, []string{name, conf.AboutPreset(name)})
		}
		return rows
	}, conf.Preset)
}
