package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/fault"
)

const rootHelp = `tcbuild turns a yeast cell graph and perturbation sets into training datasets.

A perturbation set lists samples; each deletes one or a few genes and has
measured phenotypes. A dataset holds, for every sample, which nodes and edges
of the cell graph remain after its deletions: as the deleted genes with one
incidence cache, as the removed positions, or as whole masks.

Settings come from --config FILE (YAML, or the name of a preset) and from
key=value, a.b=value, +key=value and ~key after the command, as in Hydra. A
flag takes precedence over an override, an override over the file.`

const rootExample = `  # a small synthetic graph and perturbation set
  tcbuild synth --out demo
  # one of yeast's size, from a preset with one setting changed
  tcbuild synth --config quickstart samples=50 --out big
  # the yeast cell graph from public files
  tcbuild ingest graph --config yeast --out yeast/graph`

const exitCodes = `Exit codes:
  0   done, or nothing to do
  1   failed: I/O, disk full, driver; a fault of tcbuild itself
  2   wrong usage or settings
  3   bad input data
  4   verify or diff found a difference, or a dataset is damaged
  75  locked by another build, interrupted and resumable, or an input changed meanwhile`

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
	root.SetUsageTemplate(root.UsageTemplate() + "{{if not .HasParent}}\n" + exitCodes + "\n{{end}}")
	root.SetFlagErrorFunc(flagError)

	flags := root.PersistentFlags()
	flags.StringVar(&e.config, "config", "", "settings `FILE`: a YAML file or a preset ("+strings.Join(conf.Presets(), ", ")+")")
	flags.StringVar(&e.logFormat, "log-format", "text", "how to log to stderr: text or json")
	flags.BoolVar(&e.quiet, "quiet", false, "print nothing on success")

	root.AddCommand(
		newSynth(e),
		newIngest(e),
		newIncidence(e),
		newDataset(e),
		newVerify(e),
		newInspect(e),
		newDiff(e),
		newRebuild(e),
		newStatus(e),
		newSelect(e),
		newSplit(e),
		newStage(e),
		newCroissant(e),
		newClean(e),
		newBench(e),
		newVersion(e),
	)
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	group(completion)
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Run, help.RunE = nil, printHelp
	completeValues(root)
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
		return usageError(help, fmt.Errorf("found %q behind %s, expected nothing", rest[0], cmd.Name()))
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
		if nearest := fault.Nearest(args[0], names); nearest != "" {
			hint = "did you mean '" + cmd.CommandPath() + " " + nearest + "'?"
		}
		return fault.New(fault.Usage, hint, "%sunknown command %q", prefix(cmd), args[0])
	}
	return cmd
}
