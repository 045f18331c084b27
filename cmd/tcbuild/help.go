package main

import (
	"context"
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

// usageTemplate prints how to use a command on one screen.
const usageTemplate = `Usage:
  {{.UseLine}}{{with .Example}}

Examples:
{{.}}{{end}}{{$commands := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $commands}}{{if eq .GroupID $group.ID}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}` +
	`{{if and .HasAvailableSubCommands (not .Groups)}}

Commands:{{range $commands}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{flagHelp .}}` +
	"{{if not .HasParent}}\n\n" + exitCodes + "{{end}}\n"

// flagHelp describes a command's flags under up to three headings.
func flagHelp(cmd *cobra.Command) (text string) {
	table, others := pflag.NewFlagSet("", 0), pflag.NewFlagSet("", 0)
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if _, ok := flag.Annotations[tableFlag]; ok {
			table.AddFlag(flag)
		} else {
			others.AddFlag(flag)
		}
	})
	add := func(title string, flags *pflag.FlagSet) {
		if flags.HasAvailableFlags() {
			usages := strings.TrimRight(flags.FlagUsagesWrapped(helpWidth), "\n")
			text += "\n\n" + title + ":\n" + usages
		}
	}
	add("Flags", others)
	add("Flags for reading the table", table)
	add("Flags of every command", cmd.InheritedFlags())
	return text
}

func newDocs(e *env) *cobra.Command {
	var names []string
	for _, page := range docs.Pages() {
		names = append(names, page.Name)
	}
	cmd := &cobra.Command{
		Use:               "docs [PAGE]",
		SuggestFor:        []string{"settings", "man", "documentation"},
		Short:             "List the pages of the documentation, or print one",
		Long:              "List the pages of the documentation of this version, or print one as Markdown.",
		Example:           "  tcbuild docs settings | less",
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
	}
	return configured(e, cmd, func(_ context.Context, args []string) error {
		rows := [][]string{{"page", "about"}}
		for _, page := range docs.Pages() {
			if len(args) > 0 && page.Name == args[0] {
				_, err := e.stdout.Write([]byte(page.Text))
				return err
			}
			rows = append(rows, []string{page.Name, page.Title})
		}
		if len(args) == 0 {
			return e.table(rows...)
		}
		return fault.New(fault.Usage, fault.DidYouMean(args[0], names, "'tcbuild docs' lists them"),
			"docs: found no page %q", args[0])
	})
}
