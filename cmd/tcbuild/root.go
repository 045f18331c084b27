package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild/fault"
)

const rootHelp = `tcbuild turns a cell graph and perturbation sets into training datasets.

A perturbation set lists samples: each deletes genes, and has measured phenotypes. A dataset
says which nodes and edges of the cell graph remain in every sample: by the deleted genes and
one incidence cache, by removed positions, or by whole masks. A flag can also be set as
key=value after the command, which takes precedence over --config FILE (YAML).`

const rootExample = `  tcbuild synth --out demo
  tcbuild incidence --graph demo/graph --perturbations demo/perturbations.arrow --out demo/incidence
  tcbuild verify demo/incidence`

const exitCodes = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 bad input, 4 difference or damage, " +
	"75 try again"

// helpGroup is the group of the commands that explain the program.
const helpGroup = "Help"

// pythonCommands are what users may expect here, and where it is.
var pythonCommands = map[string]string{"split": "python -m tcbuild.split",
	"sources": "python -m tcbuild.sources"}

// newRoot makes the program's command tree.
func newRoot(e *env) *cobra.Command {
	root := group(&cobra.Command{
		Use:     "tcbuild COMMAND [flags] [key=value...]",
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
	cobra.AddTemplateFunc("flagHelp", flagHelp)
	root.SetUsageTemplate(usageTemplate)
	root.SetFlagErrorFunc(flagError)

	root.Flags().BoolP("version", "v", false, "print the version")
	flags := root.PersistentFlags()
	flags.BoolP("help", "h", false, "print the help of a command")
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
		{"Build", []*cobra.Command{newIncidence(e), newDataset(e), newSynth(e)}},
		{"Check and look", []*cobra.Command{newVerify(e), newDiff(e), newInspect(e), newBench(e)}},
		{"Run regularly", []*cobra.Command{newRebuild(e), newStatus(e)}},
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
	completion.Short, completion.Long = "Print completions for a shell",
		"Print completions for a shell. 'tcbuild completion bash --help' says how to install them."
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Short, help.Long = "Print the help of a command, as --help does", ""
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
		return unknownCommand(cmd, args[0])
	}
	return cmd
}

func unknownCommand(cmd *cobra.Command, word string) error {
	nearest, names := nearestCommand(cmd, word)
	hint := "the commands are " + strings.Join(names, ", ")
	if python := pythonCommands[word]; python != "" {
		hint = "run " + python + " --help"
	} else if nearest != "" {
		hint = "did you mean '" + cmd.CommandPath() + " " + nearest + "'?"
	}
	return fault.New(fault.Usage, hint, "%sunknown command %q", prefix(cmd), word)
}

// nearestCommand returns the subcommand that a user who types a word may mean, "" for none, and the
// names of all.
func nearestCommand(cmd *cobra.Command, word string) (nearest string, names []string) {
	var words []string
	of := make(map[string]string)
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
		for _, word := range append(sub.SuggestFor, sub.Name()) {
			words, of[word] = append(words, word), sub.Name()
		}
	}
	if !slices.Contains([]string{"ksh", "csh", "tcsh", "sh", "dash"}, word) { // zsh misspelled
		nearest = of[fault.Nearest(word, words)]
	}
	return nearest, names
}
