package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// operations is a folder with everything that docs/OPERATIONS.md assumes, and a PATH with the
// program.
func operations(t *testing.T) (dir string, environment []string) {
	t.Helper()
	dir = t.TempDir()
	must(t, dir, "synth", "--out", "cell", "samples=60")
	if err := os.Rename(filepath.Join(dir, "cell/perturbations.arrow"), filepath.Join(dir, "screen.arrow")); err != nil {
		t.Fatal(err)
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(executable, filepath.Join(bin, "tcbuild")); err != nil {
		t.Fatal(err)
	}
	return dir, append(os.Environ(), modeVariable+"=main", "PATH="+bin+":"+os.Getenv("PATH"))
}

// example is the first block of a language in docs/OPERATIONS.md.
func example(t *testing.T, language string) string {
	t.Helper()
	match := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(read(t, "../../docs/OPERATIONS.md"))
	if match == nil {
		t.Fatalf("there is no example in %s", language)
	}
	return match[1]
}

func runIn(t *testing.T, dir string, environment []string, name string, args ...string) (output string, ok bool) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, environment
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func TestSettingsOfOperations(t *testing.T) {
	t.Parallel()
	dir, _ := operations(t)
	writeFiles(t, dir, map[string]string{"my.yaml": example(t, "yaml")})
	must(t, dir, "rebuild", "--config", "my.yaml")
	must(t, dir, "verify", "data/my/current/indices")
}

// The workflows that docs/OPERATIONS.md names run.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program, file string
		args          []string
		idle          string
	}{
		{"make", "../../conf/make/Makefile", []string{"-f"}, "Nothing to be done"},
		{"snakemake", "../../conf/snakemake/Snakefile", []string{"--cores", "2", "--snakefile"}, "Nothing to be done"},
		{"nextflow", "../../conf/nextflow/main.nf", []string{"run", "-resume"}, "Cached process > verify"},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(read(t, "../../docs/OPERATIONS.md"), "]("+strings.TrimPrefix(c.file, "../")+")") {
				t.Errorf("docs/OPERATIONS.md does not name %s", c.file)
			}
			if _, err := exec.LookPath(c.program); err != nil {
				t.Skipf("%s is not installed", c.program)
			}
			dir, environment := operations(t)
			file, err := filepath.Abs(c.file)
			if err != nil {
				t.Fatal(err)
			}
			if c.program == "nextflow" {
				environment = failsOnce(t, dir, environment)
			}
			run := func() (string, bool) { return runIn(t, dir, environment, c.program, with(c.args, file)...) }
			verified := filepath.Join(dir, "data/indices.verified.json")
			if out, ok := run(); !ok || !strings.Contains(read(t, verified), `"differences": 0`) {
				t.Fatal(out)
			}
			if out, ok := run(); !ok || !strings.Contains(out, c.idle) {
				t.Errorf("again: got %s", out)
			}
			must(t, dir, "synth", "--out", "other", "samples=61")
			if err := os.Rename(filepath.Join(dir, "other/perturbations.arrow"), filepath.Join(dir, "screen.arrow")); err != nil {
				t.Fatal(err)
			}
			if out, ok := run(); !ok || manifestOf(t, filepath.Join(dir, "data/indices")).Samples != 61 {
				t.Errorf("other input: got %s", out)
			}
			tables, err := filepath.Glob(filepath.Join(dir, "cell/graph/edges/gene__*__gene.*"))
			if err != nil || len(tables) == 0 {
				t.Fatal(tables, err)
			}
			masks := len(manifestOf(t, filepath.Join(dir, "data/indices")).Masks)
			if err := os.Remove(tables[0]); err != nil {
				t.Fatal(err)
			}
			if out, ok := run(); !ok || len(manifestOf(t, filepath.Join(dir, "data/indices")).Masks) != masks-1 {
				t.Errorf("a table less: got %s", out)
			}

			if c.program == "nextflow" {
				if _, err := os.Stat(filepath.Join(dir, "failed")); err != nil {
					t.Error("no process was interrupted")
				}
				return // it verifies what it has built, and knows nothing of later damage
			}
			// a dataset that does not pass is not verified, however often it is tried
			shard := filepath.Join(dir, "data/indices/shard-00000-of-00001/data.mdb")
			text := []byte(read(t, shard))
			text[len(text)/2] ^= 1
			if err := errors.Join(os.WriteFile(shard, text, 0o644), os.Remove(verified)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if out, ok := run(); ok || !strings.Contains(out, "1 damaged records or files") && !strings.Contains(out, "damaged record") {
					t.Errorf("damaged: got %s", out)
				}
				nothing(t, verified)
			}
		})
	}
}

