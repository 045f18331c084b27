package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"tcbuild/internal/rebuild"
)

// Runs the jobs of a chain in order. They make the same dataset as one process.
func TestSteps(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 150)
	s := newFakeSLURM(t)
	o := s.rebuild(t, f.dir, "--slurm", "--array", "3", "--log-file", "set.log", "--metrics-file", "set.prom")
	if log := read(t, filepath.Join(f.dir, "set.log")); !strings.Contains(log, "submitted  job=finalize id=4 ") {
		t.Errorf("got log %s", log)
	}
	if metrics := read(t, filepath.Join(f.dir, "set.prom")); !strings.Contains(metrics, `last_exit_code{dataset="set"} 0`) || !strings.Contains(metrics, `last_success_timestamp_seconds{dataset="set"} 0`) {
		t.Errorf("got metrics %s", metrics)
	}
	if o.code != 0 || o.stdout != "incidence 1\nshards 2\nverify 3\nfinalize 4\n" {
		t.Fatalf("got %d, %q, %s", o.code, o.stdout, o.stderr)
	}
	s.succeed(t, f.dir, 1)
	for _, task := range []string{"2", "0"} {
		s.run(t, f.dir, 2, task, "SLURM_TMPDIR="+t.TempDir(), "SLURM_CPUS_PER_TASK=1")
	}
	o = must(t, f.dir, "status", "out/set")
	if strings.Count(o.stdout, ": 2 shards done, 0 running, 1 waiting\n") != 2 || !strings.Contains(o.stderr, "WARN SLURM cannot be asked") {
		t.Errorf("got %s %s", o.stdout, o.stderr)
	}
	status := func(want ...string) {
		t.Helper()
		o := s.execute(t, f.dir, "status", "out/set")
		for _, text := range want {
			if !regexp.MustCompile(`(?m)` + text).MatchString(o.stdout) {
				t.Errorf("got %s, want %q in it", o.stdout, text)
			}
		}
	}
	writeFiles(t, s.dir, map[string]string{"queue/3": "PENDING\tPartitionTimeLimit\tann\t1234\n"})
	status(`^000001-\w{8}  verify    3  PENDING  ann +PartitionTimeLimit$`, `^000001-\w{8}  finalize  4  PENDING  .*  None$`)
	s.run(t, f.dir, 4, "", "SLURM_JOB_ID=4").refused(t, 1, "the dataset is not complete, its jobs have not built shard-00001-of-00003")
	status(`^000001-\w{8}  failed in the job finalize with exit code 1, see .*/slurm/000001-\w{8}/finalize-4\.log$`, `^  .*the dataset is not complete`)
	s.run(t, f.dir, 3, "0").refused(t, 1, "the dataset is not complete")
	nothing(t, filepath.Join(f.dir, "out/set/current"))
	// a job that ended otherwise than by its program, has the last word in its log
	chains, _ := filepath.Glob(filepath.Join(f.dir, "out/set/slurm/*"))
	if err := os.Remove(filepath.Join(chains[0], "failed.json")); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, chains[0], map[string]string{"shards-2_1.log": "once\nslurmstepd: error: Detected 1 oom_kill event in StepId=2.batch\n"})
	status(`^000001-\w{8}  ended, see .*/shards-2_1\.log$`, `^  slurmstepd: error: Detected 1 oom_kill`)

	// what is missing is completed when the chain is submitted again
	if o := s.rebuild(t, f.dir, "--slurm", "--array", "3"); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	s.succeed(t, f.dir, 5, 6)
	s.run(t, f.dir, 7, "0")
	status(`/indices: 50 samples verified$`)
	s.succeed(t, f.dir, 7, 8)
	for _, mode := range []string{"indices", "full-masks"} {
		must(t, f.dir, f.dataset(mode, "zstd", mode, "--shards", "3")...)
		sameData(t, dataOf(t, filepath.Join(f.dir, "out/set/current", mode)), dataOf(t, filepath.Join(f.dir, mode)))
	}
	must(t, f.dir, rebuildOf("--root", "alone")...)
	for _, variant := range allVariants {
		name := "verify-" + variant + ".json"
		sameReport(t, filepath.Join(f.dir, "out/set/current", name), filepath.Join(f.dir, "alone/set/current", name))
	}
	if o := s.rebuild(t, f.dir, "--slurm", "--array", "3"); o.code != 0 || !strings.Contains(o.stdout, "nothing to do") {
		t.Errorf("again: got %d, %s %s", o.code, o.stdout, o.stderr)
	}
	// how a dataset is cut and who builds it is not what it is
	for _, more := range [][]string{{"shards=0"}, {"shards=5"}} {
		if o := s.rebuild(t, f.dir, more...); o.code != 0 || !strings.Contains(o.stdout, "nothing to do, version 000001-") {
			t.Errorf("%v: got %d, %s %s", more, o.code, o.stdout, o.stderr)
		}
	}
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

