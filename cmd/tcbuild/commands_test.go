package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const commandsReference = "../../docs/commands.md"

// TestCommandsReference writes the reference of all commands in the order of 'tcbuild help'.
func TestCommandsReference(t *testing.T) {
	root := newRoot(newEnv(io.Discard, io.Discard))
	var page strings.Builder
	page.WriteString(strings.ReplaceAll(commandsHead, "@", "`"))
	described := make(map[string]bool) // flags; each is described once
	describe := func(cmd *cobra.Command, flags *pflag.FlagSet) {
		first, again := pflag.NewFlagSet("", 0), ""
		flags.VisitAll(func(flag *pflag.Flag) {
			key := strings.Join([]string{flag.Name, flag.Usage, flag.DefValue}, "\x00")
			switch {
			case flag.Hidden || cmd.HasParent() && root.PersistentFlags().Lookup(flag.Name) != nil:
			case described[key]:
				again += " --" + flag.Name
			default:
				described[key] = true
				first.AddFlag(flag)
			}
		})
		fmt.Fprintf(&page, "\n```\n%s\n", cmd.UseLine())
		for _, text := range []string{cmd.Example, first.FlagUsagesWrapped(helpWidth)} {
			if text != "" {
				page.WriteString("\n" + strings.TrimRight(text, "\n") + "\n")
			}
		}
		page.WriteString("```\n")
		if again != "" {
			fmt.Fprintf(&page, "\nAs above: `%s`\n", again[1:])
		}
	}
	describe(root, root.PersistentFlags())
	var write func(cmd *cobra.Command)
	write = func(cmd *cobra.Command) {
		fmt.Fprintf(&page, "\n### %s\n\n%s\n", cmd.CommandPath(), cmp.Or(cmd.Long, cmd.Short+"."))
		describe(cmd, cmd.LocalFlags())
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && cmd.Name() != "completion" {
				write(sub)
			}
		}
	}
	for _, group := range root.Groups() {
		fmt.Fprintf(&page, "\n## %s\n", strings.TrimSuffix(group.Title, ":"))
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID && cmd.IsAvailableCommand() {
				write(cmd)
			}
		}
	}
	switch {
	case *update:
		if err := os.WriteFile(commandsReference, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	case read(t, commandsReference) != page.String():
		t.Error("docs/commands.md is not what the program has; run: go test ./cmd/tcbuild -run " +
			"TestCommandsReference -update")
	}
}

// commandsHead has backquotes as @.
const commandsHead = `# Commands

What @--help@ prints of each command, in the same order; a flag that several share is described
once. Generated: @go test ./cmd/tcbuild -run TestCommandsReference -update@ rewrites it.

## What scripts can rely on

Only an entry in the changelog changes what this section promises.

### Exit codes

| code | meaning |
| --- | --- |
| 0 | done, or there was nothing to do |
| 1 | failed: input or output, a full disk, a GPU driver, or a fault of tcbuild, which says where to report it |
| 2 | wrong usage or settings |
| 3 | bad input data |
| 4 | @verify@ or @diff@ found a difference, or a dataset is damaged |
| 75 | try again: another build holds the lock, the run was interrupted and can be resumed, or an input changed while it was read |

### Output

A file or folder appears under its name when it is complete, or not at all. Until then it is in a
hidden folder beside it, @.NAME.tcbuild-RANDOM@, which the next run for that name removes if this
one is killed. No output replaces what exists, but a page, a report, a list or metrics replace an
earlier one, which they know by its beginning. An output is never a link, or inside a dataset, a
graph or a version of @rebuild@, and its path has no control characters. Commands check this first.

A dataset is a folder:

    DATASET/manifest.json                   what it holds, with the SHA-256 of every input and file
    DATASET/graph/                          the cell graph, as Arrow IPC files
    DATASET/samples/part-00000.arrow        ids, deleted genes, phenotypes, attributes
    DATASET/incidence.positions             incidence: what each gene and reaction removes
    DATASET/incidence.arrow                 incidence: the rows and their checksums
    DATASET/shard-00000-of-00004/data.mdb   indices and full-masks: the samples' masks
    DATASET/run.json                        facts about this run: times, machine, paths

Data files depend only on the input and the options; @manifest.json@ also names the program's
version. Only @run.json@ depends on time, machine, paths and workers. A dataset may lie on a
read-only disk. [FORMAT.md](FORMAT.md) specifies every byte.

### Streams and errors

Results go to stdout; a result that cannot be printed is an error. Logs and progress go to stderr:
a bar on a terminal, a line every 30 seconds elsewhere. With @--log-format json@ each line is an
object: progress twice a second (@done@, @total@, 0 if unknown, and @bytes@), and an error at the
end, with @code@ and @hint@.

An error is one line: what tcbuild was doing, where, what it found and expected. If there is a fix,
a second line starts with @hint:@.

    tcbuild: read perturbations screen.tsv:412: gene "YAL0X" is not in the graph (6,607 genes)
    hint: correct the name, or add the gene to the graph, or its other names with aliases; to drop such samples, pass --unknown-genes=drop-sample

Long values are cut in the middle. Unprintable characters of ids and names appear as escapes
(@\u001b@), so that no input can control a terminal.

### Signals

SIGINT, SIGTERM and SIGUSR1, which SLURM sends before a time limit, stop a run at the next batch. A
second one, a second later or more, kills it. A run that hangs on a file or pipe ends after 5
seconds with the same exit code.

### Memory

Where memory is limited, by a container, a SLURM job or @ulimit -v@, the garbage collector works
harder. Where memory, addresses (below 2 GB) or threads run out all the same, Go's runtime ends the
program with a dump and exit code 2, and the kernel with 137; nothing is left under a final name.

## Every command
`
