package main

import (
	"bufio"
	"encoding/json"
	"errors"
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
	"time"

	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
)

func TestSlurmDryRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	o := must(t, f.dir, rebuildOf("--slurm", "--dry-run", "array=4%2", "device=cuda",
		"sbatch=[--account=lab,--partition=cpu]", "sbatch_shards=--time=1:00:00", "sbatch_verify=[--partition=gpu,--gres=gpu:a100:1]", "export=[LICENSE,A=b]")...)
	scripts := strings.Split(o.stdout, "\n# ")
	if len(scripts) != 6 || !strings.HasPrefix(scripts[0], "stage ") {
		t.Fatalf("got %s", o.stdout)
	}
	scripts = scripts[1:]
	for i, want := range [][]string{
		{" step=incidence\n", "'--comment=incidence 000001-", "#SBATCH --partition=cpu\n", "#SBATCH --requeue\n", "/out/set/slurm/000001-"},
		{" step=shards\n", "--dependency=afterok:$incidence ", "#SBATCH --array=0-3%2\n", "#SBATCH --signal=B:USR1@120\n", "#SBATCH --time=1:00:00\n", "/shards-%A_%a.log\n"},
		{" step=verify\n", "--dependency=afterok:$shards ", "#SBATCH --array=0-3%2\n", "#SBATCH --partition=cpu\n#SBATCH --partition=gpu\n#SBATCH --gres=gpu:a100:1\n"},
		{" step=finalize\n", "--dependency=afterok:$verify ", "#SBATCH --partition=cpu\n"},
		{`"device": "cuda"`, `"shards": "4"`, `"root": "` + f.dir + `/out"`},
	} {
		if i < 4 {
			want = append(want, "#SBATCH --account=lab\n", "#SBATCH --mem=", "#SBATCH --job-name=set-", "#SBATCH --export=PATH,", ",LICENSE,A=b\n")
		}
		for _, text := range want {
			if !strings.Contains(scripts[i], text) {
				t.Errorf("script %d: got %s, want %q in it", i, scripts[i], text)
			}
		}
		if i < 4 && (strings.Contains(scripts[i], "--slurm") || strings.Contains(scripts[i], "--time=") != (i == 1) || strings.Contains(scripts[i], "--gres") != (i == 2)) {
			t.Errorf("script %d: got %s", i, scripts[i])
		}
	}
	nothing(t, filepath.Join(f.dir, "out"))

	own := must(t, f.dir, rebuildOf("--slurm", "--dry-run", "sbatch=--mem-per-cpu=3G")...)
	if strings.Contains(own.stdout, "--mem=") || strings.Count(own.stdout, "\n#SBATCH --mem-per-cpu=3G\n") != 4 {
		t.Errorf("got %s", own.stdout)
	}
	one := must(t, f.dir, rebuildOf("--slurm", "--dry-run", "variants=[incidence]")...)
	if strings.Contains(one.stdout, "step=shards") || !strings.Contains(one.stdout, "--dependency=afterok:$incidence verify.sbatch") {
		t.Errorf("got %s", one.stdout)
	}
	execute(t, f.dir, rebuildOf("step=shard")...).refused(t, 2, `read step: found "shard"`)
	execute(t, f.dir, rebuildOf("step=shards")...).refused(t, 2, "read the chain of --config")
	execute(t, f.dir, rebuildOf("--keep", "2")...).refused(t, 2, "found --keep, which is a setting")
	for _, array := range []string{"0", "x", "4%", "4%0", "-1"} {
		execute(t, f.dir, rebuildOf("--slurm", "--array="+array)...).refused(t, 2, "read --array: found")
	}
}

// fakeSLURM takes jobs, and starts none.
type fakeSLURM struct {
	dir         string // N.sbatch, N.args and N.env of each job; queue/N, with its state, while it is in the queue
	environment []string
}

// A file kill/N has sbatch kill the process that submits job N, when it is submitted.
const fakeSbatch = `n=$(ls *.args 2>/dev/null | wc -l); n=$((n + 1)); cat >$n.sbatch; env >$n.env; printf '%s\n' "$@" >$n.args
printf 'PENDING\tNone\t%s\t%s\n' $(id -un) $(id -u) >queue/$n; [ ! -e kill/$n ] || kill -9 $PPID
echo $n
`

const fakeSqueue = `[ -z "$SQUEUE_STATES" ] || exit 0
for a; do case $a in --name=*) name=${a#--name=};; esac; done
for f in $(ls queue | sort -n); do
	n=${f%%_*}
	grep -qx -e "--job-name=$name" $n.args && printf '%s\t%s\t%s\t%s\n' $f $n "$(cat queue/$f)" "$(sed -n s/^--comment=//p $n.args)"
done
exit 0
`