// Whatever changes between the submission and the last job: the jobs run what was submitted, or
// fail, and current is never of anything else. Tasks read no input.
func TestSubmittedIsRun(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 150)
	submit := func(t *testing.T, dir string) fakeSLURM {
		s := newFakeSLURM(t)
		if o := s.rebuild(t, dir, "--slurm", "--array", "2"); o.code != 0 {
			t.Fatalf("got %d, %s", o.code, o.stderr)
		}
		return s
	}
	copied := func(t *testing.T) string {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(f.dir)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for before, label := range rebuild.JobLabels {
		for what, change := range map[string]struct {
			change  func(t *testing.T, dir string)
			byTasks bool // noticed by tasks, too
			want    string
		}{
			"perturbations": {func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "sets.tsv"), "last\tY000\t0.5\t\n") }, false, "input sets.tsv changed"},
			"table of the graph": {func(t *testing.T, dir string) {
				if err := os.Remove(filepath.Join(dir, "graph/edges/reaction__rmr__metabolite.arrow")); err != nil {
					t.Fatal(err)
				}
			}, false, "reaction__rmr__metabolite.arrow"},
			"program": {func(t *testing.T, dir string) {
				chains, err := filepath.Glob(filepath.Join(dir, "out/set/slurm/*/plan.json"))
				if err != nil || len(chains) != 1 {
					t.Fatal(chains, err)
				}
				writeFiles(t, dir, map[string]string{strings.TrimPrefix(chains[0], dir+"/"): regexp.MustCompile(`"program": "`).ReplaceAllString(read(t, chains[0]), `"program": "older `)})
			}, true, "the program was older "},
		} {
			t.Run(what+" before "+label, func(t *testing.T) {
				dir := copied(t)
				s := submit(t, dir)
				for id := 1; id <= before; id++ {
					s.succeed(t, dir, id)
				}
				change.change(t, dir)
				for id := before + 1; id <= 4; id++ { // even those that SLURM would not start
					o, isTask := s.run(t, dir, id, ""), id == 2 || id == 3
					if fails := !isTask || change.byTasks || before == 0; fails != (o.code != 0) ||
						!isTask && !strings.Contains(o.stderr, change.want) {
						t.Errorf("job %d: got %d, %s", id, o.code, o.stderr)
					}
				}
				nothing(t, filepath.Join(dir, "out/set/current"))
			})
		}
	}
}

// A task compares all that it takes from the first job with its digests.
func TestTasksCheckWhatTheyRead(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	s := newFakeSLURM(t)
	if o := s.rebuild(t, f.dir, "--slurm", "--array", "2"); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	s.succeed(t, f.dir, 1)
	for _, name := range []string{"incidence.positions", "incidence.arrow", "samples/part-00000.arrow", "graph/edges/gene__physical__gene.arrow"} {
		found, err := filepath.Glob(filepath.Join(f.dir, "out/set/.build-*/incidence", name))
		if err != nil || len(found) != 1 {
			t.Fatal(name, found, err)
		}
		whole := read(t, found[0])
		damaged := []byte(whole)
		damaged[len(damaged)/2] ^= 1
		if err := os.WriteFile(found[0], damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		s.run(t, f.dir, 2, "0").refused(t, 4, name)
		if err := os.WriteFile(found[0], []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.succeed(t, f.dir, 2, 3, 4)
}
