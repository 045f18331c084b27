package main

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"tcbuild/fault"
)

func TestWrongUsage(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown flag", with(buildArgs, "--shrads", "2"), "dataset: unknown flag: --shrads"},
		{"unknown command", []string{"datset"}, `unknown command "datset"`},
		{"unknown command with a flag", []string{"datset", "--mode", "indices"}, `unknown command "datset"`},
		{"no mode", []string{"dataset", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "out"}, "dataset: --mode is missing"},
		{"no graph", []string{"dataset", "--mode", "indices", "--perturbations", "sets.tsv", "--out", "out"}, "dataset: --graph is missing"},
		{"no perturbations", []string{"dataset", "--mode", "indices", "--graph", "graph", "--out", "out"}, "dataset: --perturbations is missing"},
		{"no out", []string{"dataset", "--mode", "indices", "--graph", "graph", "--perturbations", "sets.tsv"}, "dataset: --out is missing"},
		{"mode typo", with(buildArgs, "--mode", "indexes"), `read --mode: found "indexes", expected indices or full-masks`},
		{"codec of the other mode", with(buildArgs, "--codec", "bits"), `mode "indices" has no codec "bits", expected one of zstd, delta, raw`},
		{"codec of no mode", with(buildArgs, "--mode", "full-masks", "--codec", "delta"), `mode "full-masks" has no codec "delta"`},
		{"more shards than samples", with(buildArgs, "--shards", "3"), "found 3 shards, expected at most 2"},
		{"negative shards", with(buildArgs, "--shards", "-1"), `read --shards: found "-1", expected a whole decimal number, 0 or more (64 bits)`},
		{"negative workers", with(buildArgs, "--workers", "-1"), `read --workers: found "-1", expected a whole decimal number from 0 to 1024`},
		{"too many workers", with(buildArgs, "--workers", "1025"), `read --workers: found "1025", expected a whole decimal number from 0 to 1024`},
		{"too many workers to verify", []string{"verify", "x", "--workers", "100000"}, `read --workers: found "100000", expected a whole decimal number from 0 to 1024`},
		{"workers not a number", with(buildArgs, "--workers", "two"), `read --workers: found "two", expected a whole decimal number`},
		{"reaction rule", with(buildArgs, "--reaction-rule", "x"), `read --reaction-rule: found "x", expected all or gpr`},
		{"unknown genes", with(buildArgs, "--unknown-genes", "drop"), `read --unknown-genes: found "drop", expected error or drop-sample or drop-gene`},
		{"resume", with(buildArgs, "--resume", "yes"), `read --resume: found "yes", expected never or if-possible or always`},
		{"unknown setting", with(buildArgs, "shrads=2"), `unknown setting "shrads"`},
		{"bad setting", with(buildArgs, "workers=two"), `workers: found "two"`},
		{"argument", with(buildArgs, "extra"), `found argument "extra"`},
		{"always without a build", with(buildArgs, "--resume", "always"), "resume dataset out: found no unfinished build of it"},
		{"mode of incidence", []string{"incidence", "--mode", "indices", "--graph", "graph", "--out", "out"}, "incidence: unknown flag: --mode"},
		{"verify nothing", []string{"verify"}, "verify: "},
		{"verify by a wrong method", []string{"verify", "out", "--method", "edge"}, `read --method: found "edge", expected incidence or edges or both`},
		{"inspect a wrong range", []string{"inspect"}, "inspect: "},
	} {
		t.Run(c.name, func(t *testing.T) { faulty(t, 2, nil, c.args, c.want) })
	}
}

func TestWrongRange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	must(t, dir, buildArgs...)
	for samples, want := range map[string]string{
		"2": "the dataset has 2 samples", "3:4": "the dataset has 2 samples", "1:0": `found "1:0", expected A:B`,
		"-1": `found "-1"`, "a:b": `found "a:b"`,
	} {
		execute(t, dir, "inspect", "out", "--samples", samples).refused(t, 2, want)
	}
	for samples, lines := range map[string]int{"0:2": 2, ":": 2, "1:": 1, ":1": 1, ":3": 2, "1:9": 1, "1": 1, "1:1": 0, "2:2": 0} {
		if got := countLines(must(t, dir, "inspect", "out", "--samples", samples, "--json").stdout); got != lines {
			t.Errorf("--samples %s: got %d lines, want %d", samples, got, lines)
		}
	}
}

// A panic is a failure, not wrong usage; its stack is printed, and where to report it.
func TestPanic(t *testing.T) {
	var stdout, stderr bytes.Buffer
	e := newEnv(&stdout, &stderr)
	var nothing []int
	code := ended(t.Context(), e, fault.Catch(func() error { nothing[7]++; return nil })())
	for _, want := range []string{"usage_test.go:", "tcbuild: panic: runtime error: index out of range [7] with length 0\n", "\nhint: this is a fault of tcbuild", "report it"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("found no %q in\n%s", want, stderr.String())
		}
	}
	if code != 1 {
		t.Errorf("got the exit code %d, want 1", code)
	}
}

var (
	hintedCommand = regexp.MustCompile(`tcbuild((?: [a-z]+)+)`)
	hintedFlag    = regexp.MustCompile(`--([a-z]+(?:-[a-z]+)*)`)
	hintedSetting = regexp.MustCompile(`\b([a-z]+(?:_[a-z]+)*)=`)
)

// checkHint panics if a hint names a flag or setting that neither the command nor any command that
// the hint names has. TestMain makes every command of every test call it. It skips "the --out of
// the build", which is no advice to pass that flag.
func checkHint(args []string, hint string) {
	root := newRoot(newEnv(io.Discard, io.Discard))
	var commands []*cobra.Command
	lines := [][]string{args}
	for _, named := range hintedCommand.FindAllStringSubmatch(hint, -1) {
		lines = append(lines, strings.Fields(named[1]))
	}
	for _, line := range lines {
		if cmd, _, err := root.Find(line); err == nil {
			commands = append(commands, cmd)
		}
	}
	rest := strings.ReplaceAll(hint, "the --out of", "")
	for _, flag := range hintedFlag.FindAllStringSubmatch(rest, -1) {
		has := func(cmd *cobra.Command) bool { return cmd.Flag(flag[1]) != nil }
		if flag[1] != "help" && !slices.ContainsFunc(commands, has) {
			panic(fmt.Sprintf("%v has no flag --%s; hint: %s", args, flag[1], hint))
		}
	}
	for _, setting := range hintedSetting.FindAllStringSubmatch(rest, -1) {
		known := false // not as COLUMN=VALUE
		everyCommand(root, func(cmd *cobra.Command) { known = known || reads(cmd, setting[1]) })
		has := func(cmd *cobra.Command) bool { return reads(cmd, setting[1]) }
		if known && !slices.ContainsFunc(commands, has) {
			panic(fmt.Sprintf("%v has no setting %s; hint: %s", args, setting[1], hint))
		}
	}
}

// reads reports whether a command reads a setting, as a flag.
func reads(cmd *cobra.Command, key string) bool {
	return cmd.Flag(strings.ReplaceAll(key, "_", "-")) != nil
}
