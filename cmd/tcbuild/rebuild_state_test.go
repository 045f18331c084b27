package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"tcbuild/internal/rebuild"
)

// statusText returns the output of status, with placeholders for what differs from run to run.
func statusText(o outcome) string {
	text := o.stdout
	for pattern, with := range map[string]string{
		`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`: "TIME",
		`\d{8}T\d{6}Z-\w{6}`:             "RUN",
		`-[0-9a-f]{8}\b`:                 "-FINGER",
		`([a-z] )(now|\d+ \w+ ago)\b`:    "${1}AGO",
		`took \d+s`:                      "took N",
		`go1\.[\d.]+`:                    "GO",
		`process \d+`:                    "process N",
		` on [\w.-]+, process`:           " on HOST, process",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, with)
	}
	return text
}

func TestStatusScreens(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 150)
	screen := func(name string, code int, want string) {
		t.Helper()
		o := execute(t, f.dir, "status", "out")
		if got := statusText(o); o.code != code || got != want {
			t.Errorf("%s: got %d\n%swant %d\n%s", name, o.code, got, code, want)
		}
	}
	execute(t, f.dir, rebuildOf("--perturbations", "nowhere.tsv")...).refused(t, 1, "nowhere.tsv")
	screen("never done", 4, `out/set
  current   none yet
  last run  ended with 1; began AGO (TIME), took N
  failed    rebuild with 1: open nowhere.tsv: there is no such file
  hint      check the path
  PROBLEM   the last run failed with 1
`)
	must(t, f.dir, rebuildOf("variants=[incidence]")...)
	screen("done", 0, `out/set
  current   000001-FINGER, made AGO (TIME), 150 samples
  from      a graph of 7 tables, sets.tsv; by 0.1.0 (commit of-the-tests, GO)
  verified  up to date AGO; files compared with their digests AGO
  last run  done, 2 stages run; began AGO (TIME), took N
`)
	rewrite(t, filepath.Join(f.dir, "sets.tsv"), "bad\tnobody\t1\t\n")
	execute(t, f.dir, rebuildOf("variants=[incidence]")...).refused(t, 3, "nobody")
	screen("bad input", 4, `out/set
  current   000001-FINGER, made AGO (TIME), 150 samples
  from      a graph of 7 tables, sets.tsv; by 0.1.0 (commit of-the-tests, GO)
  verified  up to date AGO; files compared with their digests AGO
  last run  ended with 3; began AGO (TIME), took N
  failed    rebuild with 3: read perturbations sets.tsv:152: gene "nobody" is not in the graph (300 genes)
  hint      correct the name, or add the gene to the graph, or its other names with aliases; to drop such samples, pass --unknown-genes drop-sample
  PROBLEM   the last run failed with 3
`)
	drop := []string{"variants=[incidence]", "unknown_genes=drop-sample"}
	must(t, f.dir, step(rebuild.Prepare, "", with(drop, "--parts", "16")...)...)
	for _, part := range []string{"1/16", "5/16"} {
		must(t, f.dir, step(rebuild.Build, part, drop...)...)
	}
	must(t, f.dir, step(rebuild.Verify, "5/16", drop...)...)
	execute(t, f.dir, step(rebuild.Publish, "", drop...)...).
		refused(t, 1, "15 of 16 parts are not verified")
	screen("in parts", 4, `out/set
  current   000001-FINGER, made AGO (TIME), 150 samples
  from      a graph of 7 tables, sets.tsv; by 0.1.0 (commit of-the-tests, GO)
  verified  up to date AGO; files compared with their digests AGO
  last run  ended with 3; began AGO (TIME), took N
  failed    rebuild with 3: read perturbations sets.tsv:152: gene "nobody" is not in the graph (300 genes)
  hint      correct the name, or add the gene to the graph, or its other names with aliases; to drop such samples, pass --unknown-genes drop-sample
  now       run RUN began AGO: 2 of 16 parts built, 1 verified
  failed    publish with 1: rebuild out/set: incidence: 15 of 16 parts are not verified: 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
  hint      run 'tcbuild rebuild --step verify --part 1/16' and likewise each that is missing
  PROBLEM   a step of the run in progress failed with 1
`)
	var all struct {
		Datasets []rebuild.Overview `json:"datasets"`
	}
	o := execute(t, f.dir, "status", "out/set", "--json")
	if err := json.Unmarshal([]byte(o.stdout), &all); err != nil || o.code != 4 {
		t.Fatal(o.code, err, o.stdout)
	}
	s := all.Datasets[0].State
	codes := [2]int{s.Run.Failures[0].ExitCode, s.Last.Failures[0].ExitCode}
	if len(s.Run.Built) != 2 || codes != [2]int{1, 3} {
		t.Errorf("got %s", o.stdout)
	}
}