func newFakeSLURM(t *testing.T) fakeSLURM {
	t.Helper()
	dir := t.TempDir()
	s := fakeSLURM{dir: dir, environment: []string{"PATH=" + dir + "/bin:" + os.Getenv("PATH"),
		"SQUEUE_STATES=RUNNING"}} // no variable hides a chain
	for name, script := range map[string]string{
		"sbatch": fakeSbatch, "squeue": fakeSqueue,
		"scancel": "cd queue; for a; do case $a in --*) ;; *) rm -f $a;; esac; done\n", "scontrol": "echo \"$@\" >>scontrol\n",
	} {
		writeFiles(t, dir, map[string]string{"bin/" + name: "#!/bin/bash\ncd " + dir + "\n" + script})
		if err := os.Chmod(filepath.Join(dir, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"queue", "kill"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// rebuild runs a command of rebuildOf where this SLURM is.
func (s fakeSLURM) rebuild(t *testing.T, dir string, more ...string) outcome {
	t.Helper()
	return s.execute(t, dir, rebuildOf(more...)...)
}

// execute is that of processes, where this SLURM is.
func (s fakeSLURM) execute(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	cmd := program(t, "main", args...)
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
	os.Remove(filepath.Join(s.dir, "queue", strconv.Itoa(id)))
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
	if strings.Count(o.stdout, ": 2 shards done, 0 running, 0 failed, 1 waiting\n") != 2 || !strings.Contains(o.stderr, "WARN SLURM cannot be asked") {
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

// A chain's settings are resolved when it is submitted.
func TestSettingsAreResolvedAtSubmission(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	writeFiles(t, f.dir, map[string]string{
		"my.yaml":     "root: out\ndataset: set\ngraph: ${oc.env:CELL}\nperturbations: sets.tsv\nreaction_rule: ${rule}\nrule: all\nwhere: 'sample_id != \"\\${x}\"'\nvariants: [indices]\n",
		"public.yaml": "root: out\ndataset: public\nperturbations: sets.tsv\ningest: {config: source.yaml}\n",
		"source.yaml": "genes: {file: \"${oc.env:GENES}\", column: id}\nedges: [{file: links.tsv, relation: link, from: a, to: b, undirected: false}]\n",
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
	for _, more := range [][]string{nil, {"allow_wildtype=true"}, {"--force"}} {
		submit(more...).refused(t, 75, "a chain of it is in the queue: jobs 2 3 4 of ")
		o := s.rebuild(t, f.dir, more...)
		o.refused(t, 75, "a chain of it is in the queue: jobs 2 3 4 of ")
		o.hints(t, "or give it up: scancel 2 3 4")
	}
	if o := submit("--if-busy", "ok", "--quiet"); o.code != 75 || o.stdout+o.stderr != "" {
		t.Errorf("if-busy ok, quiet: got %+v", o)
	}
	if o := submit("--if-busy", "ok"); o.code != 75 || !strings.Contains(o.stdout, "a chain of it is in the queue") || o.stderr != "" {
		t.Errorf("if-busy ok: got %+v", o)
	}
	// nobody is told to cancel other people's jobs
	own := read(t, filepath.Join(s.dir, "queue/3"))
	writeFiles(t, s.dir, map[string]string{"queue/3": "RUNNING\tNone\tann\t1234\n"})
	if o := submit(); o.code != 75 || strings.Contains(o.stderr, "scancel") || !strings.Contains(o.stderr, "or ask ann") {
		t.Errorf("another user's chain: got %d, %s", o.code, o.stderr)
	}
	writeFiles(t, s.dir, map[string]string{"queue/3": own})
	if o := s.execute(t, f.dir, "clean", "out/set"); o.code != 0 || o.stdout != "out/set: nothing to remove\n" {
		t.Errorf("clean beside a chain: got %d, %s %s", o.code, o.stdout, o.stderr)
	}
	// where there is no squeue, nobody knows whether the chain has ended
	elsewhere := fakeSLURM{environment: []string{"PATH=" + t.TempDir()}}
	for _, args := range [][]string{{"clean", "--dry-run", "out/set"}, rebuildOf()} {
		o := elsewhere.execute(t, f.dir, args...)
		o.refused(t, 75, "a chain of it may be in the queue: run squeue: exec: ")
		o.hints(t, "run it where squeue is")
	}
	squeue := read(t, filepath.Join(s.dir, "bin/squeue"))
	writeFiles(t, s.dir, map[string]string{"bin/squeue": "#!/bin/bash\necho Unable to contact slurm controller >&2; exit 1\n"})
	o := submit()
	o.refused(t, 75, "Unable to contact slurm controller")
	o.hints(t, "run it again when SLURM answers")
	writeFiles(t, s.dir, map[string]string{"bin/squeue": squeue})
	if o := submit("--root", "elsewhere"); o.code != 0 {
		t.Errorf("the same name in another root: got %d, %s", o.code, o.stderr)
	}
	if o := submit("--after", "allow_wildtype=true"); o.code != 0 || !strings.HasPrefix(o.stdout, "incidence 9\n") {
		t.Errorf("queued behind: got %d, %s %s", o.code, o.stdout, o.stderr)
	}
	// the third waits for both: the second may be given up before the first has ended
	if o := submit("--after", "duplicates=first"); o.code != 0 {
		t.Errorf("queued third: got %d, %s %s", o.code, o.stdout, o.stderr)
	}
	for id, want := range map[string]string{"9": "2:3:4", "13": "2:3:4:9:10:11:12"} {
		if args := read(t, filepath.Join(s.dir, id+".args")); !strings.HasPrefix(args, "--parsable\n--dependency=afterany:"+want+"\n--job-name=set-") {
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
	chains, _ := filepath.Glob(filepath.Join(f.dir, "out/set/slurm/*/plan.json"))
	if _, versions, _ := rebuild.Folders(filepath.Join(f.dir, "out/set")); len(versions) != 2 || len(chains) != 3 {
		t.Errorf("got versions %v, chains %v", versions, chains)
	}
	if o := s.rebuild(t, f.dir); o.code != 0 {
		t.Errorf("when all have ended: got %d, %s", o.code, o.stderr)
	}
}

// A submission that is killed between two jobs blocks nothing: the next run cancels what it left in
// the queue.
func TestKilledSubmission(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	for id := 1; id <= 3; id++ {
		s := newFakeSLURM(t)
		kill := filepath.Join("kill", strconv.Itoa(id))
		writeFiles(t, s.dir, map[string]string{kill: "x"})
		root := fmt.Sprint("out", id)
		if o := s.rebuild(t, f.dir, "--root", root, "--slurm", "--array", "2"); o.code != -1 {
			t.Fatalf("got %d, %s, want a kill", o.code, o.stderr)
		}
		if err := os.Remove(filepath.Join(s.dir, kill)); err != nil {
			t.Fatal(err)
		}
		// a job of it that runs is waited for, and so is another user's
		own := read(t, filepath.Join(s.dir, "queue/1"))
		writeFiles(t, s.dir, map[string]string{"queue/1": strings.Replace(own, "PENDING", "RUNNING", 1)})
		s.rebuild(t, f.dir, "--root", root).refused(t, 75, "jobs 1 of ")
		writeFiles(t, s.dir, map[string]string{"queue/1": own})
		if id == 3 {
			if o := s.rebuild(t, f.dir, "--root", root); o.code != 0 {
				t.Errorf("without --slurm: got %d, %s", o.code, o.stderr)
			}
			continue
		}
		o := s.rebuild(t, f.dir, "--root", root, "--slurm", "--array", "2")
		if o.code != 0 || !strings.HasPrefix(o.stdout, fmt.Sprintf("incidence %d\n", id+1)) {
			t.Fatalf("killed at job %d: got %d, %s %s", id, o.code, o.stdout, o.stderr)
		}
		if queued := glob(t, s.dir, "queue/*"); len(queued) != 4 {
			t.Errorf("got %v in the queue", queued)
		}
		s.succeed(t, f.dir, id+1, id+2, id+3, id+4)
		if _, err := os.Stat(filepath.Join(f.dir, root, "set/current")); err != nil {
			t.Error(err)
		}
	}
}

// cron does not submit a chain again that failed because of its input or verification, and says so
// each time, in metrics, too: until something changes, or somebody wants it all the same.
func TestFailedChainIsNotSubmittedAgain(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	s := newFakeSLURM(t)
	submit := func(more ...string) outcome {
		return s.rebuild(t, f.dir, with(more, "--slurm", "--quiet", "--metrics-file", "set.prom", "--log-file", "set.log")...)
	}
	submitted := func() int { return len(glob(t, s.dir, "*.sbatch")) }
	rewrite(t, filepath.Join(f.dir, "sets.tsv"), "bad\tnobody\t1\t\n")
	if o := submit(); o.code != 0 || submitted() != 4 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	if o := s.run(t, f.dir, 1, "", "SLURM_JOB_ID=1"); o.code != 3 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	for id := 2; id <= 4; id++ { // as SLURM does behind a job that failed
		os.Remove(filepath.Join(s.dir, "queue", strconv.Itoa(id)))
	}
	for range 3 {
		o := submit()
		o.refused(t, 3, "its last chain failed in the job incidence, see ", "/incidence-1.log: ", "nobody")
		o.hints(t, "--again submits it all the same")
		if metrics := read(t, filepath.Join(f.dir, "set.prom")); !strings.Contains(metrics, `last_exit_code{dataset="set"} 3`) {
			t.Errorf("got metrics %s", metrics)
		}
	}
	if !strings.Contains(read(t, filepath.Join(f.dir, "set.log")), "exit_code=3") || submitted() != 4 {
		t.Errorf("got %d jobs submitted, log %s", submitted(), read(t, filepath.Join(f.dir, "set.log")))
	}
	if o := submit("--again"); o.code != 0 || submitted() != 8 {
		t.Errorf("--again: got %d, %s", o.code, o.stderr)
	}
	for id := 5; id <= 8; id++ {
		os.Remove(filepath.Join(s.dir, "queue", strconv.Itoa(id)))
	}
	if o := submit(); o.code != 0 || submitted() != 12 {
		t.Errorf("behind a chain that was cancelled: got %d, %s", o.code, o.stderr)
	}
	for id := 10; id <= 12; id++ {
		os.Remove(filepath.Join(s.dir, "queue", strconv.Itoa(id)))
	}
	s.run(t, f.dir, 9, "", "SLURM_JOB_ID=9").refused(t, 3, "nobody")
	submit().refused(t, 3, "/incidence-9.log: ")
	// settings change
	if o := submit("unknown_genes=drop-sample"); o.code != 0 || submitted() != 16 {
		t.Errorf("with other settings: got %d, %s", o.code, o.stderr)
	}
	s.succeed(t, f.dir, 13, 14, 15, 16)
}

// No variable of the submitting job leaks into the chain, and a task's id is its own.
func TestChainSubmittedInsideAJob(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	s := newFakeSLURM(t)
	s.environment = append(s.environment, "SLURM_RESTART_COUNT=60", "SLURM_TMPDIR=/gone", "SLURM_CPUS_PER_TASK=64", "SLURM_JOB_ID=7",
		"SLURM_CONF=/etc/other.conf", "SBATCH_EXPORT=ALL")
	if o := s.rebuild(t, f.dir, "--slurm"); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	for id := 1; id <= 4; id++ {
		environment := read(t, filepath.Join(s.dir, fmt.Sprint(id, ".env")))
		if strings.Contains(environment, "SLURM_RESTART") || strings.Contains(environment, "SLURM_TMPDIR") || strings.Contains(environment, "SLURM_CPUS") ||
			strings.Contains(environment, "SLURM_JOB") || !strings.Contains(environment, "SLURM_CONF=/etc/other.conf\n") {
			t.Errorf("job %d: sbatch got %s", id, environment)
		}
		if args := read(t, filepath.Join(s.dir, fmt.Sprint(id, ".args"))); !strings.Contains(args, "\n--export=PATH,HOME,") || strings.Contains(args, "=ALL") {
			t.Errorf("job %d: got %s", id, args)
		}
		if settings := read(t, glob(t, f.dir, "out/set/slurm/*/settings.json")[0]); strings.Contains(settings, "workers") {
			t.Errorf("got settings %s", settings)
		}
	}
}

// A task that SLURM starts again, because its node froze, waits for the lock that its former self
// holds there.
func TestTaskWaitsForItsFormerSelf(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	s := newFakeSLURM(t)
	if o := s.rebuild(t, f.dir, "--slurm", "--array", "2"); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	s.succeed(t, f.dir, 1)
	s.succeed(t, f.dir, 2)
	former := glob(t, f.dir, "out/set/.build-*/indices")
	if len(former) != 1 {
		t.Fatal(former)
	}
	// as if the second task had built nothing of it yet
	building := former[0] + ".building"
	if err := errors.Join(os.RemoveAll(former[0]), os.MkdirAll(filepath.Join(building, ".build"), 0o755)); err != nil {
		t.Fatal(err)
	}
	lock, err := disk.TryLock(filepath.Join(building, ".build/shard-00001-of-00002.lock"), disk.Alone)
	if err != nil {
		t.Fatal(err)
	}
	if o := s.run(t, f.dir, 2, "0"); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	released := time.AfterFunc(7*time.Second, func() { lock.Close() })
	defer released.Stop()
	if o := s.run(t, f.dir, 2, "1"); o.code != 0 || !strings.Contains(o.stderr, "waiting for another process to end") {
		t.Errorf("got %d, %s", o.code, o.stderr)
	}
	s.succeed(t, f.dir, 3, 4)
}

// A job that SLURM starts over and over ends for good.
func TestRestartsAreCapped(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	s := newFakeSLURM(t)
	if o := s.rebuild(t, f.dir, "--slurm", "--array", "2", "max_restarts=3"); o.code != 0 {
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
