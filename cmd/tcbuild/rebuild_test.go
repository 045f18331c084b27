package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tcbuild/internal/disk"
)

// rebuildOf is a command that rebuilds the dataset out/set of a fixture; rebuildStep is one of its
// steps.
func rebuildOf(more ...string) []string { return rebuildStep("", more...) }

func rebuildStep(step string, more ...string) []string {
	args := []string{"rebuild"}
	if step != "" {
		args = append(args, step)
	}
	args = with(args, "--root", "out", "--dataset", "set", "--graph", "graph",
		"--perturbations", "sets.tsv", "--quiet")
	return with(args, more...)
}

// aloud is a command without --quiet.
func aloud(args []string) []string {
	return slices.DeleteFunc(args, func(arg string) bool { return arg == "--quiet" })
}

// set is the folder of the dataset of rebuildOf.
func (f fixture) set(names ...string) string {
	return filepath.Join(append([]string{f.dir, "out/set"}, names...)...)
}

// current is the key of the current version, all of whose variants must pass verification.
func (f fixture) current(t *testing.T) string {
	t.Helper()
	key, err := os.Readlink(f.set("current"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dataset := range glob(t, f.set("current"), "*/manifest.json") {
		must(t, f.dir, "verify", filepath.Dir(dataset))
	}
	return key
}

// versions counts the versions. It fails the test if a run has left anything else.
func (f fixture) versions(t *testing.T) (count int) {
	t.Helper()
	known := regexp.MustCompile(`^(current|state\.json|digests\.json|\.lock)$`)
	for _, path := range append(glob(t, f.set(), "*"), glob(t, f.set(), ".[a-z]*")...) {
		switch name := filepath.Base(path); {
		case regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(name):
			count++
		case !known.MatchString(name):
			t.Errorf("%s was left behind", name)
		}
	}
	return count
}

// damage flips a byte in the middle of the first file that a pattern finds in a version, and puts
// its time of modification back.
func (f fixture) damage(t *testing.T, version, pattern string) {
	t.Helper()
	path := glob(t, f.set(version), pattern)[0]
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, path)
	err = errors.Join(os.WriteFile(path, []byte(flipped(text, len(text)/2)), 0o644),
		os.Chtimes(path, info.ModTime(), info.ModTime()))
	if err != nil {
		t.Fatal(err)
	}
}

// rewrite adds a line to a file by writing it aside and renaming it, as users of a live file
// should.
func rewrite(t *testing.T, path, line string) {
	t.Helper()
	err := errors.Join(os.WriteFile(path+".new", []byte(read(t, path)+line), 0o644),
		os.Rename(path+".new", path))
	if err != nil {
		t.Fatal(err)
	}
}

func TestRebuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2000, 150)
	args := aloud(rebuildOf())
	must(t, f.dir, args...).prints(t, 0, "  Go reader's CPU\n", "\nincidence ", "\nindices ",
		"\nfull-masks ", "s/sample\n\n",
		"The same masks in all three, bit for bit: 150 samples",
		"\n0 differences by two independent methods;")
	first := f.current(t)
	before := modified(t, f.set(first, "indices"))
	for _, more := range [][]string{nil, {"--dry-run"}, {"workers=1"}} {
		must(t, f.dir, with(args, more...)...).prints(t, 0, "nothing to do, version "+first)
	}
	// says what the graph is made of, and when it was fetched: no mask depends on it
	writeFiles(t, f.dir, map[string]string{"graph/sources.json": `{"fetched": "today"}`})
	must(t, f.dir, args...).prints(t, 0, "nothing to do, version "+first)
	must(t, f.dir, with(args, "reaction_rule=gpr", "variants=[indices]", "--dry-run")...).prints(t,
		0, "would be built", `reaction_rule was "all", is "gpr"`, `variants was [`)
	if modified(t, f.set(first, "indices")) != before || f.versions(t) != 1 {
		t.Error("a run without work, or a dry run, changed something")
	}

	text := read(t, filepath.Join(f.dir, "sets.tsv"))
	rewrite(t, filepath.Join(f.dir, "sets.tsv"), "last\tY000\t0.5\t\n")
	must(t, f.dir, with(args, "--dry-run")...).prints(t, 0, "  input sets.tsv was ")
	must(t, f.dir, args...)
	if m := manifestOf(t, f.set("current/indices")); m.Samples != 151 {
		t.Errorf("got %d samples", m.Samples)
	}
	second := f.current(t)
	// what lies there is what would be built: nothing is built, whatever was current since
	writeFiles(t, f.dir, map[string]string{"sets.tsv": text})
	must(t, f.dir, with(args, "--dry-run")...).prints(t, 0, "would be checked, and become current")
	must(t, f.dir, args...).prints(t, 0, "version "+first+" is current again")
	if f.current(t) != first || modified(t, f.set(first, "indices")) != before {
		t.Error("the version was built again")
	}
	// the ones that were current last are kept
	must(t, f.dir, rebuildOf("variants=[indices]", "keep=2")...)
	nothing(t, f.set(second))
	if n := f.versions(t); n != 2 {
		t.Errorf("got %d versions", n)
	}
	must(t, f.dir, rebuildOf("--force")...)
	if f.current(t) != first || modified(t, f.set(first, "indices")) == before || f.versions(t) != 2 {
		t.Error("--force built nothing")
	}
	if o := must(t, f.dir, rebuildOf()...); o.stdout+o.stderr != "" {
		t.Errorf("got %q and %q, want silence", o.stdout, o.stderr)
	}
	must(t, f.dir, "status", "out").prints(t, 0, first, "150 samples")
}

