package main

import (
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
)

// container is a wrapper in which there are neither SLURM's commands nor the job's other variables.
const container = "#!/bin/bash\n[ -n \"$LOADED\" ] || exit 9\nexport PATH=/gone\n\"$@\" &\ntrap 'kill -USR1 $!' USR1\nwait $!\nwait $!\n"

// A job's prologue runs before the program, and a wrapper around it. A job that is interrupted in
// the wrapper is started again.
func TestWrappedJobs(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	s := newFakeSLURM(t)
	writeFiles(t, s.dir, map[string]string{"container": container})
	site := []string{"prologue=[export LOADED=yes,true]", "wrapper=bash " + filepath.Join(s.dir, "container")}
	if o := s.rebuild(t, f.dir, with(site, "--slurm", "--array", "2")...); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	s.succeed(t, f.dir, 1, 2, 3, 4)
	must(t, f.dir, "verify", "out/set/current/indices")
	if o := s.rebuild(t, f.dir, "--slurm", "--force", "--array", "2", "prologue=[false]"); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	if o := s.run(t, f.dir, 5, ""); o.code != 1 || o.stdout+o.stderr != "" {
		t.Errorf("a prologue that fails: got %+v", o)
	}

	s = newFakeSLURM(t)
	writeFiles(t, s.dir, map[string]string{"container": container, "bin/squeue": "#!/bin/bash\necho RUNNING\n"})
	site[1] = "wrapper=bash " + filepath.Join(s.dir, "container")
	dir := t.TempDir()
	if o := s.execute(t, dir, with([]string{"rebuild", "--config", "quickstart", "root=jobs", "samples=2000000000", "--slurm"}, site...)...); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	if log := s.interrupted(t, dir); !strings.Contains(log, "interrupted by SIGUSR1") || strings.Contains(log, "squeue") {
		t.Errorf("got log %s", log)
	}
	if requeued := read(t, filepath.Join(s.dir, "scontrol")); requeued != "requeue 1\n" {
		t.Errorf("got %q", requeued)
	}
}

// A job that makes no progress ends, and is started again.
func TestStalledJob(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 2000, 60)
	s := newFakeSLURM(t)
	if o := s.rebuild(t, f.dir, "--slurm", "stall_minutes=0.01"); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	writeFiles(t, s.dir, map[string]string{"bin/squeue": "#!/bin/bash\necho RUNNING\n"})
	lock, err := disk.TryLock(filepath.Join(f.dir, "out/set/.lock"), disk.Alone) // which the job waits for
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	o := s.run(t, f.dir, 1, "", with(s.environment, "SLURM_JOB_ID=1")...)
	o.refused(t, 75, "job 1 has made no progress for 600ms")
	if requeued := read(t, filepath.Join(s.dir, "scontrol")); requeued != "requeue 1\n" {
		t.Errorf("got %q", requeued)
	}
}

// A chain on another cluster is looked for there, whatever the settings say later.
func TestChainOnAnotherCluster(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 200, 20)
	s := newFakeSLURM(t)
	writeFiles(t, s.dir, map[string]string{"bin/squeue": strings.Replace(read(t, filepath.Join(s.dir, "bin/squeue")), "\n",
		"\n[ \"$SLURM_CLUSTERS\" = big ] || exit 0\necho CLUSTER: big\n", 1)})
	if o := s.rebuild(t, f.dir, "--slurm", "clusters=big"); o.code != 0 {
		t.Fatalf("got %d, %s", o.code, o.stderr)
	}
	if environment := read(t, filepath.Join(s.dir, "1.env")); !strings.Contains(environment, "SLURM_CLUSTERS=big\n") {
		t.Errorf("sbatch got %s", environment)
	}
	s.rebuild(t, f.dir).refused(t, 75, "a chain of it is in the queue: jobs 1 2 3 4 of ")
	if o := s.execute(t, f.dir, "status", "out/set"); strings.Count(o.stdout, "PENDING") != len(rebuild.JobLabels) {
		t.Errorf("got %s %s", o.stdout, o.stderr)
	}
}
