package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestSlurmDryRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	o := must(t, f.dir, rebuildOf("--slurm-dry-run", "--array", "4", "--partition", "cpu", "--gpu-partition", "gpu", "--cpus-per-task", "2", "--sbatch=--time=1:00:00")...)
	scripts := strings.Split(o.stdout, "\n# ")
	if len(scripts) != 4 {
		t.Fatalf("got %s", o.stdout)
	}
	for i, want := range [][]string{
		{"--step=incidence", "#SBATCH --partition=cpu\n", "#SBATCH --time=1:00:00\n", "#SBATCH --cpus-per-task=2\n", "#SBATCH --requeue\n"},
		{"--step=shards", "--dependency=afterok:$incidence ", "#SBATCH --array=0-3\n", "#SBATCH --signal=B:USR1@120\n"},
		{"--step=finalize", "--dependency=afterany:$shards "},
		{"--step=verify", "--dependency=afterok:$finalize ", "#SBATCH --partition=gpu\n", "#SBATCH --gres=gpu:1\n"},
	} {
		for _, text := range want {
			if !strings.Contains(scripts[i], text) {
				t.Errorf("script %d: got %s, want %q in it", i, scripts[i], text)
			}
		}
		if strings.Contains(scripts[i], "--slurm-dry-run") || strings.Contains(scripts[i], "--array=") != (i == 1) {
			t.Errorf("script %d: got %s", i, scripts[i])
		}
	}
	nothing(t, filepath.Join(f.dir, "out"))

	one := must(t, f.dir, rebuildOf("--slurm-dry-run", "--variants", "incidence")...)
	if strings.Contains(one.stdout, "--step=shards") || !strings.Contains(one.stdout, "--dependency=afterok:$incidence verify.sbatch") {
		t.Errorf("got %s", one.stdout)
	}
	execute(t, f.dir, rebuildOf("--step", "shard")...).refused(t, 2, `read --step: found "shard"`)
	execute(t, f.dir, rebuildOf("--step", "shards")...).refused(t, 2, `read SLURM_ARRAY_TASK_ID: found ""`)
}

// The jobs of a chain, one after the other, without SLURM: its tasks in any order, with other
// numbers.
func TestSteps(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 150)
	step := func(name string, environment ...string) {
		t.Helper()
		cmd := program(t, "main", rebuildOf("--array", "3", "--step", name)...)
		cmd.Dir, cmd.Env = f.dir, append(cmd.Env, environment...)
		o := finish(t, start(t, cmd))
		if o.code != 0 {
			t.Fatalf("%s: got exit code %d, stderr:\n%s", name, o.code, o.stderr)
		}
	}
	step("incidence")
	for _, task := range []string{"7", "5"} {
		step("shards", "SLURM_ARRAY_TASK_ID="+task, "SLURM_ARRAY_TASK_MIN=5", "SLURM_ARRAY_TASK_MAX=7", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_TMPDIR="+t.TempDir(), "SLURM_CPUS_PER_TASK=1")
	}
	o := must(t, f.dir, "status", "out/set")
	if strings.Count(o.stdout, ": 2 shards done, 0 running, 0 failed, 1 waiting\n") != 2 {
		t.Errorf("got %s", o.stdout)
	}
	step("finalize") // builds the shard of the task that never ran
	nothing(t, filepath.Join(f.dir, "out/set/current"))
	step("verify")
	f.versionsOf(t)
	for _, mode := range []string{"indices", "full-masks"} {
		must(t, f.dir, f.dataset(mode, "zstd", mode, "--shards", "3")...)
		sameData(t, dataOf(t, filepath.Join(f.dir, "out/set/current", mode)), dataOf(t, filepath.Join(f.dir, mode)))
	}
}