func TestRebuildErrors(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	writeFiles(t, f.dir, map[string]string{
		"wrong.yaml": "root: out\ngraph: graph\npertubations: sets.tsv\n",
		"bad.tsv":    "genes\nY000\nnobody\n",
	})
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"key", []string{"rebuild", "--config", "wrong.yaml"}, 2,
			`read settings wrong.yaml:3: unknown setting "pertubations"`},
		{"no name", []string{"rebuild", "--root", "out", "--graph", "graph",
			"--perturbations", "sets.tsv"}, 2, "found dataset name"},
		{"name", rebuildOf("--dataset", "../x"), 2, `"../x"`},
		{"line break", rebuildOf("--dataset", "set\nx"), 2, `found dataset name "set\nx"`},
		{"hidden name", rebuildOf("--dataset", ".x"), 2, `found dataset name ".x"`},
		{"root", rebuildOf("--root", "out\nx"), 2, "found a control character"},
		{"keep", rebuildOf("keep=0"), 2, `keep: found "0"`},
		{"variant", rebuildOf("variants=[indices,index]"), 2, `found "index"`},
		{"no graph", []string{"rebuild", "--root", "out", "--dataset", "set",
			"--perturbations", "sets.tsv"}, 2, "--graph is missing"},
		{"missing input", rebuildOf("--graph", "nowhere"), 1, "nowhere"},
		{"bad input", rebuildOf("--perturbations", "bad.tsv"), 3, "bad.tsv:3"},
		{"part 0", rebuildStep("build", "--part", "0/2"), 2, `read --part: found "0/2"`},
		{"part 3", rebuildStep("verify", "--part", "3/2"), 2, `read --part: found "3/2"`},
		{"no part", rebuildStep("build"), 2, "--part is missing"},
		{"many parts", rebuildStep("build", "--part", "1/21"), 2,
			"found 21 parts, expected at most 20, one per sample"},
	} {
		t.Run(c.name, func(t *testing.T) {
			execute(t, f.dir, c.args...).refused(t, c.code, c.want)
			nothing(t, f.set("current"))
			if c.name == "bad input" {
				if left := glob(t, f.set(), ".build-*"); len(left) > 0 {
					t.Errorf("%v was left behind", left)
				}
			}
		})
	}
}

