package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tcbuild/internal/rebuild"
)

// rebuildOf is a command that rebuilds the dataset out/set of a fixture.
func rebuildOf(more ...string) []string {
	return with([]string{"rebuild", "--root", "out", "--dataset", "set", "--graph", "graph", "--perturbations", "sets.tsv"}, more...)
}

// versionsOf counts the versions of out/set. It fails the test if anything else is there, except
// the link, state, plan and locks.
func (f fixture) versionsOf(t *testing.T) int {
	t.Helper()
	dir := filepath.Join(f.dir, "out/set")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	unfinished, versions, err := rebuild.Folders(dir)
	if err != nil {
		t.Fatal(err)
	}
	known := with(strings.Fields("current state.json plan.json .lock .lock-state"), versions...)
	other := func(entry os.DirEntry) bool { return !slices.Contains(known, entry.Name()) }
	if slices.ContainsFunc(entries, other) || len(unfinished) > 0 {
		t.Errorf("got %v, want versions, current, state, plan and two locks", entries)
	}
	return len(versions)
}

func TestRebuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2000, 150)
	first := must(t, f.dir, rebuildOf()...)
	for _, want := range []string{"\nincidence ", "\nindices ", "\nfull-masks ", "The same masks in all three, bit for bit: 150 samples", "\n0 differences by two independent methods;"} {
		if !strings.Contains(first.stdout, want) {
			t.Errorf("got %s, want %q in it", first.stdout, want)
		}
	}
	for _, variant := range allVariants {
		must(t, f.dir, "verify", "out/set/current/"+variant, "--method", "both", "--graph", "graph")
	}
	version, err := filepath.EvalSymlinks(filepath.Join(f.dir, "out/set/current"))
	if err != nil {
		t.Fatal(err)
	}
	before := modified(t, version)
	for _, more := range [][]string{nil, {"--dry-run"}, {"workers=1"}} {
		again := must(t, f.dir, rebuildOf(with([]string{"method=both"}, more...)...)...)
		if !regexp.MustCompile(`^out/set: nothing to do, version 000001-[0-9a-f]{8} has the same inputs, options and program\n$`).MatchString(again.stdout) {
			t.Errorf("%v: got %q", more, again.stdout)
		}
	}
	dry := must(t, f.dir, rebuildOf("method=both", "reaction_rule=gpr", "--dry-run")...)
	if !strings.Contains(dry.stdout, `run     reaction_rule was "all", is "gpr"`) || !strings.Contains(dry.stdout, "after incidence") {
		t.Errorf("got %s", dry.stdout)
	}
	if modified(t, version) != before || f.versionsOf(t) != 1 {
		t.Error("a run without work, or a dry run, changed something")
	}

	rewrite(t, filepath.Join(f.dir, "sets.tsv"), "last\tY000\t0.5\t\n")
	dry = must(t, f.dir, rebuildOf("method=both", "--dry-run")...)
	if countLines(dry.stdout) != 7 || strings.Count(dry.stdout, "input sets.tsv changed") != 1 || strings.Count(dry.stdout, "after incidence") != 5 {
		t.Errorf("got %s", dry.stdout)
	}
	must(t, f.dir, rebuildOf("method=both")...)
	if manifest := manifestOf(t, filepath.Join(f.dir, "out/set/current/indices")); manifest.Samples != 151 {
		t.Errorf("got %d samples", manifest.Samples)
	}
	// Only verification is run again; the datasets are shared with the version before.
	byEdges := must(t, f.dir, rebuildOf("method=edges", "keep=2")...)
	// though the incidence variant is checked by both
	if !strings.Contains(byEdges.stdout, "\n0 differences by method edges;") {
		t.Errorf("got %s", byEdges.stdout)
	}
	if n := f.versionsOf(t); n != 2 {
		t.Errorf("got %d versions", n)
	}
	info, err := os.Stat(filepath.Join(f.dir, "out/set/current/indices/manifest.json"))
	if err != nil || info.Sys().(*syscall.Stat_t).Nlink != 2 {
		t.Errorf("the dataset was built again: %v", err)
	}
	forced := must(t, f.dir, rebuildOf("method=edges", "--force", "keep=1", "--quiet")...)
	if forced.stdout+forced.stderr != "" || f.versionsOf(t) != 1 {
		t.Errorf("got %q, %q, %d versions", forced.stdout, forced.stderr, f.versionsOf(t))
	}
}

