package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// Whatever a flag completes to is in its help, and every flag that is checked for one of a few
// values completes to them.
func TestFlagValuesComplete(t *testing.T) {
	t.Parallel()
	values := flagValues()
	root := newRoot(newEnv(io.Discard, io.Discard))
	found := make(map[string]bool)
	everyCommand(root, func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if values[flag.Name] == nil {
				return
			}
			found[flag.Name] = true
			for _, value := range values[flag.Name] {
				if !strings.Contains(flag.Usage+flag.DefValue, value) {
					t.Errorf("%s --%s completes to %s, which its help does not name: %s", cmd.CommandPath(), flag.Name, value, flag.Usage)
				}
			}
			complete, ok := cmd.GetFlagCompletionFunc(flag.Name)
			if !ok {
				t.Fatalf("%s --%s does not complete", cmd.CommandPath(), flag.Name)
			}
			if got, _ := complete(cmd, nil, ""); !slices.Equal(got, values[flag.Name]) {
				t.Errorf("%s --%s completes to %v, expected %v", cmd.CommandPath(), flag.Name, got, values[flag.Name])
			}
		})
	})
	for name := range values {
		if !found[name] {
			t.Errorf("no command has --%s", name)
		}
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		for _, match := range regexp.MustCompile(`oneOf\("--([a-z-]+)"`).FindAllStringSubmatch(read(t, source), -1) {
			if values[match[1]] == nil {
				t.Errorf("%s checks --%s for one of a few values, and it does not complete to them", source, match[1])
			}
		}
	}
}

// What bash, zsh and fish ask the program for.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, want string }{
		{"dataset --mode", "indices full-masks"},
		{"dataset --codec", "bits delta raw zstd"},
		{"dataset --mode full-masks --codec", "bits raw zstd"},
		{"verify --method", "incidence edges both"},
		{"rebuild --config", "human quickstart sources yeast"},
	} {
		args := append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Fields(c.line)...)
		o := must(t, t.TempDir(), append(args, "")...)
		got, _, _ := strings.Cut(strings.Join(strings.Fields(o.stdout), " "), " :")
		if got != c.want {
			t.Errorf("%s: got %q, expected %q", c.line, got, c.want)
		}
	}
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
