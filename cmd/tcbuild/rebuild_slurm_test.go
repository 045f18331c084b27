package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tcbuild/internal/rebuild"
	"tcbuild/internal/versions"
)

func TestSlurmDryRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	o := must(t, f.dir, rebuildOf("--slurm-dry-run", "--array", "4%2", "--partition", "cpu", "--gpu-partition", "gpu", "--cpus-per-task", "2",
		"--sbatch=--account=lab", "--sbatch=--qos=long", "--sbatch-shards=--time=1:00:00", "--sbatch-verify=--partition=fast", "--gres", "gpu:a100:1")...)
	scripts := strings.Split(o.stdout, "\n# ")
	if len(scripts) != 5 {
		t.Fatalf("got %s", o.stdout)
	}
	for i, want := range [][]string{
		{"--step incidence", "--job-name=in-set-000001-", "#SBATCH --partition=cpu\n", "#SBATCH --cpus-per-task=2\n", "#SBATCH --requeue\n", "/out/set/slurm/000001-"},
		{"--step shards", "--dependency=afterok:$incidence ", "#SBATCH --array=0-3%2\n", "#SBATCH --signal=B:USR1@120\n", "#SBATCH --time=1:00:00\n", "/shards-%A_%a.log\n"},
		{"--step verify", "--dependency=afterok:$shards ", "#SBATCH --array=0-3%2\n", "#SBATCH --partition=gpu\n#SBATCH --gres=gpu:a100:1\n", "#SBATCH --qos=long\n#SBATCH --partition=fast\n"},
		{"--step finalize", "--dependency=afterok:$verify ", "#SBATCH --partition=cpu\n"},
		{`"device": "cuda"`, `"shards": "4"`, `"root": "` + f.dir + `/out"`},
	} {
		if i < 4 {
			want = append(want, "#SBATCH --account=lab\n", "#SBATCH '--comment=tcbuild ")
		}
		for _, text := range want {
			if text != `"device": "cuda"` && !strings.Contains(scripts[i], text) {
				t.Errorf("script %d: got %s, want %q in it", i, scripts[i], text)
			}
		}
		if i < 4 && (strings.Contains(scripts[i], "--slurm") || strings.Contains(scripts[i], "--time=") != (i == 1) || strings.Contains(scripts[i], "--gres") != (i == 2)) {
			t.Errorf("script %d: got %s", i, scripts[i])
		}
	}
	nothing(t, filepath.Join(f.dir, "out"))

	one := must(t, f.dir, rebuildOf("--slurm-dry-run", "--variants", "incidence")...)
	if strings.Contains(one.stdout, "--step shards") || !strings.Contains(one.stdout, "--dependency=afterok:$incidence verify.sbatch") {
		t.Errorf("got %s", one.stdout)
	}
	execute(t, f.dir, rebuildOf("--step", "shard")...).refused(t, 2, `read --step: found "shard"`)
	execute(t, f.dir, rebuildOf("--step", "shards")...).refused(t, 2, "read the chain of --config")
	for _, array := range []string{"0", "x", "4%", "4%0", "-1"} {
		execute(t, f.dir, rebuildOf("--slurm", "--array="+array)...).refused(t, 2, "read --array: found")
	}
}

// fakeSLURM takes jobs, and starts none.
type fakeSLURM struct {
	dir         string // N.sbatch and N.args of each job, queue/N while it is in the queue, then ended/N
	environment []string
}

const fakeSqueue = `
[ -z "$SQUEUE_STATES" ] || exit 0
for a; do case $a in --jobs=*) ids=${a#--jobs=};; --states=all) ended=yes;; esac; done
for i in ${ids//,/ }; do
	for f in queue/$i queue/${i}_*; do [ ! -e $f ] || echo ${f#*/} PENDING; done
	[ -z "$ended" -o ! -e ended/$i ] || echo $i COMPLETED
done
`