// rewrite adds a line to a file by writing it aside and renaming it, as users of a live file
// should.
func rewrite(t *testing.T, path, line string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(read(t, path)+line), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestRebuildErrors(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	writeFiles(t, f.dir, map[string]string{
		"wrong.yaml":  "root: out\ngraph: graph\npertubations: sets.tsv\n",
		"ingest.yaml": "root: out\nperturbations: sets.tsv\ningest:\n  config: yeast\n  dat: x\n",
		"bad.tsv":     "genes\nY000\nnobody\n",
	})
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"key", []string{"rebuild", "--config", "wrong.yaml"}, 2, `read settings wrong.yaml:3: unknown setting "pertubations"`},
		{"key of ingest", []string{"rebuild", "--config", "ingest.yaml"}, 2, `read settings ingest.yaml:4: ingest: unknown setting "dat"`},
		{"no name", []string{"rebuild", "--root", "out"}, 2, "found dataset name"},
		{"no input", []string{"rebuild", "--root", "out", "--dataset", "set", "samples=5"}, 2, "found no input, expected --graph and --perturbations"},
		{"name", []string{"rebuild", "--root", "out", "--dataset", "../x"}, 2, `"../x"`},
		{
			"name with a line break", rebuildOf("--dataset", "set\ntouch x"),
			2, `found dataset name "set\ntouch x"`,
		},
		{"name of a flag", rebuildOf("--dataset", "-x"), 2, `found dataset name "-x"`},
		{"hidden name", rebuildOf("--dataset", ".x"), 2, `found dataset name ".x"`},
		{"name with a space", rebuildOf("--dataset", "a b"), 2, `found dataset name "a b"`},
		{
			"root with a line break", rebuildOf("--root", "out\ntouch x"),
			2, "found a control character",
		},
		{"log with a tab", rebuildOf("--log-file", "a\tb"), 2, "found a control character"},
		{"keep", rebuildOf("keep=0"), 2, `keep: found "0", expected a whole decimal number, 1 or more`},
		{"variant of the settings", rebuildOf("variants=[indices,index]"), 2, `found "index"`},
		{"no graph", []string{"rebuild", "--root", "out", "--dataset", "set", "--perturbations", "sets.tsv"}, 2, "without --graph"},
		{"no perturbations", []string{"rebuild", "--root", "out", "--dataset", "set", "--graph", "graph"}, 2, "without --perturbations"},
		{"missing input", rebuildOf("--graph", "nowhere"), 1, "nowhere"},
		{"bad input", rebuildOf("--perturbations", "bad.tsv"), 3, "bad.tsv:3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			execute(t, f.dir, c.args...).refused(t, c.code, c.want)
			entries, _ := os.ReadDir(filepath.Join(f.dir, "out/set"))
			for _, entry := range entries {
				name := entry.Name()
				if !strings.HasPrefix(name, ".lock") && name != "state.json" {
					t.Errorf("%s was left behind", name)
				}
			}
		})
	}
}

// What cron's users need: one run at a time, silence, a log, metrics.
func TestRebuildUnattended(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 150)
	args := rebuildOf("--quiet", "--log-file", "logs/set.log", "--metrics-file", "set.prom")
	if o := must(t, f.dir, args...); o.stdout+o.stderr != "" {
		t.Errorf("got %q and %q, want silence", o.stdout, o.stderr)
	}
	log := read(t, filepath.Join(f.dir, "logs/set.log"))
	if !strings.Contains(log, "stage verify-full-masks") || !strings.Contains(log, "rebuild is done  version=000001-") {
		t.Errorf("got log %s", log)
	}
	metric := func(name string) string {
		t.Helper()
		match := regexp.MustCompile(`(?m)^tcbuild_rebuild_` + name + `\{dataset="set"\} (\S+)$`).FindStringSubmatch(read(t, filepath.Join(f.dir, "set.prom")))
		if match == nil {
			t.Fatalf("no metric %s", name)
		}
		return match[1]
	}
	success := metric("last_success_timestamp_seconds")
	if success == "0" || metric("last_exit_code") != "0" || metric("version") != "1" || metric("last_stages_run") != "6" || metric("running") != "0" {
		t.Errorf("got %s", read(t, filepath.Join(f.dir, "set.prom")))
	}

	// a run without work is a sign of life, and keeps the log of the last one with work
	heartbeat := "tcbuild_rebuild_heartbeat_timestamp_seconds{dataset=\"set\"} "
	writeFiles(t, f.dir, map[string]string{"set.prom": regexp.MustCompile(heartbeat+`\d+`).ReplaceAllString(read(t, filepath.Join(f.dir, "set.prom")), heartbeat+"7")})
	if o := must(t, f.dir, args...); o.stdout+o.stderr != "" || metric("heartbeat_timestamp_seconds") == "7" || metric("last_stages_run") != "0" {
		t.Errorf("without work: got %q, %s", o.stdout+o.stderr, read(t, filepath.Join(f.dir, "set.prom")))
	}
	if read(t, filepath.Join(f.dir, "logs/set.log")) != log {
		t.Error("without work: the log was changed")
	}
	// a rebuild goes on if metrics cannot be written
	for _, path := range []string{"nowhere/set.prom", "graph"} {
		must(t, f.dir, rebuildOf("--metrics-file", path)...).warns(t, "WARN not recorded")
	}
	execute(t, f.dir, rebuildOf("--log-file", "sets.tsv/x.log")...).
		refused(t, 1, "write sets.tsv/x.log")

	must(t, f.dir, args...)
	success = metric("last_success_timestamp_seconds")
	rewrite(t, filepath.Join(f.dir, "sets.tsv"), "bad\tnobody\t1\t\n")
	o := execute(t, f.dir, args...)
	o.refused(t, 3, "sets.tsv:152", "nobody")
	if countLines(o.stderr) != 2 {
		t.Errorf("got stderr %s, want the error and its hint alone", o.stderr)
	}
	if more, ok := strings.CutPrefix(read(t, filepath.Join(f.dir, "logs/set.log")), log); !ok || !strings.Contains(more, "exit_code=3") {
		t.Error("the log was replaced, or does not have the error")
	}
	if metric("last_exit_code") != "3" || metric("last_success_timestamp_seconds") != success || metric("version") != "1" {
		t.Errorf("got %s", read(t, filepath.Join(f.dir, "set.prom")))
	}
	if manifest := manifestOf(t, filepath.Join(f.dir, "out/set/current/indices")); manifest.Samples != 150 || f.versionsOf(t) != 1 {
		t.Error("a failed run changed what is current")
	}
}