func (f fixture) changeState(t *testing.T, change func(*rebuild.State)) {
	t.Helper()
	if err := rebuild.UpdateState(filepath.Join(f.dir, "out/set"), change); err != nil {
		t.Fatal(err)
	}
}

// A scrub finds damage that leaves sizes as they were. The run reports it, shares nothing with the
// damaged version, and exits with 4, once.
func TestScrub(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 150)
	old := func(s *rebuild.State) { s.Scrubbed = time.Now().Add(-31 * 24 * time.Hour) }
	byEdges := rebuildOf("keep=9", "method=edges")
	must(t, f.dir, rebuildOf("keep=9")...)
	must(t, f.dir, byEdges...) // shares the datasets
	damaged := filepath.Join(f.dir, "out/set/current/indices/shard-00000-of-00001/data.mdb")
	if err := os.WriteFile(damaged, []byte(flipped(read(t, damaged), 5000)), 0o644); err != nil {
		t.Fatal(err)
	}
	f.changeState(t, old)
	must(t, f.dir, with(byEdges, "scrub_days=0")...).prints(t, 0, "nothing to do")
	must(t, f.dir, with(byEdges, "scrub_days=32")...)
	// the next run continues an interrupted repair
	stopped := f.beginStopped(t, 1, "out/set/.build-*/full-masks.building/.build/plan.json",
		with(byEdges, "--metrics-file", "m.prom")...)
	kill(t, stopped)
	execute(t, f.dir, "status", "out").prints(t, 4, "PROBLEM   the current version is damaged: ")
	o := execute(t, f.dir, with(byEdges, "--metrics-file", "m.prom")...)
	o.refused(t, 4, "replaces a damaged one", "shard-00000-of-00001/data.mdb")
	metrics := read(t, filepath.Join(f.dir, "m.prom"))
	for _, want := range []string{`last_exit_code{dataset="set"} 4`, `damaged{dataset="set"} 0`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("got %s, want %s in it", metrics, want)
		}
	}
	for _, variant := range allVariants {
		must(t, f.dir, "verify", "out/set/current/"+variant)
		for _, path := range glob(t, f.dir, "out/set/current/"+variant+"/*") {
			info, err := os.Stat(path)
			if err != nil || info.Mode().IsRegular() && links(info) != 1 {
				t.Errorf("%s is shared, or %v", path, err)
			}
		}
	}
	must(t, f.dir, byEdges...).prints(t, 0, "nothing to do, version 000003-")
	must(t, f.dir, "status", "out")

	// a rebuild in steps
	damaged = filepath.Join(f.dir, "out/set/current/incidence/incidence.positions")
	if err := os.WriteFile(damaged, []byte(flipped(read(t, damaged), 50)), 0o644); err != nil {
		t.Fatal(err)
	}
	f.changeState(t, old)
	f.steps(t, 2, rebuild.Prepare, rebuild.Build, rebuild.Verify)
	execute(t, f.dir, step(rebuild.Publish, "")...).
		refused(t, 4, "replaces a damaged one", "incidence.positions")
	f.steps(t, 2, rebuild.Publish)
	must(t, f.dir, "verify", "out/set/current/incidence")
	must(t, f.dir, "status", "out")
}

