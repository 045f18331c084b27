package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild/fault"
)

const rootHelp = `tcbuild turns a cell graph and perturbation sets into training datasets.

A perturbation set lists samples. Each sample deletes one or more genes and has
measured phenotypes. A dataset stores, for every sample, which nodes and edges of the
cell graph remain: as the deleted genes with one incidence cache for all samples, as
the removed positions, or as whole masks.

Settings come from --config FILE (YAML) and from key=value after the command. A flag takes
precedence over key=value, and key=value over the file.

'tcbuild docs' prints the documentation.`

const rootExample = `  # a small synthetic graph and perturbation set, and a dataset of them
  tcbuild synth --out demo
  tcbuild incidence --graph demo/graph --perturbations demo/perturbations.arrow --out demo/incidence
  tcbuild verify demo/incidence
  # the yeast cell graph from public files
  python -m tcbuild.sources yeast --data downloads --out yeast/graph`

const exitCodes = `Exit codes:
  0   done, or nothing to do
  1   failed: I/O, disk full, GPU driver, or a fault of tcbuild itself
  2   wrong usage or settings
  3   bad input data
  4   verify or diff found a difference, or a dataset is damaged
  75  try again: another build holds the lock, the run was interrupted and can be
      resumed, or an input changed while it was read`

// helpGroup is the group of the commands that explain the program.
const helpGroup = "Help"

// newRoot makes the program's command tree.
func newRoot(e *env) *cobra.Command {
	root := group(&cobra.Command{
		Use:     "tcbuild",
		Short:   "Build training datasets from a cell graph and perturbation sets",
		Long:    rootHelp,
		Example: rootExample,
		Version: buildVersion(),

		SilenceErrors: true, // run prints them
		SilenceUsage:  true,
	})
	root.SetVersionTemplate("tcbuild {{.Version}}\n")
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()) + "{{if not .HasParent}}\n" +
		exitCodes + "\n{{end}}")
	root.SetFlagErrorFunc(flagError)

	flags := root.PersistentFlags()
	flags.StringVar(&e.config, "config", "",
		"settings `FILE` in YAML")
	choiceFlag(root, &e.logFormat, "log-format", "text", []string{"text", jsonLog},
		"how to log to stderr: text or json")
	flags.AddFlag(root.Flags().Lookup("log-format"))
	flags.BoolVar(&e.quiet, "quiet", false, "print nothing on success")

	cobra.EnableCommandSorting = false // the groups are in the order of a workflow
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Build", []*cobra.Command{newIncidence(e), newDataset(e)}},
		{"Check", []*cobra.Command{newVerify(e), newDiff(e)}},
		{"Look", []*cobra.Command{newInspect(e), newBench(e)}},
		{"Run regularly", []*cobra.Command{newRebuild(e), newStatus(e)}},
		{"Try", []*cobra.Command{newSynth(e)}},
		{helpGroup, []*cobra.Command{newDocs(e), newVersion(e)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title + ":"})
		for _, cmd := range group.commands {
			cmd.GroupID = group.title
			root.AddCommand(cmd)
		}
	}
	root.SetCompletionCommandGroupID(helpGroup)
	root.SetHelpCommandGroupID(helpGroup)
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	group(completion)
	completion.Short = "Print completions for a shell"
	completion.Long = `Print completions for a shell. 'tcbuild completion bash --help' says how to install those for
bash; fish, powershell and zsh have the same help.`
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Short, help.Long = "Print the help of a command",
		"Print the help of a command, as COMMAND --help does."
	help.Run, help.RunE = nil, printHelp
	return root
}

// printHelp is the command help: it prints the help of the command that args name.
func printHelp(help *cobra.Command, args []string) error {
	cmd, rest, _ := help.Root().Find(args)
	switch {
	case len(rest) == 0:
		cmd.InitDefaultHelpFlag()
		return cmd.Help()
	case cmd.HasSubCommands():
		return cmd.RunE(cmd, rest) // which refuses them
	default:
		return usageError(help,
			fmt.Errorf("found %q after %s, expected nothing", rest[0], cmd.Name()))
	}
}

// group makes a command that only holds others: it prints its help, and refuses unknown commands.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		var names []string
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		hint := "the commands are " + strings.Join(names, ", ")
		// not zsh misspelled
		otherShell := slices.Contains([]string{"ksh", "csh", "tcsh", "sh", "dash"}, args[0])
		if nearest := fault.Nearest(args[0], names); nearest != "" && !otherShell {
			hint = "did you mean '" + cmd.CommandPath() + " " + nearest + "'?"
		}
		return fault.New(fault.Usage, hint, "%sunknown command %q", prefix(cmd), args[0])
	}
	return cmd
}