func TestSecondRebuildIsRefusedAtOnce(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 190_000, 530)
	first := f.beginStopped(t, 1, "out/set/.build-*", rebuildOf()...)
	execute(t, f.dir, rebuildOf("--log-file", "second.log", "--metrics-file", "second.prom")...).refused(t, 75, "another rebuild of it is running")
	nothing(t, filepath.Join(f.dir, "second.log"), filepath.Join(f.dir, "second.prom"))
	send(t, first, syscall.SIGTERM, syscall.SIGCONT)
	finish(t, first).refused(t, 75, "interrupted by SIGTERM")
	nothing(t, filepath.Join(f.dir, "out/set/current"))
	must(t, f.dir, rebuildOf()...)
	if n := f.versionsOf(t); n != 1 {
		t.Errorf("got %d versions", n)
	}
}

// groupFixture is a fixture whose out/set two users of one group rebuild.
type groupFixture struct {
	fixture
	set string
}

const lab, alice, bob = 40_000, 40_001, 40_002

func newGroupFixture(t *testing.T) groupFixture {
	t.Helper()
	skipShort(t)
	if os.Getuid() != 0 {
		t.Skip("only root can become other users")
	}
	f := newFixture(t, 20_000, 150) // so that a build can be stopped in time
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(f.dir, "out")
	// others reach neither the test's binary nor its folder
	if err := errors.Join(exec.Command("cp", executable, filepath.Join(f.dir, "tcbuild")).Run(), os.Chmod(filepath.Dir(f.dir), 0o755), os.Mkdir(out, 0o755),
		os.Chown(out, 0, lab), os.Chmod(out, 0o775|os.ModeSetgid)); err != nil {
		t.Fatal(err)
	}
	return groupFixture{f, filepath.Join(out, "set")}
}

// as is a rebuild by a user.
func (f groupFixture) as(t *testing.T, user int, umask string, more ...string) *exec.Cmd {
	cmd := program(t, "main")
	cmd.Path, cmd.Args = "/bin/bash", slices.Concat([]string{"bash", "-c", `umask ` + umask + `; exec "$@"`, "x", filepath.Join(f.dir, "tcbuild")}, rebuildOf("keep=1"), more)
	cmd.Dir, cmd.SysProcAttr = f.dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: lab}}
	return cmd
}

