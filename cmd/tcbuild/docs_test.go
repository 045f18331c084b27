package main

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"tcbuild/fault"
)

// allCommands are the program's commands.
func allCommands() (all []*cobra.Command) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		all = append(all, cmd)
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(newEnv(io.Discard, io.Discard)))
	return all
}

// Flags are for what people change by hand; settings are for the rest. The flags that all commands
// have do not count.
func TestFlagsAreFew(t *testing.T) {
	for _, cmd := range allCommands() {
		names := slices.DeleteFunc(flagNames(cmd),
			func(name string) bool { return cmd.InheritedFlags().Lookup(name) != nil })
		if len(names) > 22 {
			t.Errorf("%s has %d flags, expected at most 22: %s", cmd.CommandPath(), len(names),
				names)
		}
	}
}

// documents are the README and the pages of docs that people write.
func documents(t *testing.T) []string {
	t.Helper()
	pages := slices.DeleteFunc(glob(t, "../..", "docs/*.md"),
		func(path string) bool { return filepath.Base(path) == "commands.md" })
	return append(pages, "../../README.md")
}

// The documents name no flag that no command has.
func TestDocsNameFlags(t *testing.T) {
	t.Parallel()
	flags := make(map[string]bool)
	for _, cmd := range allCommands() {
		cmd.InitDefaultHelpFlag()
		for _, name := range flagNames(cmd) {
			flags["--"+name] = true
		}
	}
	others := slices.Concat(
		strings.Fields("--bind --array --wait --wrap --mem --time --partition --cpus-per-task"),
		strings.Fields("--gres --name"), // of SLURM, too
		strings.Fields("--cores --snakefile --configfile --workflow-profile --retries --mail-user"),
		strings.Fields("--tcbuild --batches --cpu-time --model --hidden --layers --trace --device"),
		strings.Fields("--batch-size --workers --prefetch --ranks --rounds --folder"),
		strings.Fields("--nproc-per-node"),                      // of torchrun
		strings.Fields("--data --by --build --cross --folders"), // of Python's tcbuild.sources, split, compare
		strings.Fields("--upgrade"),                             // of uv
	)
	pages := append(documents(t), "../../CONTRIBUTING.md", "../../conf/cron/tcbuild")
	for _, document := range pages {
		for _, flag := range flagPattern.FindAllString(read(t, document), -1) {
			if !flags[flag] && !slices.Contains(others, flag) {
				t.Errorf("%s: no command has %s", document, flag)
			}
		}
	}
}

var flagPattern = regexp.MustCompile(`\B--[a-z][a-z-]+`)

var shellWord = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)

// The examples of every help, and those in the documents, are right up to what they read: commands,
// flags and settings.
func TestExamples(t *testing.T) {
	t.Parallel()
	var lines []string
	joined := strings.NewReplacer("\\\n", " ")
	for _, cmd := range allCommands() {
		for line := range strings.Lines(joined.Replace(cmd.Example)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
	}
	example := regexp.MustCompile(`(?m)^ *tcbuild .*`)
	for _, document := range documents(t) {
		for _, line := range example.FindAllString(joined.Replace(read(t, document)), -1) {
			// a line with variables belongs to a workflow, which a test runs as printed
			if !strings.Contains(line, " $") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	for _, line := range lines {
		name, rest, _ := strings.Cut(line, " ")
		if name == "python" {
			continue
		}
		if name != "tcbuild" {
			t.Errorf("%s: found %s, expected tcbuild or python", line, name)
			continue
		}
		root := newRoot(newEnv(io.Discard, io.Discard))
		rest, _, _ = strings.Cut(rest, " | ")
		rest, _, _ = strings.Cut(rest, " > ")
		rest, _, _ = strings.Cut(rest, "  #")
		words := shellWord.FindAllString(rest, -1)
		for i, word := range words {
			words[i] = strings.Trim(word, `'"`)
		}
		cmd, _, err := root.Find(words)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		cmd.RunE = func(*cobra.Command, []string) error { return nil }
		root.SetArgs(words)
		// a settings file of the reader's is not there
		if err := root.Execute(); err != nil && fault.KindOf(err) != fault.Failed {
			t.Errorf("%s: %v", line, err)
		}
	}
	if len(lines) < 35 {
		t.Errorf("found %d examples, expected more", len(lines))
	}
}
