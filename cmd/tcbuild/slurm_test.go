package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tcbuild/internal/rebuild"
)

// cluster is a SLURM for only this machine, which ends with the test.
type cluster struct {
	dir string
}

// No limit of SLURM's is one that a slow machine reaches. SLURM starts a requeued job again after
// cred_expire seconds.
const slurmConf = `ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge/socket,cred_expire=30
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
MessageTimeout=100
TCPTimeout=100
BatchStartTimeout=1200
KillWait=1200
UnkillableStepTimeout=1500
SlurmdTimeout=0
SchedulerParameters=sched_interval=1,bf_interval=1
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdLogFile=%[2]s/slurmd.log
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=only Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// startCluster starts the authentication, controller and node daemons, with their own ports,
// sockets and folders. Where they are not installed, the test is skipped.
func startCluster(t *testing.T) cluster {
	t.Helper()
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed (Debian: slurm-wlm and munge)", name)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("slurmd has to be started by root")
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	dir, err := os.MkdirTemp("", "slurm") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := cluster{dir: dir}
	key := make([]byte, 128)
	_, _ = rand.Read(key)
	writeFiles(t, dir, map[string]string{"munge/key": string(key)})
	for _, folder := range []string{"state", "spool"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, mode := range map[string]os.FileMode{dir: 0o755, filepath.Join(dir, "munge"): 0o700, filepath.Join(dir, "munge/key"): 0o400} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	munge := filepath.Join(dir, "munge")
	c.daemon(t, "munged", "--foreground", "--force", "--socket="+munge+"/socket", "--key-file="+munge+"/key",
		"--pid-file="+munge+"/pid", "--log-file="+munge+"/log", "--seed-file="+munge+"/seed")
	eventually(t, "munge's socket", func() bool { _, err := os.Stat(munge + "/socket"); return err == nil })
	for !c.startDaemons(t, host) {
	}
	return c
}

// startDaemons starts the controller and the node, and waits until both are ready. It returns false
// if one of them ended: then somebody has taken its port.
func (c cluster) startDaemons(t *testing.T, host string) bool {
	t.Helper()
	writeFiles(t, c.dir, map[string]string{"slurm.conf": fmt.Sprintf(slurmConf, host, c.dir, freePort(t), freePort(t))})
	controller, node := c.daemon(t, "slurmctld", "-D"), c.daemon(t, "slurmd", "-D")
	idle, ended := false, false
	eventually(t, "an idle node", func() bool {
		state, err := c.command("sinfo", "--noheader", "--format=%T").Output()
		idle, ended = err == nil && strings.TrimSpace(string(state)) == "idle", isIn(controller, "Z") || isIn(node, "Z")
		return idle || ended
	})
	if ended {
		_, _ = syscall.Kill(controller, syscall.SIGKILL), syscall.Kill(node, syscall.SIGKILL)
	}
	return !ended
}

// daemon starts a process that is ended with the test.
func (c cluster) daemon(t *testing.T, name string, args ...string) (pid int) {
	t.Helper()
	cmd := c.command(name, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		ended := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		ended.Stop()
	})
	return cmd.Process.Pid
}

func (c cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf"))
	return cmd
}

// run runs one of SLURM's commands, which must succeed, and returns its output.
func (c cluster) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := c.command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// task is a process of the test's cluster that has been stopped.
type task struct {
	pid     int
	job     string // as ARRAY_TASK: a task may have the number of its whole array
	logFile string
}

func (k task) send(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(k.pid, s); err != nil {
		t.Errorf("job %s: %v", k.job, err)
	}
}

// pending is whether a signal waits for the process.
func (k task) pending(t *testing.T, s syscall.Signal) bool {
	t.Helper()
	for line := range strings.Lines(read(t, fmt.Sprintf("/proc/%d/status", k.pid))) {
		if mask, ok := strings.CutPrefix(line, "ShdPnd:"); ok {
			signals, _ := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return signals&(1<<(s-1)) != 0
		}
	}
	return false
}

// Eight tasks build the shards of a yeast-scale dataset. One is killed for good, one is sent
// SIGTERM, one is requeued, as a preempting SLURM does. The killed one ends the chain, and the next
// chain completes it. There a task that verifies is interrupted. The dataset that comes out is that
// of one process.
func TestRebuildOnSLURM(t *testing.T) {
	skipShort(t)
	t.Parallel()
	c := startCluster(t)
	requests := t.TempDir()
	writeFiles(t, requests, map[string]string{"shards.0": "x", "shards.1": "x", "shards.2": "x", "verify.last": "x"})
	dir := filepath.Join(t.TempDir(), "100%j of it")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	submit := func(more ...string) outcome {
		cmd := program(t, "main", with([]string{"rebuild", "--config", "quickstart", "root=jobs", "samples=60000", "variants=[indices]",
			"--slurm", "--array", "8", "sbatch=[--account=lab,--cpus-per-task=2]",
			"export=[SLURM_TMPDIR=" + scratch + "," + modeVariable + "," + requestsVariable + "]"}, more...)...)
		cmd.Dir = dir
		// as if it ran inside a job, whose variables its jobs must not inherit
		cmd.Env = append(cmd.Env, "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf"), "SLURM_RESTART_COUNT=60", "SLURM_CPUS_PER_TASK=64",
			"SLURM_ARRAY_TASK_ID=99", "SLURM_TMPDIR=/gone", requestsVariable+"="+requests)
		return finish(t, start(t, cmd))
	}
	submitted := submit()
	if submitted.code != 0 || countLines(submitted.stdout) != 4 || !strings.Contains(submitted.stdout, "\nshards ") {
		t.Fatalf("got exit code %d, %q, %s", submitted.code, submitted.stdout, submitted.stderr)
	}
	ids := strings.Fields(submitted.stdout)
	if again := submit("shards=4"); again.code != 75 || !strings.Contains(again.stderr, ids[1]+" "+ids[3]) {
		t.Errorf("submitted twice: got exit code %d, %s", again.code, again.stderr)
	}

	ended := func() bool { return c.run(t, "squeue", "--noheader") == "" }
	tasks := stoppedTasks(t, requests, "shards", 3, ended)
	if len(tasks) < 3 {
		t.Fatalf("%d tasks have stopped\n%s", len(tasks), c.logs(dir))
	}
	killed, terminated, requeued := tasks[0], tasks[1], tasks[2]
	killed.send(t, syscall.SIGKILL)
	c.run(t, "scontrol", "requeue", requeued.job)
	c.run(t, "scancel", "--batch", "--signal=TERM", terminated.job)
	eventually(t, "SIGTERM", func() bool { return terminated.pending(t, syscall.SIGTERM) })
	terminated.send(t, syscall.SIGCONT)

	eventually(t, "the end of all jobs", ended)
	dataset := filepath.Join(dir, "jobs/quickstart")
	nothing(t, filepath.Join(dataset, "current"))
	logs, _ := filepath.Glob(filepath.Join(dataset, "slurm/000001-*", terminated.logFile))
	if len(logs) != 1 {
		t.Fatalf("no log %s\n%s", terminated.logFile, c.logs(dir))
	}
	log := read(t, logs[0])
	if !strings.Contains(log, "interrupted by SIGTERM") || !strings.Contains(log, "requeued") || !strings.Contains(log[strings.LastIndex(strings.TrimSpace(log), "\n"):], "shard done  variant=indices") {
		t.Errorf("the log of the task that was sent SIGTERM: got %s", log)
	}

	if o := submit(); o.code != 0 {
		t.Fatalf("got exit code %d, %s", o.code, o.stderr)
	}
	tasks = stoppedTasks(t, requests, "verify", 1, ended)
	if len(tasks) == 0 {
		t.Fatalf("no task verifies\n%s", c.logs(dir))
	}
	// the last task, whose job has the array's number: it alone is started again
	verifying := tasks[0]
	array, _, _ := strings.Cut(verifying.job, "_")
	eventually(t, "the end of the other tasks", func() bool {
		return countLines(c.run(t, "squeue", "--noheader", "--array", "--jobs="+array)) == 1
	})
	c.run(t, "scancel", "--batch", "--signal=USR1", array)
	eventually(t, "SIGUSR1", func() bool { return verifying.pending(t, syscall.SIGUSR1) })
	verifying.send(t, syscall.SIGCONT)
	eventually(t, "the end of all jobs", ended)
	current := filepath.Join(dataset, "current")
	if _, err := os.Stat(current); err != nil {
		t.Fatalf("%v\n%s", err, c.logs(dir))
	}
	must(t, dir, "dataset", "--mode", "indices", "--graph", current+"/input/graph", "--perturbations", current+"/input/perturbations.arrow",
		"--shards", "8", "--out", "alone")
	sameData(t, dataOf(t, current+"/indices"), dataOf(t, filepath.Join(dir, "alone")))
	logs, _ = filepath.Glob(filepath.Join(dataset, "slurm/000002-*", verifying.logFile))
	if len(logs) != 1 {
		t.Fatalf("no log %s\n%s", verifying.logFile, c.logs(dir))
	}
	if log := read(t, logs[0]); !strings.Contains(log, "requeued") || !strings.Contains(log, "interrupted by SIGUSR1") {
		t.Errorf("the log of the task that was sent SIGUSR1: got %s", log)
	}
	begun, _ := filepath.Glob(filepath.Join(requests, "began-verify-"+array+"_*"))
	if len(begun) != 9 {
		t.Errorf("got %d starts of tasks that verify, want one of each and one more of the last: %v", len(begun), begun)
	}
	if o := submit("shards=4"); o.code != 0 || !strings.Contains(o.stdout, "nothing to do") || countLines(o.stdout) != 1 {
		t.Errorf("submitted again: got %q %s", o.stdout, o.stderr)
	}
	if left, _ := filepath.Glob(filepath.Join(dataset, ".*-*-*")); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
}

// requestsVariable names a folder with requests to tasks to stop: STEP.0, STEP.1, …, or STEP.last
// to the last task of the array. A task of the step adds its process to the name of one, and stops
// itself. Each leaves a file there that it began.
const requestsVariable = "TCBUILD_TEST_REQUESTS"

// stopTask has this process stop itself if a request asks for it: one that builds when it has
// written a part of its shard, any other when it waits for signals.
func stopTask() {
	folder, step := os.Getenv(requestsVariable), strings.TrimPrefix(os.Args[len(os.Args)-1], "step=")
	if folder == "" {
		return
	}
	pid := strconv.Itoa(os.Getpid())
	requests, _ := filepath.Glob(filepath.Join(folder, step+".[0-9]"))
	if last := os.Getenv("SLURM_ARRAY_TASK_MAX"); last != "" && last == os.Getenv("SLURM_ARRAY_TASK_ID") {
		requests = append(requests, filepath.Join(folder, step+".last"))
	}
	_ = os.WriteFile(filepath.Join(folder, "began-"+step+"-"+rebuild.JobID()+"-"+pid), nil, 0o644)
	for _, request := range requests {
		if os.Rename(request, request+"."+pid) != nil {
			continue // taken by another one
		}
		if step == rebuild.JobShards {
			scratch := filepath.Join(os.Getenv("SLURM_TMPDIR"), pid)
			if err := os.Mkdir(scratch, 0o755); err != nil {
				panic(err)
			}
			os.Setenv("SLURM_TMPDIR", scratch)
			go stopAt(1<<20, scratch+"/*/*/data.mdb")
			return
		}
		ctx, _ := interruptible(context.Background())
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
	}
}

// stoppedTasks waits until some tasks of a step have stopped themselves. It returns fewer if all
// have ended.
func stoppedTasks(t *testing.T, requests, step string, count int, ended func() bool) (tasks []task) {
	t.Helper()
	eventually(t, "tasks that stop", func() bool {
		tasks = nil
		for _, taken := range glob(t, requests, step+".*.*") {
			if pid, _ := strconv.Atoi(filepath.Ext(taken)[1:]); isIn(pid, "T") {
				tasks = append(tasks, taskOf(t, pid, step))
			}
		}
		return len(tasks) == count || ended()
	})
	return tasks
}

// taskOf is the task of an array that a process runs.
func taskOf(t *testing.T, pid int, label string) task {
	t.Helper()
	environment := "\x00" + read(t, fmt.Sprintf("/proc/%d/environ", pid))
	of := func(name string) string {
		_, value, _ := strings.Cut(environment, "\x00SLURM_"+name+"=")
		value, _, _ = strings.Cut(value, "\x00")
		return value
	}
	job := of("ARRAY_JOB_ID") + "_" + of("ARRAY_TASK_ID")
	return task{pid, job, label + "-" + job + ".log"}
}

// logs are those of all jobs.
func (c cluster) logs(dir string) string {
	var all strings.Builder
	files, _ := filepath.Glob(filepath.Join(dir, "jobs/quickstart/slurm/*/*"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		all.WriteString(file + ":\n" + string(text))
	}
	return all.String()
}

// freePort is a TCP port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
