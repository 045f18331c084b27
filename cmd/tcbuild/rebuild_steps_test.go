package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"tcbuild/internal/rebuild"
)

// step returns the arguments for one step of rebuilding out/set; part is like 3/4, or "" without
// parts.
func step(kind rebuild.StepKind, part string, more ...string) []string {
	args := rebuildOf("--step", string(kind))
	if part != "" {
		args = with(args, "--part", part)
	}
	return with(args, more...)
}

// steps runs the steps in order, with all their parts. It fails the test if one fails.
func (f fixture) steps(t *testing.T, parts int, kinds ...rebuild.StepKind) {
	t.Helper()
	for _, kind := range kinds {
		switch {
		case kind == rebuild.Prepare:
			must(t, f.dir, step(kind, "", "--parts", fmt.Sprint(parts))...)
		case !kind.HasParts():
			must(t, f.dir, step(kind, "")...)
		default:
			for i := range parts {
				must(t, f.dir, step(kind, fmt.Sprintf("%d/%d", i+1, parts))...)
			}
		}
	}
}

// Steps make the same dataset as one process, whatever the order of their parts. Errors name the
// missing parts.
func TestSteps(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 150)
	execute(t, f.dir, step(rebuild.Build, "1/3")...).refused(t, 75, "found no plan")
	f.steps(t, 3, rebuild.Prepare)
	f.steps(t, 3, rebuild.Prepare) // changes nothing
	for _, part := range []string{"3/3", "1/3", "3/3"} {
		must(t, f.dir, step(rebuild.Build, part)...)
	}
	o := execute(t, f.dir, step(rebuild.Publish, "")...)
	o.refused(t, 1, "indices: 1 of 3 parts is not built: 2")
	o.hints(t, "--step build --part 2/3")
	execute(t, f.dir, step(rebuild.Verify, "1/3")...).
		refused(t, 1, "indices: 1 of 3 parts is not built: 2")
	nothing(t, filepath.Join(f.dir, "out/set/current"))
	must(t, f.dir, step(rebuild.Build, "2/3")...)
	must(t, f.dir, step(rebuild.Verify, "2/3")...)
	o = execute(t, f.dir, step(rebuild.Publish, "")...)
	o.refused(t, 1, "incidence: 1 of 3 parts is not verified: 3")
	o.hints(t, "--step verify --part 3/3")
	f.steps(t, 3, rebuild.Verify, rebuild.Publish)

	for _, mode := range []string{"indices", "full-masks"} {
		must(t, f.dir, f.dataset(mode, "zstd", mode, "--shards", "3")...)
		current := filepath.Join(f.dir, "out/set/current", mode)
		sameData(t, dataOf(t, current), dataOf(t, filepath.Join(f.dir, mode)))
	}
	must(t, f.dir, rebuildOf("--root", "alone")...)
	for _, variant := range allVariants {
		report := "set/current/verify-" + variant + ".json"
		sameReport(t, filepath.Join(f.dir, "out", report), filepath.Join(f.dir, "alone", report))
	}
	// all steps find their work done; the number of parts or shards does not change the dataset
	f.steps(t, 3, rebuild.Build, rebuild.Verify, rebuild.Publish)
	f.steps(t, 3, rebuild.Prepare, rebuild.Build, rebuild.Verify, rebuild.Publish)
	for _, args := range [][]string{
		step(rebuild.Prepare, "", "--parts", "5"),
		rebuildOf("shards=5"),
	} {
		must(t, f.dir, args...).prints(t, 0, "nothing to do, version 000001-")
	}
	f.steps(t, 5, rebuild.Build, rebuild.Verify, rebuild.Publish)
	if _, versions, _ := rebuild.Folders(filepath.Join(f.dir, "out/set")); len(versions) != 1 {
		t.Errorf("got %v", versions)
	}
	must(t, f.dir, "status", "out")
}

// After prepare with --force, the steps complete its plan, with and without --force of their own.
func TestForcedSteps(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 400, 30)
	must(t, f.dir, rebuildOf()...)
	for i, more := range [][]string{{"--force"}, nil} {
		must(t, f.dir, step(rebuild.Prepare, "", "--parts", "2", "--force")...)
		for _, args := range [][]string{
			step(rebuild.Build, "1/2"), step(rebuild.Build, "2/2"),
			step(rebuild.Verify, "1/2"), step(rebuild.Verify, "2/2"),
			step(rebuild.Publish, ""),
		} {
			must(t, f.dir, with(args, more...)...)
		}
		if n := f.versionsOf(t); n != 2+i {
			t.Errorf("got %d versions, want %d", n, 2+i)
		}
		must(t, f.dir, "verify", "out/set/current/full-masks")
	}
	must(t, f.dir, "status", "out/set")
}

