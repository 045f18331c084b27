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

// The documents name no flag that no command has.
func TestDocsNameFlags(t *testing.T) {
	t.Parallel()
	flags := make(map[string]bool)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		for _, name := range flagNames(cmd) {
			flags["--"+name] = true
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(newEnv(io.Discard, io.Discard)))
	others := []string{"--time", "--partition", "--cpus-per-task", "--gres", "--name", "--cores", "--snakefile", "--tcbuild", "--batches", "--cpu-time"} // of SLURM, Snakemake and python/benchmarks
	for _, document := range []string{"README.md", "CONTRIBUTING.md", "docs/DESIGN.md", "docs/OPERATIONS.md", "docs/BENCHMARKS.md", "store/FORMAT.md", "conf/cron/tcbuild"} {
		for _, flag := range flagPattern.FindAllString(read(t, filepath.Join("../..", document)), -1) {
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
	var collect func(cmd *cobra.Command)
	collect = func(cmd *cobra.Command) {
		for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", " ")) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		for _, sub := range cmd.Commands() {
			collect(sub)
		}
	}
	collect(newRoot(newEnv(io.Discard, io.Discard)))
	for _, document := range []string{"README.md", "docs/OPERATIONS.md", "docs/BENCHMARKS.md"} {
		for _, line := range regexp.MustCompile(`(?m)^    tcbuild .*`).FindAllString(read(t, "../../"+document), -1) {
			if !strings.Contains(line, " $") { // the variables of a workflow, which is run as printed
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	for _, line := range lines {
		name, rest, _ := strings.Cut(line, " ")
		if name != "tcbuild" {
			t.Errorf("%s: found %s, expected tcbuild", line, name)
			continue
		}
		root := newRoot(newEnv(io.Discard, io.Discard))
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
