package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild/docs"
	"tcbuild/fault"
)

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
	cmd := &cobra.Command{
		Use:   "docs [PAGE]",
		Short: "List the pages of the documentation, or print one",
		Long: `List the pages of the documentation, or print one as Markdown. The pages are built into
the program and describe this version.`,
		Example: `  tcbuild docs
  tcbuild docs settings | less`,
	}
	return configured(e, cmd, func(_ context.Context, args []string) error {
		rows, names := [][]string{{"page", "about"}}, []string{}
		for _, page := range docs.Pages() {
			if len(args) > 0 && page.Name == args[0] {
				_, err := e.stdout.Write([]byte(page.Text))
				return err
			}
			rows = append(rows, []string{page.Name, page.Title})
			names = append(names, page.Name)
		}
		if len(args) == 0 {
			return e.table(rows...)
		}
		return fault.New(fault.Usage, fault.DidYouMean(args[0], names, "'tcbuild docs' lists them"),
			"docs: found no page %q", args[0])
	})
}