// sameReport compares two reports but for what differs from run to run.
func sameReport(t *testing.T, a, b string) {
	t.Helper()
	var reports [2]map[string]any
	for i, path := range []string{a, b} {
		if err := json.Unmarshal([]byte(read(t, path)), &reports[i]); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"dataset", "seconds", "samples_per_second"} {
			delete(reports[i], key)
		}
	}
	if !reflect.DeepEqual(reports[0], reports[1]) {
		t.Errorf("got %v and %v", reports[0], reports[1])
	}
}

// All parts may run at once, each twice.
func TestPartsAtOnce(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 150)
	const parts = 4
	f.steps(t, parts, rebuild.Prepare)
	for _, kind := range []rebuild.StepKind{rebuild.Build, rebuild.Verify} {
		var running []*exec.Cmd
		for i := range 2 * parts {
			part := fmt.Sprintf("%d/%d", i%parts+1, parts)
			running = append(running, begin(t, f.dir, step(kind, part)...))
		}
		for _, cmd := range running {
			if o := finish(t, cmd); o.code != 0 {
				t.Errorf("%s: got %d, %s", kind, o.code, o.stderr)
			}
		}
	}
	f.steps(t, parts, rebuild.Publish)
	must(t, f.dir, "verify", "out/set/current/full-masks", "--graph", "graph")
	must(t, f.dir, "status", "out/set")
}

// If anything changes after prepare, the steps exit with 75 and leave current alone.
func TestStepsOfAnotherPlan(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	for what, c := range map[string]struct {
		change func(t *testing.T, dir string)
		more   []string // settings of the steps after prepare
		want   string
	}{
		"perturbations": {change: func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "sets.tsv"), "last\tY000\t0.5\t\n")
		}, want: "input sets.tsv changed"},
		"perturbations of the same size and time": {change: func(t *testing.T, dir string) {
			path := filepath.Join(dir, "sets.tsv")
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			text := []byte(read(t, path))
			text[len(text)-3]++ // a digit of the last phenotype
			err = errors.Join(os.WriteFile(path, text, 0o644),
				os.Chtimes(path, info.ModTime(), info.ModTime()))
			if err != nil {
				t.Fatal(err)
			}
		}, want: "input sets.tsv changed"},
		"no perturbations": {change: func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "sets.tsv")); err != nil {
				t.Fatal(err)
			}
		}, want: "sets.tsv"},
		"a table less": {change: func(t *testing.T, dir string) {
			table := filepath.Join(dir, "graph/edges/reaction__rmr__metabolite.arrow")
			if err := os.Remove(table); err != nil {
				t.Fatal(err)
			}
		}, want: "reaction__rmr__metabolite.arrow"},
		"settings": {more: []string{"reaction_rule=gpr"}, want: `reaction_rule was "all", is "gpr"`},
		"variants": {more: []string{"variants=[indices]"}, want: "the stages changed"},
		"program": {change: func(t *testing.T, dir string) {
			plan := read(t, filepath.Join(dir, "out/set/plan.json"))
			identities := regexp.MustCompile(`("(?:program|fingerprint)": ")`)
			plan = identities.ReplaceAllString(plan, "${1}0")
			writeFiles(t, dir, map[string]string{"out/set/plan.json": plan})
		}, want: "the program was 0"},
		"another prepare": {change: func(t *testing.T, dir string) {
			must(t, dir, step(rebuild.Prepare, "", "--parts", "3")...)
		}, want: ""},
		"another rebuild": {change: func(t *testing.T, dir string) {
			must(t, dir, rebuildOf("allow_wildtype=true", "variants=[incidence]")...)
		}, want: "superseded by another run"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(f.dir)); err != nil {
				t.Fatal(err)
			}
			must(t, dir, step(rebuild.Prepare, "", "--parts", "2")...)
			must(t, dir, step(rebuild.Build, "1/2")...)
			if c.change != nil {
				c.change(t, dir)
			}
			before, _ := os.Readlink(filepath.Join(dir, "out/set/current"))
			for _, args := range [][]string{
				step(rebuild.Build, "1/2"),
				step(rebuild.Build, "2/2"),
				step(rebuild.Verify, "1/2"),
			} {
				o := execute(t, dir, with(args, c.more...)...)
				o.refused(t, 75, c.want)
				o.hints(t, "--step prepare")
			}
			if o := execute(t, dir, with(step(rebuild.Publish, ""), c.more...)...); o.code == 0 {
				t.Errorf("publish: got %s", o.stdout)
			}
			if now, _ := os.Readlink(filepath.Join(dir, "out/set/current")); now != before {
				t.Errorf("current was %q, is %q", before, now)
			}
		})
	}
	// a new time alone is no change
	f.steps(t, 2, rebuild.Prepare)
	rewrite(t, filepath.Join(f.dir, "sets.tsv"), "")
	f.steps(t, 2, rebuild.Build, rebuild.Verify, rebuild.Publish)
}