// After an operator goes back, current stays at the older version until inputs or settings change,
// or until --forward. A crash does not count as going back.
func TestRollback(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 400, 30)
	current := filepath.Join(f.dir, "out/set/current")
	is := func(version string) {
		t.Helper()
		if now, _ := os.Readlink(current); !strings.HasPrefix(now, version+"-") {
			t.Errorf("got %s, want %s", now, version)
		}
	}
	point := func(version string) {
		t.Helper()
		name := filepath.Base(glob(t, f.dir, "out/set/"+version+"-*")[0])
		if err := errors.Join(os.Remove(current), os.Symlink(name, current)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(more ...string) outcome {
		t.Helper()
		return must(t, f.dir, rebuildOf(with(more, "keep=9")...)...)
	}
	run()
	rewrite(t, filepath.Join(f.dir, "sets.tsv"), "last\tY000\t0.5\t\n")
	run()
	is("000002")
	point("000001")
	must(t, f.dir, "status", "out").prints(t, 0, "held back current stays at 000001-")
	for range 2 {
		run().warns(t, "WARN current stays at an older version")
		is("000001")
		for _, args := range [][]string{
			step(rebuild.Prepare, "", "keep=9"),
			step(rebuild.Build, "1/1", "keep=9"),
			step(rebuild.Verify, "1/1", "keep=9"),
			step(rebuild.Publish, "", "keep=9"),
		} {
			must(t, f.dir, args...)
		}
		is("000001")
	}
	must(t, f.dir, "status", "out").prints(t, 0, "held back current stays at 000001-")
	run("--forward")
	is("000002")
	run()
	is("000002")
	point("000001")
	run()
	rewrite(t, filepath.Join(f.dir, "sets.tsv"), "more\tY001\t0.5\t\n")
	run() // a changed input
	is("000003")
	point("000002")
	run()
	run("allow_wildtype=true") // changed settings
	is("000004")
	run()
	is("000003") // made with these settings
	run()
	is("000003")

	// crashes between two steps of publishing
	newest := filepath.Base(glob(t, f.dir, "out/set/000004-*")[0])
	for _, c := range []struct{ link, current, next string }{
		{"000003", "000003", newest}, // before the link was switched
		{"000004", "000003", newest}, // after it
		{"000003", "000003", ""},     // after naming the version, before all else
	} {
		point(c.link)
		f.changeState(t, func(s *rebuild.State) {
			current := filepath.Base(glob(t, f.dir, "out/set/"+c.current+"-*")[0])
			s.Current, s.Next = current, c.next
		})
		run("allow_wildtype=true")
		is("000004")
	}
	// a crash on the way to an older version, whose inputs are back
	point("000003")
	f.changeState(t, func(s *rebuild.State) {
		s.Current, s.Next = newest, filepath.Base(glob(t, f.dir, "out/set/000003-*")[0])
	})
	run("allow_wildtype=true")
	is("000004")
	// without a state, runs cannot know that an operator went back
	if err := os.Remove(filepath.Join(f.dir, "out/set/state.json")); err != nil {
		t.Fatal(err)
	}
	point("000001")
	run("allow_wildtype=true")
	is("000004")
}

// No file holds the value of an environment variable, but runs notice when it changes.
func TestSecretsAreNotRecorded(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	writeFiles(t, f.dir, map[string]string{
		"set.yaml": "root: out\n" +
			"graph: ${oc.env:CELL}\nperturbations: ${oc.env:CELL}/../${oc.env:SCREEN}.tsv\n" +
			"where: 'sample_id != \"${oc.env:TOKEN}\"'\ncontrols: [\"${oc.env:TOKEN}\"]\n" +
			"log_file: set.log\nmetrics_file: set.prom\nvariants: [incidence, indices]\n",
	})
	at := func(name string) string { return filepath.Join(f.dir, name) }
	err := errors.Join(os.Rename(at("graph"), at("hunter2graph")),
		os.Rename(at("sets.tsv"), at("hunter3sets.tsv")))
	if err != nil {
		t.Fatal(err)
	}
	run := func(token string, args ...string) outcome {
		cmd := program(t, "main", with([]string{"rebuild", "--config", "set.yaml"}, args...)...)
		cmd.Dir = f.dir
		cmd.Env = append(cmd.Env, "CELL=hunter2graph", "SCREEN=hunter3sets", "TOKEN="+token)
		return finish(t, start(t, cmd))
	}
	run("hunter4secret0").prints(t, 0)
	for _, args := range []string{
		"--step prepare", "--step build --part 1/1", "--step verify --part 1/1", "--step publish",
	} {
		run("hunter4secret1", strings.Fields(args)...).prints(t, 0)
	}
	run("hunter4secret1", "unknown_genes=no").refused(t, 2, "unknown")
	if _, versions, _ := rebuild.Folders(filepath.Join(f.dir, "out/set")); len(versions) != 2 {
		t.Errorf("got %v", versions)
	}
	run("hunter4secret9", "--step", "build", "--part", "1/1").refused(t, 75, "controls was")
	rewrite(t, filepath.Join(f.dir, "hunter3sets.tsv"), "hunter4secret9x\tnobody\t1\t\n")
	run("hunter4secret9").refused(t, 3, "nobody")
	files := 0
	for _, top := range []string{"out", "set.log", "set.prom"} {
		check := func(path string, entry os.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			files++
			if i := strings.Index(read(t, path), "hunter"); i >= 0 {
				t.Errorf("%s: %.80q", path, read(t, path)[i:])
			}
			return nil
		}
		if err := filepath.WalkDir(at(top), check); err != nil {
			t.Error(err)
		}
	}
	record := read(t, filepath.Join(f.dir, "out/set/current/version.json"))
	if files < 20 || !strings.Contains(record, `sample_id != \"${oc.env:TOKEN}\" (sha256 `) {
		t.Errorf("%d files, got %s", files, record)
	}
}

// links counts the names of a file.
func links(info os.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Nlink) }