func newFakeSLURM(t *testing.T) fakeSLURM {
	t.Helper()
	dir := t.TempDir()
	s := fakeSLURM{dir: dir, environment: []string{"PATH=" + dir + "/bin:" + os.Getenv("PATH"),
		"SQUEUE_STATES=RUNNING"}} // no variable hides a chain
	writeFiles(t, dir, map[string]string{
		"bin/sbatch":   "#!/bin/bash\ncd " + dir + "; n=$(ls *.args 2>/dev/null | wc -l); n=$((n + 1)); cat >$n.sbatch; echo \"$*\" >$n.args; touch queue/$n; echo $n\n",
		"bin/squeue":   "#!/bin/bash\ncd " + dir + fakeSqueue,
		"bin/scancel":  "#!/bin/bash\ncd " + dir + "/queue; rm -f \"$@\"\n",
		"bin/scontrol": "#!/bin/bash\necho \"$@\" >>" + dir + "/scontrol\n",
	})
	for _, folder := range []string{"queue", "ended"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sbatch", "squeue", "scancel", "scontrol"} {
		if err := os.Chmod(filepath.Join(dir, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// rebuild runs a command of rebuildOf where this SLURM is.
func (s fakeSLURM) rebuild(t *testing.T, dir string, more ...string) outcome {
	t.Helper()
	cmd := program(t, "main", rebuildOf(more...)...)
	cmd.Dir, cmd.Env = dir, append(cmd.Env, s.environment...)
	return finish(t, start(t, cmd))
}

// run runs a job's script, of an array the given task or, with "", all. Then the job is not in the
// queue any more.
func (s fakeSLURM) run(t *testing.T, dir string, id int, task string, more ...string) (last outcome) {
	t.Helper()
	script := filepath.Join(s.dir, fmt.Sprintf("%d.sbatch", id))
	tasks := []string{task}
	array := regexp.MustCompile(`--array=0-(\d)`).FindStringSubmatch(read(t, script))
	if array != nil && task == "" {
		tasks = nil
		for i := '0'; i <= rune(array[1][0]); i++ {
			tasks = append(tasks, string(i))
		}
	}
	for _, task := range tasks {
		cmd := program(t, "main")
		cmd.Path, cmd.Args, cmd.Dir = "/bin/bash", []string{"bash", script}, dir
		cmd.Env = append(cmd.Env, more...)
		if array != nil {
			count, _ := strconv.Atoi(array[1])
			cmd.Env = append(cmd.Env, "SLURM_ARRAY_TASK_ID="+task, "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_MAX="+array[1],
				fmt.Sprintf("SLURM_ARRAY_TASK_COUNT=%d", count+1))
		}
		if last = finish(t, start(t, cmd)); last.code != 0 {
			break
		}
	}
	os.Rename(filepath.Join(s.dir, "queue", strconv.Itoa(id)), filepath.Join(s.dir, "ended", strconv.Itoa(id)))
	return last
}

// succeed runs jobs that must succeed.
func (s fakeSLURM) succeed(t *testing.T, dir string, ids ...int) {
	t.Helper()
	for _, id := range ids {
		if o := s.run(t, dir, id, ""); o.code != 0 {
			t.Fatalf("job %d: got exit code %d, stderr:\n%s", id, o.code, o.stderr)
		}
	}
}

// The jobs of a chain one after the other. The dataset that they make is that of one process.
func TestSteps(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 150)
	s := newFakeSLURM(t)
	o := s.rebuild(t, f.dir, "--slurm", "--array", "3", "--log-file", "set.log", "--metrics-file", "set.prom")
	if log := read(t, filepath.Join(f.dir, "set.log")); !strings.Contains(log, `submitted  jobs="1 2 3 4"`) {
		t.Errorf("got log %s", log)
	}
	if metrics := read(t, filepath.Join(f.dir, "set.prom")); !strings.Contains(metrics, `last_exit_code{dataset="set"} 0`) || !strings.Contains(metrics, `last_success_timestamp_seconds{dataset="set"} 0`) {
		t.Errorf("got metrics %s", metrics)
	}
	if o.code != 0 || o.stdout != "incidence 1\nshards 2\nverify 3\nfinalize 4\n" {
		t.Fatalf("got %d, %q, %s", o.code, o.stdout, o.stderr)
	}
	if got := read(t, filepath.Join(s.dir, "scontrol")); got != "release 1\n" {
		t.Errorf("got scontrol %q", got)
	}
	s.succeed(t, f.dir, 1)
	for _, task := range []string{"2", "0"} {
		s.run(t, f.dir, 2, task, "SLURM_TMPDIR="+t.TempDir(), "SLURM_CPUS_PER_TASK=1")
	}
	o = must(t, f.dir, "status", "out/set")
	if strings.Count(o.stdout, ": 2 shards done, 0 running, 0 failed, 1 waiting\n") != 2 || !strings.Contains(o.stdout, "\n  verify     3  unknown\n") {
		t.Errorf("got %s", o.stdout)
	}
	chains, _ := filepath.Glob(filepath.Join(f.dir, "out/set/slurm/*"))
	writeFiles(t, chains[0], map[string]string{
		"shards-2_0.log": "tcbuild: interrupted by SIGUSR1\nhint: x\nthis shard is complete\n", "shards-2_1.log": "once\ntcbuild: no space left\nhint: y\n",
	})
	status := func(want ...string) {
		t.Helper()
		cmd := program(t, "main", "status", "out/set")
		cmd.Dir, cmd.Env = f.dir, append(cmd.Env, s.environment...)
		o := finish(t, start(t, cmd))
		for _, text := range want {
			if !strings.Contains(o.stdout, text) {
				t.Errorf("got %s, want %q in it", o.stdout, text)
			}
		}
	}
	status("\n  incidence  1  COMPLETED 1\n", "\n  verify     3  PENDING 3\n", "/shards-2_1.log\n  tcbuild: no space left\n")
	// a task that SLURM starts again has not failed, and a shell may find no program
	writeFiles(t, s.dir, map[string]string{"queue/2_1": "x"})
	lost := "/spool/job00002/slurm_script: line 11: /bin/tcbuild: No such file or directory"
	writeFiles(t, chains[0], map[string]string{"shards-2_2.log": lost + "\n"})
	status(" PENDING 2_1\n", "/shards-2_2.log\n  "+lost+"\n")
	writeFiles(t, chains[0], map[string]string{"shards-2_2.log": "slurmstepd-n1: error: *** JOB 9 ON n1 CANCELLED\n"})
	status("/shards-2_2.log\n  slurmstepd-n1: error: ")
	if err := os.Remove(filepath.Join(s.dir, "queue/2_1")); err != nil {
		t.Fatal(err)
	}
	s.run(t, f.dir, 4, "").refused(t, 1, "the dataset is not complete, its jobs have not built shard-00001-of-00003")
	s.run(t, f.dir, 3, "0").refused(t, 1, "the dataset is not complete")
	nothing(t, filepath.Join(f.dir, "out/set/current"))

	// what is missing is completed when the chain is submitted again
	if o := s.rebuild(t, f.dir, "--slurm", "--array", "3"); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	s.succeed(t, f.dir, 5, 6, 7, 8)
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
	for _, more := range [][]string{{"--shards", "0"}, {"--shards", "5"}} {
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
// fail, and current is never of anything else.
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
			change func(t *testing.T, dir string)
			want   string
		}{
			"perturbations": {func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "sets.tsv"), "last\tY000\t0.5\t\n") }, "input sets.tsv changed"},
			"table of the graph": {func(t *testing.T, dir string) {
				if err := os.Remove(filepath.Join(dir, "graph/edges/reaction__rmr__metabolite.arrow")); err != nil {
					t.Fatal(err)
				}
			}, "reaction__rmr__metabolite.arrow"},
			"program": {func(t *testing.T, dir string) {
				chains, err := filepath.Glob(filepath.Join(dir, "out/set/slurm/*/chain.json"))
				if err != nil || len(chains) != 1 {
					t.Fatal(chains, err)
				}
				writeFiles(t, dir, map[string]string{strings.TrimPrefix(chains[0], dir+"/"): regexp.MustCompile(`"program": "`).ReplaceAllString(read(t, chains[0]), `"program": "older `)})
			}, "the program was older "},
		} {
			t.Run(what+" before "+label, func(t *testing.T) {
				dir := copied(t)
				s := submit(t, dir)
				for id := 1; id <= before; id++ {
					s.succeed(t, dir, id)
				}
				change.change(t, dir)
				for id := before + 1; id <= 4; id++ { // even those that SLURM would not start
					if o := s.run(t, dir, id, ""); o.code == 0 || id == before+1 && !strings.Contains(o.stderr, change.want) {
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

// A chain's settings are resolved when it is submitted.
func TestSettingsAreResolvedAtSubmission(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	writeFiles(t, f.dir, map[string]string{
		"my.yaml":     "root: out\ndataset: set\ngraph: ${oc.env:CELL}\nperturbations: sets.tsv\nreaction_rule: ${rule}\nrule: all\nwhere: 'sample_id != \"\\${x}\"'\nvariants: [indices]\n",
		"public.yaml": "root: out\ndataset: public\nperturbations: sets.tsv\ningest: {config: source.yaml}\n",
		"source.yaml": "genes: {table: {file: \"${oc.env:GENES}\", column: id}}\nedges: [{table: {file: links.tsv, relation: link, source: a, target: b, undirected: false}}]\n",
		"genes.tsv":   "id\n" + strings.Join(f.graph.Genes.IDs, "\n") + "\n", "links.tsv": "a\tb\nY000\tY001\n",
	})
	for _, config := range []string{"my.yaml", "public.yaml"} {
		s := newFakeSLURM(t)
		cmd := program(t, "main", "rebuild", "--config", config, "--slurm", "--array", "2")
		cmd.Dir, cmd.Env = f.dir, append(cmd.Env, with(s.environment, "CELL=graph", "GENES=genes.tsv")...)
		if o := finish(t, start(t, cmd)); o.code != 0 {
			t.Fatalf("%s: got %d, %s", config, o.code, o.stderr)
		}
		text, source := read(t, filepath.Join(f.dir, config)), read(t, filepath.Join(f.dir, "source.yaml"))
		writeFiles(t, f.dir, map[string]string{config: "root: elsewhere\n", "source.yaml": "genes: {}\n"})
		s.succeed(t, f.dir, 1, 2, 3, 4)
		writeFiles(t, f.dir, map[string]string{config: text, "source.yaml": source})
	}
	must(t, f.dir, "verify", "out/set/current/indices", "--graph", "graph")
	must(t, f.dir, "verify", "out/public/current/full-masks")
	if m := manifestOf(t, filepath.Join(f.dir, "out/set/current/indices")); m.Options.Where != `sample_id != "${x}"` {
		t.Errorf("got %q", m.Options.Where)
	}
}

// One chain at a time, whoever wants another version of the dataset.
func TestOneChainPerDataset(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	s := newFakeSLURM(t)
	submit := func(more ...string) outcome { return s.rebuild(t, f.dir, with(more, "--slurm", "--array", "2")...) }
	if o := submit(); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	s.succeed(t, f.dir, 1)
	for _, more := range [][]string{nil, {"--allow-wildtype"}, {"--force"}} {
		submit(more...).refused(t, 75, "a chain of it is in the queue: jobs 1 2 3 4 of ")
		s.rebuild(t, f.dir, more...).refused(t, 75, "a chain of it is in the queue: jobs 1 2 3 4 of ")
	}
	clean := program(t, "main", "clean", "out/set")
	clean.Dir, clean.Env = f.dir, append(clean.Env, s.environment...)
	if o := finish(t, start(t, clean)); o.code != 0 || o.stdout != "out/set: nothing to remove\n" {
		t.Errorf("clean beside a chain: got %d, %s %s", o.code, o.stdout, o.stderr)
	}
	execute(t, f.dir, "clean", "--dry-run", "out/set").refused(t, 75, "jobs 1 2 3 4 may be in the queue")
	// where there is no squeue, nobody knows whether the chain has ended
	execute(t, f.dir, rebuildOf()...).refused(t, 75, "jobs 1 2 3 4 may be in the queue")
	if o := submit("--root", "elsewhere"); o.code != 0 {
		t.Errorf("the same name in another root: got %d, %s", o.code, o.stderr)
	}
	if o := submit("--after", "--allow-wildtype"); o.code != 0 || !strings.HasPrefix(o.stdout, "incidence 9\n") {
		t.Errorf("queued behind: got %d, %s %s", o.code, o.stdout, o.stderr)
	}
	// the third waits for both: the second may be given up before the first has ended
	if o := submit("--after", "--duplicates", "first"); o.code != 0 {
		t.Errorf("queued third: got %d, %s %s", o.code, o.stdout, o.stderr)
	}
	for id, want := range map[string]string{"9": "1:2:3:4", "13": "1:2:3:4:9:10:11:12"} {
		if args := read(t, filepath.Join(s.dir, id+".args")); !strings.HasPrefix(args, "--parsable --hold --dependency=afterany:"+want+" --job-name=in-set-") {
			t.Errorf("got %s", args)
		}
	}
	for id := 13; id <= 16; id++ {
		if err := os.Remove(filepath.Join(s.dir, "queue", strconv.Itoa(id))); err != nil {
			t.Fatal(err)
		}
	}
	submit().refused(t, 75, "in the queue")
	s.rebuild(t, f.dir, "--after").refused(t, 2, "read --after: expected it with --slurm")
	submit("--after", "--force").refused(t, 2, "read --after: expected it with --slurm")
	s.succeed(t, f.dir, 2, 3, 4, 9)
	first := read(t, filepath.Join(f.dir, "out/set/current/version.json"))
	s.succeed(t, f.dir, 10, 11, 12)
	if read(t, filepath.Join(f.dir, "out/set/current/version.json")) == first {
		t.Error("the second chain published nothing")
	}
	chains, _ := filepath.Glob(filepath.Join(f.dir, "out/set/slurm/*/chain.json"))
	if _, versions, _ := versions.Folders(filepath.Join(f.dir, "out/set")); len(versions) != 2 || len(chains) != 3 {
		t.Errorf("got versions %v, chains %v", versions, chains)
	}
	must(t, f.dir, rebuildOf()...) // all chains are known to have ended
}

// A job that SLURM starts over and over ends for good.
func TestRestartsAreCapped(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	s := newFakeSLURM(t)
	if o := s.rebuild(t, f.dir, "--slurm", "--array", "2", "--max-restarts", "3"); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	s.run(t, f.dir, 1, "", "SLURM_RESTART_COUNT=4").refused(t, 1, "SLURM has started this job again 4 times")
	if o := s.run(t, f.dir, 1, "", "SLURM_RESTART_COUNT=3"); o.code != 0 {
		t.Errorf("got %d, %s", o.code, o.stderr)
	}
}

// SLURM sends SIGTERM to a job that it requeues, and answers late if it is busy. The job's log
// still says what happened.
func TestRequeuedJobSaysSo(t *testing.T) {
	skipShort(t)
	t.Parallel()
	dir, s := t.TempDir(), newFakeSLURM(t)
	submit := program(t, "main", "rebuild", "--config", "quickstart", "root=jobs", "samples=2000000000", "--slurm")
	submit.Dir, submit.Env = dir, append(submit.Env, s.environment...)
	if o := finish(t, start(t, submit)); o.code != 0 {
		t.Fatalf("got exit code %d, %s", o.code, o.stderr)
	}
	writeFiles(t, s.dir, map[string]string{
		"bin/squeue":   "#!/bin/bash\necho RUNNING\n",
		"bin/scontrol": fmt.Sprintf("#!/bin/bash\nsleep %g; kill -TERM $PPID; sleep 0.2\n", 1.5*signalGrace.Seconds()),
	})
	log := s.interrupted(t, dir)
	if !strings.Contains(log, "requeued") || !strings.Contains(log, "tcbuild: interrupted by SIGUSR1\n") {
		t.Errorf("got stderr:\n%s", log)
	}
	if log := s.interrupted(t, dir, "SLURM_RESTART_COUNT=50"); !strings.Contains(log, "tcbuild: interrupted by SIGUSR1, and not requeued: SLURM has started this job again 50 times") {
		t.Errorf("got stderr:\n%s", log)
	}
	writeFiles(t, s.dir, map[string]string{"bin/squeue": "#!/bin/bash\necho Socket timed out >&2; exit 1\n"})
	if log := s.interrupted(t, dir); !strings.Contains(log, "tcbuild: interrupted by SIGUSR1; run squeue ") || !strings.Contains(log, "Socket timed out") {
		t.Errorf("got stderr:\n%s", log)
	}
}

// interrupted starts the first job, sends it SIGUSR1 when it is at work, and returns its log.
func (s fakeSLURM) interrupted(t *testing.T, dir string, environment ...string) string {
	t.Helper()
	job := program(t, "main")
	job.Path, job.Args, job.Dir = "/bin/bash", []string{"bash", filepath.Join(s.dir, "1.sbatch")}, dir
	// A job may take any time to end: SLURM ends it where that is too long.
	job.Env = slices.Concat(job.Env, s.environment, []string{"SLURM_JOB_ID=1", longestEndVariable + "=1ns"}, environment)
	stderr, err := job.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	if line, err := lines.ReadString('\n'); !strings.Contains(line, "made graph") {
		t.Fatalf("got %q, %v", line, err)
	}
	if err := job.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	_ = job.Wait()
	if code := job.ProcessState.ExitCode(); code != 75 {
		t.Errorf("got %v, want exit code 75", job.ProcessState)
	}
	return string(rest)
}