// While a part runs, another prepare, publish or rebuild is refused.
func TestNothingReplacesAPart(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 190_000, 530)
	f.steps(t, 2, rebuild.Prepare)
	plan := read(t, filepath.Join(f.dir, "out/set/plan.json"))
	part := f.beginStopped(t, 1, "out/set/.build-*/indices.building/.build/.shard-*/*/data.mdb",
		step(rebuild.Build, "1/2")...)
	for _, args := range [][]string{
		step(rebuild.Prepare, "", "--parts", "2", "reaction_rule=gpr"),
		step(rebuild.Publish, ""),
		step(rebuild.Publish, "", "--if-busy", "ok"),
		rebuildOf(),
	} {
		execute(t, f.dir, args...).refused(t, 75, "another rebuild of it is running")
	}
	if o := must(t, f.dir, rebuildOf("--if-busy", "ok", "--quiet")...); o.stdout+o.stderr != "" {
		t.Errorf("got %s%s", o.stdout, o.stderr)
	}
	must(t, f.dir, rebuildOf("--if-busy", "ok")...).prints(t, 0, "another rebuild of it is running")
	must(t, f.dir, step(rebuild.Build, "2/2")...)
	must(t, f.dir, "status", "out/set").prints(t, 0, "build 1/2 on ")
	if read(t, filepath.Join(f.dir, "out/set/plan.json")) != plan {
		t.Error("the plan was replaced")
	}
	send(t, part, syscall.SIGKILL, syscall.SIGCONT)
	finish(t, part)
	execute(t, f.dir, "status", "out/set").
		prints(t, 4, "PROBLEM   build 1/2 (process ", " was killed, or its machine was lost")
	f.steps(t, 2, rebuild.Build, rebuild.Verify, rebuild.Publish)
	must(t, f.dir, "status", "out/set")
	if left := glob(t, f.dir, "out/set/.[bt]*"); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
}

// Steps that were killed, at any moment, succeed when run again. A run in one process may complete
// what parts have begun.
func TestKilledParts(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 20_000, 1500)
	for round, moment := range []struct {
		kind    rebuild.StepKind
		pattern string
	}{
		{rebuild.Prepare, "incidence.building/.build/plan.json"},
		{rebuild.Prepare, "incidence/manifest.json"},
		{rebuild.Build, "indices.building/.build/plan.json"},
		{rebuild.Build, "indices.building/.build/.shard-*/*/data.mdb"},
		{rebuild.Build, "indices.building/shard-*/data.mdb"},
		{rebuild.Build, "full-masks.building/samples/_checksums"},
		{rebuild.Verify, "verify-incidence/*.json"},
		{rebuild.Verify, "verify-full-masks/*.json"},
		{rebuild.Publish, "verify-indices.json"},
	} {
		more := fmt.Sprintf("more%d\tY%03d\t0\t\n", round, round)
		rewrite(t, filepath.Join(f.dir, "sets.tsv"), more)
		for _, kind := range []rebuild.StepKind{
			rebuild.Prepare, rebuild.Build, rebuild.Verify, rebuild.Publish,
		} {
			if kind == moment.kind {
				args := step(kind, "")
				if kind.HasParts() {
					args = step(kind, "2/3")
				} else if kind == rebuild.Prepare {
					args = with(args, "--parts", "3")
				}
				cmd := program(t, "main", args...)
				cmd.Dir = f.dir
				cmd.Env = append(cmd.Env, stopVariable+"=1 out/set/.build-*/"+moment.pattern)
				start(t, cmd)
				eventually(t, "a stop, or the end", func() bool {
					return isIn(cmd.Process.Pid, "T") || isIn(cmd.Process.Pid, "Z")
				})
				kill(t, cmd)
			}
			if kind == rebuild.Verify && round%3 == 2 {
				must(t, f.dir, rebuildOf()...)
			}
			f.steps(t, 3, kind)
		}
		must(t, f.dir, "status", "out/set")
		for _, variant := range allVariants {
			must(t, f.dir, "verify", "out/set/current/"+variant, "--method", "edges")
		}
		current := filepath.Join(f.dir, "out/set/current/indices")
		if m := manifestOf(t, current); m.Samples != 1501+round {
			t.Errorf("got %d samples", m.Samples)
		}
		if left := glob(t, f.dir, "out/set/.[bt]*"); len(left) > 0 {
			t.Errorf("%v was left behind", left)
		}
	}
}

