package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/internal/disk"
)

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
	task := s.task(t, f.dir, 2, "1")
	stderr, err := task.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := task.Start(); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); log.WriteString(lines.Text() + "\n") {
		if strings.Contains(lines.Text(), "waiting for another process to end") {
			lock.Close()
		}
	}
	if err := task.Wait(); err != nil || lock.Close() == nil {
		t.Errorf("got %v, %s", err, &log)
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
	s.run(t, f.dir, 1, "", "SLURM_RESTART_COUNT=4").refused(t, 1, "SLURM has restarted this job 4 times")
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
