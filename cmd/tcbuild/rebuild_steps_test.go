package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/testrun"
)

// steps runs the steps in order, with all their parts and more arguments. They must succeed.
func (f fixture) steps(t *testing.T, parts int, kinds string, more ...string) {
	t.Helper()
	for kind := range strings.FieldsSeq(kinds) {
		if kind == "key" || kind == "publish" {
			must(t, f.dir, rebuildStep(kind, with(more, "--parts", fmt.Sprint(parts))...)...)
			continue
		}
		for i := range parts {
			part := fmt.Sprintf("%d/%d", i+1, parts)
			must(t, f.dir, rebuildStep(kind, with(more, "--part", part)...)...)
		}
	}
}

// Steps make the same dataset as one process, whatever the order of their parts, and skip what is
// done. Errors name the missing parts.
func TestSteps(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 150)
	key := strings.TrimSpace(must(t, f.dir, rebuildStep("key", "--parts", "3")...).stdout)
	step := func(kind, part string) []string {
		return rebuildStep(kind, "--part", part, "--key", key)
	}
	publish := rebuildStep("publish", "--parts", "3", "--key", key)
	for _, part := range []string{"3/3", "1/3", "3/3"} {
		must(t, f.dir, step("build", part)...).prints(t, 0, `"samples": 150`, `"variants": 3`)
	}
	execute(t, f.dir, publish...).refused(t, 1, "3 of 3 parts that are not verified: 1, 2, 3")
	o := execute(t, f.dir, step("verify", "1/3")...)
	o.refused(t, 1, "indices: found 1 of 3 parts that are not built: 2")
	o.hints(t, "tcbuild rebuild build --part 2/3")
	must(t, f.dir, step("build", "2/3")...)
	must(t, f.dir, step("verify", "2/3")...)
	must(t, f.dir, step("verify", "1/3")...)
	execute(t, f.dir, publish...).refused(t, 1, "1 of 3 parts that are not verified: 3")
	nothing(t, f.set("current"))
	must(t, f.dir, step("verify", "3/3")...)
	must(t, f.dir, publish...)
	if f.current(t) != key || f.versions(t) != 1 {
		t.Errorf("got %s, %d versions", f.current(t), f.versions(t))
	}
	must(t, f.dir, "status", "out")

	must(t, f.dir, rebuildOf("--root", "alone")...)
	alone := filepath.Join(f.dir, "alone/set/current")
	sameData(t, dataOf(t, f.set("current/incidence")), dataOf(t, filepath.Join(alone, "incidence")))
	for _, variant := range allVariants {
		if variant != "incidence" {
			must(t, f.dir, f.dataset(variant, "zstd", variant, "--shards", "3")...)
			sameData(t, dataOf(t, f.set("current", variant)), dataOf(t, filepath.Join(f.dir, variant)))
		}
		report := "verify-" + variant + ".json"
		sameReport(t, f.set("current", report), filepath.Join(alone, report))
	}
	// whatever the number of parts, nothing is left to do
	f.steps(t, 5, "key build verify publish")
	must(t, f.dir, aloud(rebuildOf())...).prints(t, 0, "nothing to do")
	// a version without the incidence variant
	f.steps(t, 2, "build verify publish", "variants=[indices,full-masks]")
	f.current(t)
	if n := f.versions(t); n != 2 {
		t.Errorf("got %d versions", n)
	}
}

// sameReport compares two reports but for what differs from run to run. Their times are those that
// verification took.
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
	for _, kind := range []string{"build", "verify"} {
		var running []*exec.Cmd
		for i := range 8 {
			part := fmt.Sprintf("%d/4", i%4+1)
			running = append(running, begin(t, f.dir, rebuildStep(kind, "--part", part)...))
		}
		for _, cmd := range running {
			if o := finish(t, cmd); o.code != 0 {
				t.Errorf("%s: got %d, %s", kind, o.code, o.stderr)
			}
		}
	}
	f.steps(t, 4, "publish")
	f.current(t)
	must(t, f.dir, "status", "out")
}

