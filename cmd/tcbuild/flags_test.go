package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"tcbuild/docs"
)

// A flag that takes one of a few words names them in its help and completes to them.
func TestChoicesComplete(t *testing.T) {
	t.Parallel()
	everyCommand(newRoot(newEnv(io.Discard, io.Discard)), func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			choice, ok := flag.Value.(*flagValue)
			if !ok || choice.words == nil {
				return
			}
			for _, value := range choice.words {
				if !strings.Contains(flag.Usage+flag.DefValue, value) {
					t.Errorf("%s --%s completes to %s, which its help does not name: %s", cmd.CommandPath(), flag.Name, value, flag.Usage)
				}
			}
			complete, ok := cmd.GetFlagCompletionFunc(flag.Name)
			if !ok {
				t.Fatalf("%s --%s does not complete", cmd.CommandPath(), flag.Name)
			}
			if got, _ := complete(cmd, nil, ""); !slices.Equal(got, choice.words) {
				t.Errorf("%s --%s completes to %v, expected %v", cmd.CommandPath(), flag.Name, got, choice.words)
			}
		})
	})
}

// What bash, zsh and fish ask the program for.
func TestCompletion(t *testing.T) {
	t.Parallel()
	var names []string
	for _, page := range docs.Pages() {
		names = append(names, page.Name)
	}
	pages := strings.Join(names, " ")
	for _, c := range []struct{ line, want string }{
		{"dataset --mode", "indices full-masks"},
		{"dataset --codec", "bits delta raw zstd"},
		{"dataset --mode full-masks --codec", "bits raw zstd"},
		{"verify --method", "incidence edges both"},
		{"verify --device", "cpu cuda"},
		{"rebuild --log-format", "text json"},
		{"rebuild --variants", "incidence indices full-masks"},
		{"docs", pages},
		{"verify", ""}, // files
		{"verify x", "device= digests= gpu_memory= graph= json= log_format= method= quiet= workers="},
		{"synth --out x seed=3", "log_format= out= quiet= samples= scale= seed="},
	} {
		args := append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Fields(c.line)...)
		o := must(t, t.TempDir(), append(args, "")...)
		got, _, _ := strings.Cut(strings.Join(strings.Fields(o.stdout), " "), ":")
		got = strings.TrimSpace(got)
		if got != c.want {
			t.Errorf("%s: got %q, expected %q", c.line, got, c.want)
		}
	}
}

// Every help fits one screen.
func TestHelpFitsAScreen(t *testing.T) {
	const mostLines, mostColumns = 45, 100
	everyCommand(newRoot(newEnv(io.Discard, io.Discard)), func(cmd *cobra.Command) {
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		lines := strings.Split(strings.TrimRight(must(t, t.TempDir(), args...).stdout, "\n"), "\n")
		if len(lines) > mostLines {
			t.Errorf("%v: found %d lines, expected at most %d", args, len(lines), mostLines)
		}
		for _, line := range lines {
			if found := utf8.RuneCountInString(line); found > mostColumns {
				t.Errorf("%v: found %d columns, expected at most %d: %s", args, found, mostColumns, line)
			}
		}
	})
}

var manFolder = flag.String("man", "", "the folder in which TestManPages writes the man pages, for make dist")

func TestManPages(t *testing.T) {
	folder := *manFolder
	if folder == "" {
		folder = t.TempDir()
	}
	root := newRoot(newEnv(io.Discard, io.Discard))
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Source: "tcbuild " + version, Manual: "tcbuild"}, folder); err != nil {
		t.Fatal(err)
	}
	everyCommand(root, func(cmd *cobra.Command) {
		page, err := os.ReadFile(filepath.Join(folder, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range flagNames(cmd) {
			if !strings.Contains(string(page), `\fB--`+name+`\fP`) {
				t.Errorf("the man page of %s does not have --%s", cmd.CommandPath(), name)
			}
		}
	})
}

// everyCommand calls a function for every command that is not hidden.
func everyCommand(cmd *cobra.Command, each func(*cobra.Command)) {
	each(cmd)
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			everyCommand(sub, each)
		}
	}
}