// Users of one group look after a dataset, in a folder that the group may write to: each removes
// the others' versions, and what a killed run of another one left, whatever the umask of each.
func TestUsersOfOneGroup(t *testing.T) {
	t.Parallel()
	for _, umasks := range [][2]string{{"002", "002"}, {"022", "002"}, {"002", "022"}, {"022", "022"}} {
		t.Run(umasks[0]+" and "+umasks[1], func(t *testing.T) {
			t.Parallel()
			f := newGroupFixture(t)
			for i, user := range []int{alice, bob, alice} {
				other, where := alice+bob-user, fmt.Sprintf("where=sample_id != %q", fmt.Sprint(i))
				killed := f.as(t, other, umasks[other-alice], where)
				killed.Env = append(killed.Env, stopVariable+"=1 out/set/.build-*/indices")
				start(t, killed)
				stopped(t, killed.Process.Pid)
				kill(t, killed)
				if o := finish(t, start(t, f.as(t, user, umasks[user-alice], where))); o.code != 0 || strings.Contains(o.stderr, "WARN not removed") {
					t.Errorf("%d: got %d, %s", i, o.code, o.stderr)
				}
				unfinished, finished, err := rebuild.Folders(f.set)
				if err != nil || len(unfinished) > 0 || len(finished) != 1 {
					t.Errorf("%d: got %v, %v, %v", i, unfinished, finished, err)
				}
				if left := glob(t, f.set, ".tmp-*"); len(left) > 0 {
					t.Errorf("%d: %v was left behind", i, left)
				}
			}
		})
	}
}

// What a colleague has kept to himself stays, with a warning that names him, the path and the fix.
// It does not keep others from publishing.
func TestFilesOfAColleague(t *testing.T) {
	t.Parallel()
	f := newGroupFixture(t)
	run := func(user int, more ...string) outcome { return finish(t, start(t, f.as(t, user, "002", more...))) }
	if o := run(alice); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	killed := f.as(t, alice, "002", "where=sample_id != \"x\"")
	killed.Env = append(killed.Env, stopVariable+"=1 out/set/.build-*/indices")
	start(t, killed)
	stopped(t, killed.Process.Pid)
	kill(t, killed)
	private := filepath.Join(f.set, ".tmp-private")
	if err := errors.Join(os.MkdirAll(filepath.Join(private, "x"), 0o700), os.Chown(private, alice, lab)); err != nil {
		t.Fatal(err)
	}
	kept := append(glob(t, f.set, ".build-*"), append(glob(t, f.set, "000001-*"), private)...)
	for _, path := range kept {
		if out, err := exec.Command("chmod", "-R", "g-w", path).CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
	}
	o := run(bob, "method=edges") // the datasets stay the same
	if o.code != 0 || len(kept) != 3 {
		t.Fatalf("got %d, %s; %v", o.code, o.stderr, kept)
	}
	for _, path := range kept {
		path, _ = filepath.Rel(f.dir, path)
		warning := fmt.Sprintf(`WARN not removed  path=%s owner=%d fix="as %d: chmod -R g+w %s"`, path, alice, alice, path)
		if !strings.Contains(o.stderr, warning) {
			t.Errorf("got %s, want %s in it", o.stderr, warning)
		}
	}
	if current, err := os.Readlink(filepath.Join(f.set, "current")); err != nil || !strings.HasPrefix(current, "000002-") {
		t.Errorf("got current %s, %v", current, err)
	}
	must(t, f.dir, "verify", "out/set/current/indices", "--graph", "graph")
	// their owner's next run removes them
	if o := run(alice, "where=sample_id != \"y\""); o.code != 0 || strings.Contains(o.stderr, "WARN not removed") {
		t.Errorf("got %d, %s", o.code, o.stderr)
	}
	for _, path := range kept {
		nothing(t, path)
	}
}

func TestRebuildFromPublicSources(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	writeFiles(t, f.dir, map[string]string{
		"down/genes.tsv": "id\n" + strings.Join(f.graph.Genes.IDs, "\n") + "\n",
		"down/links.tsv": "a\tb\nY000\tY001\nY002\tY003\n",
		"source.yaml": `data: nowhere
out: graph
genes: {file: "${data}/genes.tsv", column: id}
edges: [{file: "${data}/links.tsv", relation: link, from: a, to: b, undirected: false}]
`,
		"set.yaml": "root: out\nperturbations: sets.tsv\ningest: {config: source.yaml, data: down}\n",
	})
	must(t, f.dir, "rebuild", "--config", "set.yaml")
	if manifest := manifestOf(t, filepath.Join(f.dir, "out/set/current/indices")); manifest.Masks[1].Name != "gene__link__gene" || manifest.Masks[1].Size != 2 {
		t.Errorf("got masks %v", manifest.Masks)
	}
	rewrite(t, filepath.Join(f.dir, "down/links.tsv"), "Y004\tY005\n")
	dry := must(t, f.dir, "rebuild", "--config", "set.yaml", "--dry-run")
	if !strings.Contains(dry.stdout, "input down/links.tsv changed") || !strings.Contains(dry.stdout, "after ingest") {
		t.Errorf("got %s", dry.stdout)
	}
	must(t, f.dir, "rebuild", "--config", "set.yaml")
	if manifest := manifestOf(t, filepath.Join(f.dir, "out/set/current/indices")); manifest.Masks[1].Size != 3 {
		t.Errorf("got masks %v", manifest.Masks)
	}
}