// If anything changes after the key was found, steps exit with 75, say what, and leave current
// alone. The same workflow with the new key succeeds, and so does the old one afterwards.
func TestStepsOfAnotherKey(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	must(t, f.dir, rebuildOf()...)
	before := f.current(t)
	sets := filepath.Join(f.dir, "sets.tsv")
	text := read(t, sets)
	flipDigit := func() {
		info, err := os.Stat(sets)
		changed := []byte(read(t, sets))
		changed[len(changed)-3]++ // of the last phenotype
		if err = errors.Join(err, os.WriteFile(sets, changed, 0o644),
			os.Chtimes(sets, info.ModTime(), info.ModTime())); err != nil {
			t.Fatal(err)
		}
	}
	for what, c := range map[string]struct {
		change func()
		more   []string // settings of the steps
		want   string
	}{
		"input":    {func() { rewrite(t, sets, "last\tY000\t0.5\t\n") }, nil, "input sets.tsv was "},
		"size":     {flipDigit, nil, "input sets.tsv was "},
		"settings": {nil, []string{"method=edges"}, `method was "both", is "edges"`},
		"variants": {nil, []string{"variants=[indices]"}, "variants was ["},
	} {
		old := text
		rewrite(t, sets, fmt.Sprintf("%s\tY001\t0.5\t\n", what)) // something to build
		key := strings.TrimSpace(must(t, f.dir, rebuildStep("key", "--parts", "2")...).stdout)
		must(t, f.dir, rebuildStep("build", "--part", "1/2", "--key", key)...)
		if c.change != nil {
			c.change()
		}
		for _, args := range [][]string{
			rebuildStep("build", "--part", "2/2"), rebuildStep("verify", "--part", "1/2"),
			rebuildStep("publish", "--parts", "2"),
		} {
			execute(t, f.dir, with(with(args, "--key", key), c.more...)...).refused(t, 75, c.want)
		}
		if f.current(t) != before {
			t.Errorf("%s: current has moved", what)
		}
		f.steps(t, 2, "key build verify publish", c.more...)
		writeFiles(t, f.dir, map[string]string{"sets.tsv": old})
		f.steps(t, 2, "key build verify publish") // which has only to publish
		if f.current(t) != before {
			t.Errorf("%s: the version before is not current again", what)
		}
		must(t, f.dir, "status", "out")
	}
}

// Publish reads all inputs: it does not trust times, which parts do.
func TestPublishReadsInputs(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 200, 20)
	time.Sleep(2100 * time.Millisecond) // so that digests are kept
	key := strings.TrimSpace(must(t, f.dir, rebuildStep("key")...).stdout)
	f.steps(t, 1, "build verify", "--key", key)
	known := strings.Replace(read(t, f.set("digests.json")), `"sha256": "`, `"sha256": "0`, 1)
	writeFiles(t, f.dir, map[string]string{"out/set/digests.json": known})
	execute(t, f.dir, rebuildStep("verify", "--part", "1/1", "--key", key)...).
		refused(t, 75, "the key is another one")
	f.steps(t, 1, "publish", "--key", key)
	f.current(t)
}

// A part that finds damage ends the version: the workflow starts again, and succeeds.
func TestDamagedPart(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	for _, name := range []string{
		"incidence/incidence.positions", "incidence/samples/part-00000.arrow",
		"incidence/graph/edges/gene__physical__gene.arrow",
	} {
		must(t, f.dir, rebuildStep("build", "--part", "1/2")...)
		f.damage(t, ".", ".build-*/"+name)
		execute(t, f.dir, rebuildStep("build", "--part", "2/2")...).
			refused(t, 4, filepath.Base(name))
		if left := glob(t, f.set(), ".build-*"); len(left) > 0 {
			t.Fatalf("%v stays", left)
		}
	}
	f.steps(t, 2, "build")
	f.damage(t, ".", ".build-*/indices/shard-00001-of-00002/data.mdb")
	must(t, f.dir, rebuildStep("verify", "--part", "1/2")...)
	execute(t, f.dir, rebuildStep("verify", "--part", "2/2")...).refused(t, 4, "indices")
	execute(t, f.dir, rebuildStep("publish", "--parts", "2")...).refused(t, 1, "not been built")
	nothing(t, f.set("current"))
	// damage after verification
	f.steps(t, 2, "build verify")
	f.damage(t, ".", ".build-*/indices/shard-00001-of-00002/data.mdb")
	execute(t, f.dir, rebuildStep("publish", "--parts", "2")...).refused(t, 4, "data.mdb")
	nothing(t, f.set("current"))
	f.steps(t, 2, "build verify publish")
	f.current(t)
	must(t, f.dir, "status", "out")
}