// Damage to a version is found before the version becomes current or stays it, by whatever door.
func TestDamagedVersions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2000, 60)
	must(t, f.dir, rebuildOf()...)
	first := f.current(t)
	for what, damage := range map[string]func(){
		"a byte": func() { f.damage(t, first, "indices/shard-*/data.mdb") },
		"a file's end": func() {
			path := glob(t, f.set(first), "full-masks/shard-*/data.mdb")[0]
			if err := os.Truncate(path, 5000); err != nil {
				t.Fatal(err)
			}
		},
		"a variant": func() { os.RemoveAll(f.set(first, "indices")) },
		"a report":  func() { os.Remove(f.set(first, "verify-indices.json")) },
		"the key":   func() { os.Remove(f.set(first, "key.json")) },
	} {
		// while another version was current, nobody is harmed
		must(t, f.dir, rebuildOf("variants=[indices]")...)
		damage()
		must(t, f.dir, rebuildOf()...).warns(t, "ERROR a version is damaged")
		if f.current(t) != first {
			t.Errorf("%s: got version %s", what, f.current(t))
		}
		must(t, f.dir, "status", "out")

		damage()
		if what != "a byte" {
			execute(t, f.dir, "status", "out").prints(t, 4, "PROBLEM   check version")
		}
		execute(t, f.dir, rebuildOf()...).refused(t, 4, "the current version was damaged")
		if f.current(t) != first {
			t.Errorf("%s: got version %s", what, f.current(t))
		}
		execute(t, f.dir, "status", "out").prints(t, 4, "rebuild with 4")
		must(t, f.dir, rebuildOf()...)
		must(t, f.dir, "status", "out")
	}
	if left := glob(t, f.set(), "*.damaged"); len(left) != 1 {
		t.Errorf("got %v", left)
	}
}

// A byte that rots on the disk changes no time. It is found after 30 days, or by verify --digests,
// and once found it is never trusted again.
func TestScrub(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2000, 60)
	must(t, f.dir, rebuildOf("variants=[incidence]")...)
	time.Sleep(2100 * time.Millisecond) // files that have just changed are compared each time
	must(t, f.dir, rebuildOf("variants=[incidence]")...)
	checked := f.set("current/checked-incidence.json")
	var record struct {
		Compared time.Time    `json:"compared"`
		Files    disk.Digests `json:"files"`
	}
	load := func() {
		if err := json.Unmarshal([]byte(read(t, checked)), &record); err != nil {
			t.Fatal(err)
		}
	}
	const name = "incidence.positions"
	f.damage(t, "current", "incidence/"+name)
	load()
	var stat syscall.Stat_t
	if err := syscall.Stat(f.set("current/incidence", name), &stat); err != nil {
		t.Fatal(err)
	}
	known := record.Files[name]
	known.Changed = stat.Ctim.Nano() // as if it had not changed
	record.Files[name] = known
	save := func() {
		text, _ := json.Marshal(record)
		writeFiles(t, filepath.Dir(checked), map[string]string{filepath.Base(checked): string(text)})
	}
	save()
	must(t, f.dir, rebuildOf("variants=[incidence]")...)
	record.Compared = record.Compared.Add(-31 * 24 * time.Hour)
	save()
	// a workflow's publishing step cannot build: it says so, and no later check is fooled
	for range 2 {
		execute(t, f.dir, rebuildStep("publish", "variants=[incidence]")...).refused(t, 4, name)
	}
	must(t, f.dir, rebuildStep("key", "variants=[incidence]", "--json")...).
		prints(t, 0, `"ready": false`)
	execute(t, f.dir, "verify", "out/set/current", "--digests").refused(t, 4, name)
	execute(t, f.dir, rebuildOf("variants=[incidence]")...).refused(t, 4, name)
	load()
	last := record.Compared
	must(t, f.dir, "verify", "out/set/current", "--digests")
	if load(); !record.Compared.After(last) {
		t.Error("verify --digests did not write when it compared")
	}
}

// A failure stays in status and metrics until a run succeeds; an interruption does not replace it.
func TestFailuresStay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2000, 60)
	must(t, f.dir, rebuildOf()...)
	good := read(t, filepath.Join(f.dir, "sets.tsv"))
	rewrite(t, filepath.Join(f.dir, "sets.tsv"), "bad\tnobody\t1\t\n")
	execute(t, f.dir, rebuildStep("build", "--part", "1/2")...).refused(t, 3, "sets.tsv:62")
	failed := func() {
		t.Helper()
		execute(t, f.dir, "status", "out", "--metrics-file", "m.prom").
			prints(t, 4, "build 1/2 with 3", "sets.tsv:62", "hint")
		metrics := read(t, filepath.Join(f.dir, "m.prom"))
		for _, want := range []string{`last_exit_code{dataset="set"} 3`, `problems{dataset="set"} 1`} {
			if !strings.Contains(metrics, "\ntcbuild_rebuild_"+want+"\n") {
				t.Errorf("got %s, want %s", metrics, want)
			}
		}
	}
	failed()
	writeFiles(t, f.dir, map[string]string{"sets.tsv": good})
	execute(t, f.dir, rebuildStep("publish", "--key", "0123456789abcdef")...).
		refused(t, 75, "the key is another one")
	failed()
	must(t, f.dir, rebuildOf()...)
	must(t, f.dir, "status", "out", "--json").prints(t, 0, `"problems": []`, `"exit_code": 0`)
	for _, path := range []string{"nowhere/m.prom", "graph"} {
		execute(t, f.dir, "status", "out", "--metrics-file", path).refused(t, 1, path)
	}
}

