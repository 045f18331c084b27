package main

import (
	"context"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/docs"
	"tcbuild/fault"
)

// carriedText is a text built into the program. row describes it and begins with its name.
type carriedText struct {
	row  []string
	text []byte
}

// carried makes a command that lists texts built into the program, or prints one. titles head the
// list's columns; the first one says what the texts are.
func carried(e *env, cmd *cobra.Command, titles []string,
	texts func() []carriedText) *cobra.Command {
	return configured(e, cmd, func(_ context.Context, args []string) error {
		rows, names := [][]string{titles}, []string{}
		for _, text := range texts() {
			if len(args) > 0 && text.row[0] == args[0] {
				_, err := e.stdout.Write(text.text)
				return err
			}
			rows, names = append(rows, text.row), append(names, text.row[0])
		}
		if len(args) == 0 {
			return e.table(rows...)
		}
		return fault.New(fault.Usage,
			fault.DidYouMean(args[0], names, "'"+cmd.CommandPath()+"' lists them"),
			"%sfound no %s %q", prefix(cmd), titles[0], args[0])
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
	}, []string{"page", "about"}, func() (texts []carriedText) {
		for _, page := range docs.Pages() {
			texts = append(texts, carriedText{[]string{page.Name, page.Title}, []byte(page.Text)})
		}
		return texts
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
	}, []string{"preset", "about"}, func() (texts []carriedText) {
		for _, name := range conf.Presets() {
			text, about := conf.Preset(name)
			texts = append(texts, carriedText{[]string{name, about}, text})
		}
		return texts
	})
}
