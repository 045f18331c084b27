package main

import (
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
)

// cluster is a SLURM for only this machine, which ends with the test.
type cluster struct {
	dir string
}

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
	writeFiles(t, dir, map[string]string{"munge/key": string(key), "slurm.conf": fmt.Sprintf(`ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge/socket,cred_expire=5
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
KillWait=5
SchedulerParameters=sched_interval=1,bf_interval=1
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdLogFile=%[2]s/slurmd.log
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=only Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`, host, dir, freePort(t), freePort(t))})
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
	c.daemon(t, "slurmctld", "-D")
	c.daemon(t, "slurmd", "-D")
	eventually(t, "an idle node", func() bool {
		state, err := c.command("sinfo", "--noheader", "--format=%T").Output()
		return err == nil && strings.TrimSpace(string(state)) == "idle"
	})
	return c
}

// daemon starts a process that is ended with the test.
func (c cluster) daemon(t *testing.T, name string, args ...string) {
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
// SIGTERM, one is requeued, as a preempting SLURM does. The dataset that comes out is that of one
// process.
func TestRebuildOnSLURM(t *testing.T) {
	skipShort(t)
	t.Parallel()
	c := startCluster(t)
	scratch := t.TempDir()
	dir := t.TempDir()
	submit := func() outcome {
		cmd := program(t, "main", "rebuild", "--config", "quickstart", "root=jobs", "samples=60000", "method=incidence", "variants=[indices]",
			"--slurm", "--array", "8", "--cpus-per-task", "2")
		cmd.Dir = dir
		// the jobs inherit them
		cmd.Env = append(cmd.Env, "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf"), "SLURM_TMPDIR="+scratch)
		return finish(t, start(t, cmd))
	}
	submitted := submit()
	if submitted.code != 0 || countLines(submitted.stdout) != 4 || !strings.Contains(submitted.stdout, "\nshards ") {
		t.Fatalf("got exit code %d, %q, %s", submitted.code, submitted.stdout, submitted.stderr)
	}
	again := submit()
	if again.code != 75 {
		t.Errorf("submitted twice: got exit code %d, %s", again.code, again.stderr)
	}

	tasks := stopThreeTasks(t, scratch)
	killed, terminated, requeued := tasks[0], tasks[1], tasks[2]
	killed.send(t, syscall.SIGKILL)
	c.run(t, "scontrol", "requeue", requeued.job)
	c.run(t, "scancel", "--batch", "--signal=TERM", terminated.job)
	await(t, time.Minute, "SIGTERM", func() bool { return terminated.pending(t, syscall.SIGTERM) })
	terminated.send(t, syscall.SIGCONT)

	await(t, 5*time.Minute, "the end of all jobs", func() bool { return c.run(t, "squeue", "--noheader") == "" })
	current := filepath.Join(dir, "jobs/quickstart/current")
	if _, err := os.Stat(current); err != nil {
		t.Fatalf("%v\n%s", err, c.logs(dir))
	}
	log := read(t, filepath.Join(dir, "jobs/quickstart/slurm", terminated.logFile))
	if !strings.Contains(log, "interrupted by SIGTERM") || !strings.Contains(log, "requeued") || !strings.HasSuffix(log, "this shard is complete; others are not\n") && !strings.Contains(log, "indices variant") {
		t.Errorf("the log of the task that was sent SIGTERM: got %s", log)
	}

	must(t, dir, "dataset", "--mode", "indices", "--graph", current+"/input/graph", "--perturbations", current+"/input/perturbations.arrow",
		"--shards", "8", "--out", "alone")
	sameData(t, dataOf(t, current+"/indices"), dataOf(t, filepath.Join(dir, "alone")))
	if o := submit(); o.code != 0 || !strings.Contains(o.stdout, "nothing to do") || countLines(o.stdout) != 1 {
		t.Errorf("submitted again: got %q", o.stdout)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "jobs/quickstart/.*-*")); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
}

// stopThreeTasks stops the processes of three tasks, each with its shard on scratch half written.
func stopThreeTasks(t *testing.T, scratch string) (tasks []task) {
	t.Helper()
	stopped := map[int]bool{}
	await(t, time.Minute, "tasks that build shards", func() bool {
		for pid := range writers(scratch) {
			if stopped[pid] || len(tasks) == 3 || syscall.Kill(pid, syscall.SIGSTOP) != nil {
				continue
			}
			if !writers(scratch)[pid] {
				syscall.Kill(pid, syscall.SIGCONT)
				continue
			}
			stopped[pid] = true
			environment := read(t, fmt.Sprintf("/proc/%d/environ", pid))
			of := func(name string) string {
				_, value, _ := strings.Cut(environment, "\x00SLURM_"+name+"=")
				value, _, _ = strings.Cut(value, "\x00")
				return value
			}
			tasks = append(tasks, task{pid, of("ARRAY_JOB_ID") + "_" + of("ARRAY_TASK_ID"), "shards-" + of("JOB_ID") + ".log"})
		}
		return len(tasks) == 3
	})
	return tasks
}

// writers are the processes that have a file below a folder open.
func writers(folder string) map[int]bool {
	pids := map[int]bool{}
	open, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, link := range open {
		if file, _ := os.Readlink(link); strings.HasPrefix(file, folder+"/") {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			pids[pid] = true
		}
	}
	return pids
}

// logs are those of all jobs.
func (c cluster) logs(dir string) string {
	var all strings.Builder
	files, _ := filepath.Glob(filepath.Join(dir, "jobs/quickstart/slurm/*"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		all.WriteString(file + ":\n" + string(text))
	}
	return all.String()
}

// await is eventually with its own time limit.
func await(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: it never came", what)
		}
	}
}

// freePort is a TCP port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
