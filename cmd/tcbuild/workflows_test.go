package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tcbuild/internal/testing/testrun"
)

// The workflows for Snakemake and Nextflow run all steps, retry one that exits with 75, and do
// nothing when nothing has changed. They notice an older file in place of an input, and a bad input
// leaves the dataset as it was.
func TestWorkflows(t *testing.T) {
	skipShort(t)
	t.Parallel()
	for _, c := range []struct {
		program string
		args    []string
		idle    string
	}{
		{
			"snakemake",
			[]string{"--cores", "2", "--snakefile", absolute(t, snakefile)},
			"Nothing to be done",
		},
		{
			"nextflow",
			[]string{"run", "-resume", absolute(t, nextflowScript)},
			"Cached process > PUBLISH",
		},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			testrun.NeedPrograms(t, c.program)
			dir, environment := workflow(t, "parts: 3\n")
			environment = failsOnce(t, dir, environment,
				map[string]string{"--step build": "exit 75"})
			run := func() (string, bool) { return runIn(t, dir, environment, c.program, c.args...) }
			report := filepath.Join(dir, "results/cell/verify-incidence.json")
			current := filepath.Join(dir, "data/cell/current")

			if out, ok := run(); !ok || !strings.Contains(read(t, report), `"differences": 0`) {
				t.Fatal(out)
			}
			if len(glob(t, dir, "failed-*")) == 0 {
				t.Error("no step was interrupted")
			}
			if out, ok := run(); !ok || !strings.Contains(out, c.idle) {
				t.Errorf("again: got %s", out)
			}
			version, err := os.Readlink(current)
			if err != nil {
				t.Fatal(err)
			}
			replaceScreen(t, dir, []byte("junk"))
			if out, ok := run(); ok {
				t.Errorf("junk passes: %s", out)
			}
			if now, _ := os.Readlink(current); now != version {
				t.Errorf("junk replaced %s by %s", version, now)
			}
			must(t, dir, "verify", "data/cell/current/incidence")
			must(t, dir, "synth", "--out", "other", "samples=61")
			replaceScreen(t, dir, []byte(read(t, filepath.Join(dir, "other/perturbations.arrow"))))
			if out, ok := run(); !ok || !strings.Contains(read(t, report), `"samples": 61`) {
				t.Errorf("other input: got %s", out)
			}
			if m := manifestOf(t, filepath.Join(current, "incidence")); m.Samples != 61 {
				t.Errorf("got %d samples, expected 61", m.Samples)
			}
		})
	}
}

func TestSnakemakeLint(t *testing.T) {
	skipShort(t)
	t.Parallel()
	testrun.NeedPrograms(t, "snakemake")
	dir, environment := workflow(t, "")
	run := func(how string) (string, bool) {
		return runIn(t, dir, environment, "snakemake", how, "--snakefile", absolute(t, snakefile))
	}
	if out, ok := run("--lint"); !ok || !strings.Contains(out, "in a good condition") {
		t.Error(out)
	}
	writeFiles(t, dir, map[string]string{
		"config/config.yaml": "root: data\ndataset: a b\nperturbations: screen.arrow\n" +
			"variants: [masks]\nparts: 0\n",
	})
	if out, ok := run("-n"); ok {
		t.Errorf("a wrong configuration passes: %s", out)
	}
}

func TestNextflowStubs(t *testing.T) {
	skipShort(t)
	t.Parallel()
	testrun.NeedPrograms(t, "nextflow")
	dir, environment := workflow(t, "")
	out, ok := runIn(t, dir, with(environment, nextflowQuiet...),
		"nextflow", "run", absolute(t, nextflowScript), "-stub-run")
	if !ok {
		t.Error(out)
	}
	nothing(t, filepath.Join(dir, "data"))
}

// workflow adds a configuration for both engines to the folder of operations.
func workflow(t *testing.T, more string) (dir string, environment []string) {
	t.Helper()
	dir, environment = operations(t)
	config := "root: data\ndataset: cell\ngraph: cell/graph\nperturbations: screen.arrow\n" + more
	if !strings.Contains(more, "variants") {
		config += "variants: [incidence]\n"
	}
	if !strings.Contains(more, "parts") {
		config += "parts: 2\n"
	}
	writeFiles(t, dir, map[string]string{
		"config/config.yaml": config,
		"nextflow.config":    "params.parts = 3\n",
	})
	return dir, environment
}

// replaceScreen puts an older file in place of the perturbation set.
func replaceScreen(t *testing.T, dir string, content []byte) {
	t.Helper()
	next, old := filepath.Join(dir, "next"), time.Now().Add(-240*time.Hour)
	err := errors.Join(os.WriteFile(next, content, 0o644), os.Chtimes(next, old, old),
		os.Rename(next, filepath.Join(dir, "screen.arrow")))
	if err != nil {
		t.Fatal(err)
	}
}

const (
	snakefile      = "../../conf/snakemake/workflow/Snakefile"
	nextflowScript = "../../conf/nextflow/main.nf"
)

var nextflowQuiet = []string{
	"NXF_ANSI_LOG=false", "NXF_OFFLINE=true", "NXF_DISABLE_CHECK_LATEST=true",
}

// failsOnce shadows tcbuild, in the PATH, with a script that fails the first time each of these
// steps runs, by its command, and otherwise runs tcbuild.
func failsOnce(
	t *testing.T, dir string, environment []string, commands map[string]string,
) []string {
	t.Helper()
	script := "#!/bin/bash\n"
	for _, step := range slices.Sorted(maps.Keys(commands)) {
		failed := fmt.Sprintf("%s/failed-%x", dir, step)
		script += "[[ $* == *'" + step + "'* ]] && mkdir '" + failed + "' 2>/dev/null && { " +
			commands[step] + "; }\n"
	}
	script += "PATH=${PATH#*:} exec tcbuild \"$@\"\n"
	writeFiles(t, dir, map[string]string{"once/tcbuild": script})
	if err := os.Chmod(filepath.Join(dir, "once/tcbuild"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := ""
	for _, variable := range environment {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			path = value
		}
	}
	return with(environment, with(nextflowQuiet, "PATH="+filepath.Join(dir, "once")+":"+path)...)
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