// A part that finds damage exits with 4, and so does every later step, until prepare starts again.
func TestDamagedPart(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	damage := func(pattern string) {
		t.Helper()
		found := glob(t, f.dir, "out/set/.build-*/"+pattern)
		if len(found) != 1 {
			t.Fatal(pattern, found)
		}
		text := read(t, found[0])
		text = flipped(text, len(text)/2)
		if err := os.WriteFile(found[0], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// parts check all files that they read from prepare
	for _, name := range []string{
		"incidence.positions", "incidence.arrow", "samples/part-00000.arrow",
		"graph/edges/gene__physical__gene.arrow",
	} {
		f.steps(t, 2, rebuild.Prepare)
		damage("incidence/" + name)
		execute(t, f.dir, step(rebuild.Build, "1/2")...).refused(t, 4, name)
		for _, args := range [][]string{
			step(rebuild.Build, "2/2"),
			step(rebuild.Verify, "1/2"),
			step(rebuild.Publish, ""),
		} {
			o := execute(t, f.dir, args...)
			o.refused(t, 4, name)
			o.hints(t, "--step prepare")
		}
	}
	f.steps(t, 2, rebuild.Prepare, rebuild.Build)
	damage("indices/shard-00001-of-00002/data.mdb")
	must(t, f.dir, step(rebuild.Verify, "1/2")...)
	execute(t, f.dir, step(rebuild.Verify, "2/2")...).refused(t, 4, "indices")
	execute(t, f.dir, step(rebuild.Publish, "")...).refused(t, 4, "indices")
	execute(t, f.dir, "status", "out").prints(t, 4, "failed    verify 2/2 with 4: ")
	nothing(t, filepath.Join(f.dir, "out/set/current"))
	f.steps(t, 2, rebuild.Prepare, rebuild.Build, rebuild.Verify, rebuild.Publish)
	must(t, f.dir, "status", "out")
}

func TestBadPartFlags(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	const together = "expected --part I/N with build and verify, and only with them"
	for _, c := range []struct {
		args []string
		want string
	}{
		{step("shards", ""), "read --step: "},
		{step(rebuild.Build, ""), together},
		{step(rebuild.Publish, "1/2"), together},
		{rebuildOf("--part", "1/2"), together},
		{step(rebuild.Build, "0/2"), `read --part: found "0/2", expected I/N with 1 <= I <= N`},
		{step(rebuild.Build, "3/2"), `read --part: found "3/2"`},
		{step(rebuild.Build, "1"), `read --part: found "1"`},
		{step(rebuild.Prepare, "", "--parts", "0"), "parts"},
		{
			step(rebuild.Prepare, "", "--parts", "21"),
			"found 21 parts, expected at most 20, one per sample",
		},
	} {
		execute(t, f.dir, c.args...).refused(t, 2, c.want)
	}
	f.steps(t, 20, rebuild.Prepare)
}

// The plan belongs to the user who prepared it.
func TestPartsOfAnotherUser(t *testing.T) {
	t.Parallel()
	f := newGroupFixture(t)
	run := func(user int, args string) outcome {
		t.Helper()
		return finish(t, start(t, f.as(t, user, "022", strings.Fields(args)...)))
	}
	recorded := func(o outcome, want ...string) {
		t.Helper()
		o.prints(t, 0, want...)
		if strings.Contains(o.stderr, "WARN not recorded") {
			t.Errorf("got stderr:\n%s", o.stderr)
		}
	}
	run(alice, "--step prepare --parts 2").prints(t, 0)
	run(bob, "--step build --part 1/2").
		refused(t, 75, fmt.Sprintf("the plan belongs to %d", alice))
	recorded(run(alice, "--step build --part 1/2"))
	recorded(run(alice, "--step build --part 2/2"))
	recorded(run(alice, "--step verify --part 1/2"))
	recorded(run(alice, "--step verify --part 2/2"))
	recorded(run(alice, "--step publish"))
	recorded(run(bob, ""), "nothing to do")
	run(bob, "--step prepare allow_wildtype=true").prints(t, 0)
}