// Whatever is lost, current, versions or unfinished ones, the workflow makes it again.
func TestLostFolders(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	f.steps(t, 2, "key build verify publish")
	first := f.current(t)
	for _, lost := range []string{"current", first, "state.json", "digests.json", "."} {
		if err := os.RemoveAll(f.set(lost)); err != nil {
			t.Fatal(err)
		}
		f.steps(t, 2, "key build verify publish")
		if f.current(t) != first {
			t.Errorf("%s: got version %s", lost, f.current(t))
		}
	}
	f.steps(t, 2, "key build", "method=edges")
	if err := os.RemoveAll(glob(t, f.set(), ".build-*")[0]); err != nil {
		t.Fatal(err)
	}
	f.steps(t, 2, "key build verify publish", "method=edges")
	f.current(t)
}

// Runs and steps that were killed, at any moment, succeed when they are run again; current names a
// complete version all the time.
func TestKilledRebuilds(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f, r := newFixture(t, 20_000, 1500), seed.Rand(t)
	begun := time.Now()
	must(t, f.dir, rebuildOf()...)
	took := time.Since(begun)
	sets := filepath.Join(f.dir, "sets.tsv")
	for round := range testrun.Cases(24, 6) {
		rewrite(t, sets, fmt.Sprintf("more%d\tY%03d\t0\t\n", round, round))
		kinds := [][]string{rebuildOf()}
		if round%2 == 1 {
			kinds = [][]string{
				rebuildStep("build", "--part", "1/2"), rebuildStep("build", "--part", "2/2"),
				rebuildStep("verify", "--part", "2/2"), rebuildStep("verify", "--part", "1/2"),
				rebuildStep("publish", "--parts", "2"),
			}
		}
		if round%3 == 2 {
			kinds = append(kinds, rebuildOf("--force"))
		}
		for _, args := range kinds {
			cmd := begin(t, f.dir, args...)
			time.Sleep(time.Duration(r.Int64N(int64(took))))
			kill(t, cmd)
			f.current(t)
			must(t, f.dir, args...)
		}
		f.current(t)
		must(t, f.dir, "status", "out")
		if m := manifestOf(t, f.set("current/indices")); m.Samples != 1501+round {
			t.Errorf("got %d samples", m.Samples)
		}
	}
	must(t, f.dir, rebuildOf()...)
	f.versions(t)
}

// A run, and the publishing step of parts, are killed at each system call by which they publish.
// current names a complete version all the time, and the same command completes what was begun.
func TestKilledAtEachCall(t *testing.T) {
	skipShort(t)
	t.Parallel()
	testrun.NeedPrograms(t, "strace")
	f := newFixture(t, 200, 20)
	must(t, f.dir, rebuildOf("variants=[incidence]")...)
	sets := filepath.Join(f.dir, "sets.tsv")
	// kill reports whether the command did not get as far as the call
	kill := func(call string, number int, args []string) (done bool) {
		t.Helper()
		cmd := program(t, "main", args...)
		inject := fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, number)
		cmd.Args = with([]string{"strace", "-f", "-o", "/dev/null", "-e", inject, cmd.Path},
			cmd.Args[1:]...)
		cmd.Path, _ = exec.LookPath("strace")
		cmd.Dir = f.dir
		done = finish(t, start(t, cmd)).code == 0
		f.current(t)
		must(t, f.dir, args...)
		f.current(t)
		must(t, f.dir, "status", "out")
		f.versions(t)
		return done
	}
	for _, call := range []string{"renameat", "renameat2", "symlinkat", "unlinkat", "fsync"} {
		for number, done := 1, false; !done; number++ {
			rewrite(t, sets, fmt.Sprintf("%s%d\tY%03d\t0\t\n", call, number, number))
			kill(call, number, rebuildOf("variants=[incidence]"))
			done = kill(call, number, rebuildOf("variants=[incidence]", "--force"))
		}
		for number, done := 1, false; !done; number++ {
			rewrite(t, sets, fmt.Sprintf("%s%d of parts\tY%03d\t0\t\n", call, number, number))
			f.steps(t, 2, "build verify", "variants=[incidence,indices]")
			done = kill(call, number,
				rebuildStep("publish", "variants=[incidence,indices]", "--parts", "2"))
		}
	}
}
