package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// metrics are the ones that status writes for a fixture's datasets, under umask 027; it must exit
// with a code.
func (f fixture) metrics(t *testing.T, code int) string {
	t.Helper()
	cmd := program(t, "main", "status", "out", "--metrics-file", "m.prom")
	cmd.Args = append([]string{"sh", "-c", `umask 027; exec "$0" "$@"`}, cmd.Args...)
	cmd.Path, cmd.Dir = "/bin/sh", f.dir
	finish(t, start(t, cmd)).prints(t, code)
	path := filepath.Join(f.dir, "m.prom")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o644 {
		t.Errorf("got mode %v, which another user may not read", info.Mode())
	}
	return read(t, path)
}

func has(t *testing.T, metrics string, want ...string) {
	t.Helper()
	for _, line := range want {
		if !strings.Contains(metrics, "\ntcbuild_rebuild_"+line+"\n") {
			t.Errorf("got %s, want %s", metrics, line)
		}
	}
}

// What readers get, and that nobody moves it, is in the metrics: a half-written table is built like
// any other.
func TestMetrics(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 60)
	must(t, f.dir, rebuildOf("variants=[incidence]")...)
	has(t, f.metrics(t, 0), `samples{dataset="set"} 60`, `held{dataset="set"} 0`)
	sets := filepath.Join(f.dir, "sets.tsv")
	half := strings.Join(strings.SplitAfter(read(t, sets), "\n")[:31], "")
	writeFiles(t, f.dir, map[string]string{"sets.tsv": half, "out/set/hold": "Ann\n"})
	must(t, f.dir, rebuildOf("variants=[incidence]")...)
	has(t, f.metrics(t, 0), `samples{dataset="set"} 60`, `held{dataset="set"} 1`)
	os.Remove(f.set("hold"))
	must(t, f.dir, rebuildOf("variants=[incidence]")...)
	has(t, f.metrics(t, 0), `samples{dataset="set"} 30`, `held{dataset="set"} 0`)

	// a killed run has not succeeded
	state := read(t, f.set("state.json"))
	_, rest, _ := strings.Cut(state[strings.Index(state, `"end"`):], ",")
	state = state[:strings.Index(state, `"end"`)] + strings.TrimSpace(rest)
	writeFiles(t, f.dir, map[string]string{"out/set/state.json": state})
	has(t, f.metrics(t, 4), `last_exit_code{dataset="set"} -1`, `problems{dataset="set"} 1`)

	if err := os.RemoveAll(f.set(f.current(t))); err != nil {
		t.Fatal(err)
	}
	o := execute(t, f.dir, "status", "out")
	if o.prints(t, 4, "current   ", ", which is missing"); strings.Contains(o.stdout, "long") {
		t.Errorf("got %s", o.stdout)
	}
}

// Before the first version, status says so, and does not leave older metrics.
func TestStatusBeforeTheFirstVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	writeFiles(t, f.dir, map[string]string{"out/my.yaml": "root: out\n"})
	if metrics := f.metrics(t, 3); strings.Contains(metrics, "dataset=") {
		t.Errorf("got %s", metrics)
	}
	execute(t, f.dir, "status", "out").hints(t, "'tcbuild rebuild' has no version yet")
	must(t, f.dir, rebuildStep("key", "--parts", "2")...)
	for _, path := range []string{"out", "out/set"} {
		execute(t, f.dir, "status", path).prints(t, 0, "out/set\n", "current   none yet")
	}
	has(t, f.metrics(t, 0), `problems{dataset="set"} 0`)
}

// A table that a graph has lost is published, as it may be meant, but not in silence.
func TestRebuildNamesMissingTables(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	args := rebuildOf("variants=[incidence]")
	must(t, f.dir, args...)
	for _, table := range glob(t, f.dir, "graph/edges/gene__physical__gene.*") {
		if err := os.Rename(table, filepath.Join(f.dir, filepath.Base(table))); err != nil {
			t.Fatal(err)
		}
	}
	must(t, f.dir, args...).warns(t, "graph/edges/gene__physical__gene.")
	if o := must(t, f.dir, args...); o.stderr != "" {
		t.Errorf("again: got %s", o.stderr)
	}
}

// Who may not write beside a version can still compare its files.
func TestCompareDigestsOfAnother(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	must(t, f.dir, rebuildOf("variants=[incidence,indices]")...)
	version := f.set(f.current(t))
	if err := os.Chmod(version, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(version, 0o755)
	compare := func(code int, want ...string) {
		t.Helper()
		cmd := program(t, "main", "verify", "out/set/current", "--digests")
		cmd.Dir = f.dir
		text, _ := withoutPrivileges(t, cmd)
		outcome{cmd.ProcessState.ExitCode(), text, ""}.prints(t, code, want...)
	}
	compare(0, "WARN", "permission denied", "all files have their digests")
	f.damage(t, "current", "indices/shard-*/data.mdb")
	compare(4, "data.mdb with the SHA-256")
}
