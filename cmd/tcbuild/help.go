package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// helpWidth is how many columns the help of flags may take.
const helpWidth = 100

// tableFlag annotates the flags that say how to read a table of samples.
const tableFlag = "table"

// usageTemplate changes the library's template: flags are wrapped, and those that say how to read a
// table have a heading of their own.
func usageTemplate(template string) string {
	cobra.AddTemplateFunc("flagHelp", flagHelp)
	return strings.NewReplacer(
		"Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{flagHelp .LocalFlags}}",
		"{{.InheritedFlags.FlagUsages |",
		fmt.Sprintf("{{.InheritedFlags.FlagUsagesWrapped %d |", helpWidth),
	).Replace(template)
}

func flagHelp(flags *pflag.FlagSet) string {
	table, others := pflag.NewFlagSet("", 0), pflag.NewFlagSet("", 0)
	flags.VisitAll(func(flag *pflag.Flag) {
		if _, ok := flag.Annotations[tableFlag]; ok {
			table.AddFlag(flag)
		} else {
			others.AddFlag(flag)
		}
	})
	text := "Flags:\n" + others.FlagUsagesWrapped(helpWidth)
	if table.HasAvailableFlags() {
		text += "\nFlags for reading the table:\n" + table.FlagUsagesWrapped(helpWidth)
	}
	return strings.TrimRight(text, "\n")
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
