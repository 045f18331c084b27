package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

const commandsReference = "../../docs/commands.md"

// seeAlso and inherited are sections that cobra adds to each command; the page has them once.
var seeAlso = regexp.MustCompile(`(?s)### (SEE ALSO|Options inherited from parent ` +
	`commands)\n\n.*?(\n\n|\z)`)

// TestCommandsReference writes the reference of all commands in the order of 'tcbuild help'.
func TestCommandsReference(t *testing.T) {
	root := newRoot(newEnv(io.Discard, io.Discard))
	root.DisableAutoGenTag = true
	root.InitDefaultHelpFlag()
	var page strings.Builder
	page.WriteString(strings.ReplaceAll(commandsHead, "@", "`"))
	fmt.Fprintf(&page,
		"\n## Flags of every command\n\n```\n  -h, --help                print the command's "+
			"help\n%s```\n",
		root.PersistentFlags().FlagUsages())
	var write func(cmd *cobra.Command)
	write = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().Lookup("help").Hidden = true // one of those that every command has
		var text bytes.Buffer
		err := doc.GenMarkdownCustom(cmd, &text, func(name string) string { return name })
		if err != nil {
			t.Fatal(err)
		}
		section := strings.ReplaceAll(seeAlso.ReplaceAllString(text.String(), ""),
			"### Synopsis\n\n", "")
		if cmd.Long != "" { // which says what Short does, and more
			section = strings.Replace(section, "\n"+cmd.Short+"\n\n", "\n", 1)
		}
		page.WriteString("\n#" + strings.TrimRight(strings.ReplaceAll(section, "\n### ", "\n#### "),
			"\n") + "\n")
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

Every command with its flags, in the order of a workflow; @tcbuild COMMAND --help@ prints the same.
Generated from the program: @go test ./cmd/tcbuild -run TestCommandsReference -update@ rewrites it.

## What scripts can rely on

Only an entry in the changelog changes what this section promises.

### Exit codes

| code | meaning |
| --- | --- |
| 0 | done, or there was nothing to do |
| 1 | failed: input or output, a full disk, a GPU driver, or a fault of tcbuild itself, which says where to report it |
| 2 | wrong usage or settings |
| 3 | bad input data |
| 4 | @verify@ or @diff@ found a difference, or a dataset is damaged |
| 75 | try again: another build holds the lock, the run was interrupted and can be resumed, or an input changed while it was read |

### Output

A file or folder appears under its name when it is complete, or not at all. Commands work in a
hidden folder @.NAME.tcbuild-RANDOM@ beside the output and rename it at the end. If a run is killed,
the next run for the same name removes that folder; so does @tcbuild clean@.

No output replaces what exists, except that a page, a report, a list, metrics or a copy by @stage@
replaces an earlier one of the same kind, which it knows by a marker in it. A log is appended to a
file that is empty or begins with a line of a log. An output is never a link, or inside a dataset, a
graph or a version of @rebuild@, and its path has no control characters. Commands check this before
they start to work.

A dataset is a folder:

    DATASET/manifest.json                   what it holds, with the SHA-256 of every input and file
    DATASET/graph/                          the cell graph, as Arrow IPC files
    DATASET/samples/part-00000.arrow        ids, deleted genes, phenotypes, attributes
    DATASET/incidence.positions             incidence: what each gene and reaction removes
    DATASET/incidence.arrow                 incidence: the rows and their checksums
    DATASET/shard-00000-of-00004/data.mdb   indices and full-masks: the samples' masks
    DATASET/run.json                        facts about this run: times, machine, paths

Data files depend only on the input and the options. @manifest.json@ also names the program's
version. Time, machine, paths and number of workers affect only @run.json@. A dataset may lie on a
read-only disk. [FORMAT.md](FORMAT.md) specifies every byte.

### Streams and errors

Results go to stdout. Logs and progress go to stderr: a short line and a progress bar on a terminal,
full times and a line every 30 seconds elsewhere. With @--log-format json@ each line is a JSON object:
progress twice a second, as numbers (@done@, @total@, 0 if unknown, and @bytes@), and an error at the
end, with its exit code (@code@) and @hint@.
@--quiet@ prints nothing on success. A result that cannot be printed, because stdout is full or
closed, is an error.

An error is one line that says what tcbuild was doing, where, what it found and what it expected. If
there is a fix, a second line starts with @hint:@.

    tcbuild: read perturbations screen.tsv:412: gene "YAL0X" is not in the graph (6,607 genes)
    hint: correct the name, or add the gene to the graph, or its other names with aliases; to drop such samples, pass --unknown-genes drop-sample

Long values are cut in the middle. Unprintable characters of ids and names appear as escapes
(@\u001b@), so that no input can control a terminal.

### Signals

SIGINT, SIGTERM and SIGUSR1, which SLURM sends before a time limit, stop a run at the next batch. A
second signal, a second later or more, kills it. If a run hangs on a file or pipe, it ends after 5
seconds with the same exit code.

### Memory

In a container or a SLURM job with limited memory, and under @ulimit -v@, the garbage collector
works harder before it takes more. Where memory, addresses (below 2 GB) or threads run out all the
same, Go's runtime ends the program with a dump and exit code 2, and the kernel with 137. Nothing is
left under a final name.
`
