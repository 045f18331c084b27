package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

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
		{" step=incidence\n", "'--comment=incidence 000001-", "#SBATCH --cpus-per-task=4\n#SBATCH --account=lab\n#SBATCH --partition=cpu\n", "#SBATCH --requeue\n", "/out/set/slurm/000001-"},
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
		if i < 4 && (strings.Contains(scripts[i], "--slurm") || strings.Contains(scripts[i], "--time=") != (i == 1) || strings.Contains(scripts[i], "--gres") != (i == 2) ||
			strings.Contains(scripts[i], "--cpus-per-task") != (i == 0)) {
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
	execute(t, f.dir, rebuildOf("step=shard")...).refused(t, 2, `step: found "shard", expected incidence or shards`)
	execute(t, f.dir, rebuildOf("step=shards")...).refused(t, 2, "read the chain of --config")
	execute(t, f.dir, rebuildOf("--step", "shards")...).refused(t, 2, "read the chain of --config") // not in the help
	for _, array := range []string{"0", "x", "4%", "4%0", "-1"} {
		execute(t, f.dir, rebuildOf("--slurm", "--array="+array)...).refused(t, 2, "read --array: found")
	}
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

// A submission that SLURM refuses leaves nothing behind.
func TestRefusedSubmission(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	s := newFakeSLURM(t)
	writeFiles(t, s.dir, map[string]string{"bin/sbatch": "#!/bin/bash\necho invalid account >&2; exit 1\n"})
	s.rebuild(t, f.dir, "--slurm").refused(t, 1, "invalid account")
	nothing(t, filepath.Join(f.dir, "out/set/slurm"))
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
	for range 23 { // of a day's hourly runs
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