// failsOnce puts a program before that of the environment which ends once with 75.
func failsOnce(t *testing.T, dir string, environment []string) []string {
	t.Helper()
	script := "#!/bin/bash\nmkdir '" + dir + "/failed' 2>/dev/null && exit 75\nPATH=${PATH#*:} exec tcbuild \"$@\"\n"
	writeFiles(t, dir, map[string]string{"once/tcbuild": script})
	if err := os.Chmod(filepath.Join(dir, "once/tcbuild"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(environment[len(environment)-1], "PATH=")
	return with(environment, "PATH="+filepath.Join(dir, "once")+":"+path, "NXF_ANSI_LOG=false", "NXF_OFFLINE=true")
}

// The job script for one dataset, run as SLURM would run its tasks.
func TestDatasetJobScript(t *testing.T) {
	t.Parallel()
	dir, environment := operations(t)
	script, err := filepath.Abs("../../conf/slurm/dataset.sbatch")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range []string{"11", "10", "12"} {
		of := with(environment, "SLURM_ARRAY_TASK_ID="+task, "SLURM_ARRAY_TASK_MIN=10", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_CPUS_PER_TASK=2")
		if out, ok := runIn(t, dir, of, "bash", script, "--mode", "indices", "--graph", "cell/graph", "--perturbations", "screen.arrow", "--out", "out"); !ok {
			t.Fatal(out)
		}
	}
	if manifest := manifestOf(t, filepath.Join(dir, "out")); len(manifest.Shards) != 3 {
		t.Errorf("got %d shards", len(manifest.Shards))
	}
	must(t, dir, "verify", "out")
	of := with(environment, "SLURM_ARRAY_TASK_ID=0", "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_COUNT=3")
	if out, ok := runIn(t, dir, of, "bash", script, "--mode", "indices", "--graph", "nowhere", "--perturbations", "screen.arrow", "--out", "out2"); ok {
		t.Errorf("a failure passes: %s", out)
	}
}

// An interrupted task has itself alone started again: the last one has the job number of the array.
func TestDatasetJobScriptRequeuesItsTask(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, script := range map[string]string{"tcbuild": "exit 75", "scontrol": `echo "$@" >requeued`} {
		writeFiles(t, dir, map[string]string{"bin/" + name: "#!/bin/bash\n" + script + "\n"})
		if err := os.Chmod(filepath.Join(dir, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script, err := filepath.Abs("../../conf/slurm/dataset.sbatch")
	if err != nil {
		t.Fatal(err)
	}
	environment := append(os.Environ(), "PATH="+dir+"/bin:"+os.Getenv("PATH"), "SLURM_JOB_ID=17", "SLURM_ARRAY_JOB_ID=17", "SLURM_ARRAY_TASK_ID=7",
		"SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_COUNT=8")
	if out, ok := runIn(t, dir, environment, "bash", script); ok || read(t, filepath.Join(dir, "requeued")) != "requeue 17_7\n" {
		t.Errorf("got %s, requeued %s", out, read(t, filepath.Join(dir, "requeued")))
	}
}

func TestStatusAndStage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2000, 150)
	must(t, f.dir, f.dataset("indices", "zstd", "out", "--shard", "1/3")...)
	o := must(t, f.dir, "status", "out")
	want := "shard-00000-of-00003  waiting  50 samples\nshard-00001-of-00003  done     50 samples\nshard-00002-of-00003  waiting  50 samples\n" +
		"out: 1 shards done, 0 running, 0 failed, 2 waiting\n"
	if o.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", o.stdout, want)
	}
	execute(t, f.dir, "status", "graph").refused(t, 3, "read status of graph")
	must(t, f.dir, f.dataset("indices", "zstd", "out", "--shards", "3")...)

	if o := must(t, f.dir, "stage", "out", "local/out"); !strings.HasSuffix(o.stdout, " copied, 0 B reused\n") {
		t.Errorf("got %q", o.stdout)
	}
	if o := must(t, f.dir, "stage", "out", "local/out"); !strings.HasPrefix(o.stdout, "local/out: 0 B copied, ") {
		t.Errorf("got %q", o.stdout)
	}
	sameData(t, dataOf(t, filepath.Join(f.dir, "local/out")), dataOf(t, filepath.Join(f.dir, "out")))
	must(t, f.dir, "verify", "local/out")
	execute(t, f.dir, "stage", "out", "graph").refused(t, 2, "expected a dataset or an empty folder")

	must(t, f.dir, rebuildOf("--quiet", "--root", "versions")...)
	if o := must(t, f.dir, "status", "versions/set"); !regexp.MustCompile(`^000001-\w{8}  current\n$`).MatchString(o.stdout) {
		t.Errorf("got %q", o.stdout)
	}
}