// An operator's choice stays, and is checked, until the file hold is removed.
func TestHold(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2000, 60)
	must(t, f.dir, rebuildOf()...)
	first := f.current(t)
	writeFiles(t, f.dir, map[string]string{"out/set/hold": "Ann\n"})
	next := aloud(rebuildOf("method=edges", "keep=1"))
	must(t, f.dir, next...).warns(t, "WARN the file hold keeps current")
	if f.current(t) != first {
		t.Error("current has moved")
	}
	must(t, f.dir, "status", "out").prints(t, 0, "held")
	f.damage(t, first, "indices/shard-*/data.mdb")
	execute(t, f.dir, next...).refused(t, 4, first)
	os.Remove(f.set("hold"))
	must(t, f.dir, next...)
	if f.current(t) == first {
		t.Error("current has not moved")
	}
}

// Another program builds another version.
func TestRebuildByAnotherProgram(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	must(t, f.dir, rebuildOf()...)
	first := f.current(t)
	cmd := program(t, "main", rebuildOf()...)
	cmd.Dir, cmd.Env = f.dir, append(cmd.Env, commitVariable+"=another")
	if o := finish(t, start(t, cmd)); o.code != 0 || f.current(t) == first {
		t.Errorf("got %d, %s", o.code, o.stderr)
	}
}

// A second run waits, three times, and then exits with 75; an interrupted one continues.
func TestSecondRebuild(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 190_000, 530)
	first := f.beginStopped(t, 1, "out/set/.build-*/indices.building", rebuildOf()...)
	o := execute(t, f.dir, rebuildOf()...)
	o.refused(t, 75, "another rebuild of it is running")
	execute(t, f.dir, rebuildStep("build", "--part", "1/2")...).refused(t, 75, "another rebuild")
	execute(t, f.dir, "status", "out").prints(t, 0, "somebody is at work")
	send(t, first, syscall.SIGTERM, syscall.SIGCONT)
	finish(t, first).refused(t, 75, "interrupted by SIGTERM")
	must(t, f.dir, "status", "out")
	nothing(t, f.set("current"))
	must(t, f.dir, rebuildOf()...)
	f.current(t)
	if n := f.versions(t); n != 1 {
		t.Errorf("got %d versions", n)
	}
}

// An input that changes while a run reads it is tried again by the run itself.
func TestInputChangesDuringRebuild(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 190_000, 530)
	running := f.beginStopped(t, 1, "out/set/.build-*/indices.building", rebuildOf()...)
	rewrite(t, filepath.Join(f.dir, "sets.tsv"), "last\tY000\t0.5\t\n")
	send(t, running, syscall.SIGCONT)
	o := finish(t, running)
	if m := manifestOf(t, f.set("current/indices")); o.code != 0 || m.Samples != 531 {
		t.Errorf("got %d, %d samples, %s", o.code, m.Samples, o.stderr)
	}
}

// Values of environment variables are in no file.
func TestSecretsOfRebuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	const secret = `s3cr&t"x`
	path := filepath.Join(f.dir, secret+".tsv")
	if err := os.Rename(filepath.Join(f.dir, "sets.tsv"), path); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, f.dir, map[string]string{"c.yaml": "perturbations: ${oc.env:TOKEN}.tsv\n"})
	cmd := program(t, "main", "rebuild", "--root", "out", "--dataset", "set", "--graph", "graph",
		"--config", "c.yaml", "variants=[incidence]")
	cmd.Dir, cmd.Env = f.dir, append(cmd.Env, "TOKEN="+secret)
	if o := finish(t, start(t, cmd)); o.code != 0 {
		t.Fatal(o.stderr)
	}
	for _, name := range []string{"key.json", "incidence/manifest.json"} {
		text := read(t, f.set("current", name))
		if strings.Contains(text, "s3cr") || !strings.Contains(text, "${oc.env:TOKEN}") {
			t.Errorf("%s: got %s", name, text)
		}
	}
}
