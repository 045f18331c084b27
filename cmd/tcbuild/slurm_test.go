package main

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tcbuild/internal/testing/testrun"
)

// clusterPrefix begins the name of a cluster's folder.
const clusterPrefix = "tcbuild-slurm"

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
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
MailProg=%[2]s/mail
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
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=8 RealMemory=64000 State=UNKNOWN
PartitionName=only Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// startCluster starts the authentication, controller and node daemons, with their own ports,
// sockets and folders. Where .ci/run did not install them, the test is skipped.
func startCluster(t *testing.T) cluster {
	t.Helper()
	c, host := newCluster(t)
	for !c.startDaemons(t, host, "") {
	}
	return c
}

// newCluster makes the folders and starts the authentication.
func newCluster(t *testing.T) (c cluster, host string) {
	t.Helper()
	testrun.NeedPrograms(t, "munged", "slurmctld", "slurmd", "sbatch")
	if os.Getuid() != 0 {
		t.Skip("slurmd has to be started by root")
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	dir, err := os.MkdirTemp("", clusterPrefix) // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c = cluster{dir: dir}
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
	writeFiles(t, dir, map[string]string{"mail": "#!/bin/sh\necho \"$@\" >>" + dir + "/mails\n"})
	if err := os.Chmod(filepath.Join(dir, "mail"), 0o755); err != nil {
		t.Fatal(err)
	}
	return c, host
}

// startDaemons starts the controller and the node, and waits until both are ready. It returns false
// if one of them has ended, because another process has taken its port.
func (c cluster) startDaemons(t *testing.T, host, more string) bool {
	t.Helper()
	settings := fmt.Sprintf(slurmConf, host, c.dir, freePort(t), freePort(t)) + more
	writeFiles(t, c.dir, map[string]string{"slurm.conf": settings})
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

// daemon starts a process, and ends it with the test.
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

// submit submits a job and returns its number.
func (c cluster) submit(t *testing.T, dir string, environment []string, args ...string) string {
	t.Helper()
	cmd := c.command("sbatch", with([]string{"--parsable"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(environment, "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sbatch %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// ended waits until all jobs have ended.
func (c cluster) ended(t *testing.T) {
	t.Helper()
	eventually(t, "the end of all jobs", func() bool {
		return c.run(t, "squeue", "--noheader") == ""
	})
}

// A rebuild as one job is queued again, and continues, after SLURM's warning of its time limit; not
// after scancel. If it refuses its input, SLURM sends a mail.
func TestRebuildJobOnSLURM(t *testing.T) {
	skipShort(t)
	t.Parallel()
	c := startCluster(t)
	dir, environment := operations(t)
	must(t, dir, "synth", "--out", "big", "--scale", "yeast", "--samples", "60000")
	writeFiles(t, dir, map[string]string{
		"big.yaml": "root: data\ngraph: big/graph\nperturbations: big/perturbations.arrow\n" +
			"variants: [incidence, full-masks]\n",
		"bad.yaml": "root: data\ngraph: cell/graph\nperturbations: bad.tsv\n",
		"bad.tsv":  "genes\nnobody\n",
	})
	submit := func(config string) string {
		return c.submit(t, dir, environment, "--cpus-per-task=2", "--mem=0", "--output=%j.log",
			"--mail-user=ann", absolute(t, "../../conf/slurm/rebuild.sbatch"), config)
	}
	building := func() {
		t.Helper()
		const begun = "data/big/.build-*/full-masks.building/.build/plan.json"
		eventually(t, "a shard", func() bool { return len(glob(t, dir, begun)) > 0 })
	}
	id := submit("big.yaml")
	building()
	c.run(t, "scancel", id)
	c.ended(t)
	nothing(t, filepath.Join(dir, "data/big/current"))
	if log := read(t, filepath.Join(dir, id+".log")); !strings.Contains(log, "by SIGTERM") {
		t.Errorf("cancelled: got log %s", log)
	}
	id = submit("big.yaml")
	building()
	c.run(t, "scancel", "--batch", "--signal=USR1", id)
	c.ended(t)
	log := read(t, filepath.Join(dir, id+".log"))
	for _, want := range []string{"interrupted by SIGUSR1", "published"} {
		if !strings.Contains(log, want) {
			t.Errorf("got log %s, want %q in it", log, want)
		}
	}
	must(t, dir, "status", "data")
	submit("bad.yaml")
	c.ended(t)
	eventually(t, "a mail", func() bool {
		text, _ := os.ReadFile(filepath.Join(c.dir, "mails"))
		return strings.Contains(string(text), "Failed")
	})
	execute(t, dir, "status", "data/bad").prints(t, 4, "failed    rebuild with 3, ", "nobody")
}

// The script for arrays builds, verifies and publishes. After a part that failed no job waits for
// ever, and the next run of the script continues.
func TestArrayOnSLURM(t *testing.T) {
	skipShort(t)
	t.Parallel()
	c := startCluster(t)
	dir, environment := operations(t)
	run := func() {
		t.Helper()
		cmd := c.command(absolute(t, "../../conf/slurm/array.sh"), "my.yaml", "3", "--mem=100",
			"--cpus-per-task=1", "--output=%A-%a.log")
		cmd.Dir, cmd.Env = dir, append(environment, "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		c.ended(t)
	}
	good := read(t, filepath.Join(dir, "screen.arrow"))
	writeFiles(t, dir, map[string]string{"screen.arrow": "junk"})
	run()
	execute(t, dir, "status", "data").prints(t, 4, "build ", "with 3, ")
	writeFiles(t, dir, map[string]string{"screen.arrow": good})
	run()
	must(t, dir, "status", "data")
	must(t, dir, "verify", "data/my/current/incidence")
	logs := len(glob(t, dir, "*.log"))
	run()
	if jobs := len(glob(t, dir, "*.log")) - logs; jobs != 1 {
		t.Errorf("with nothing to build, it submits %d jobs, want one that publishes", jobs)
	}
	if out, ok := runIn(t, dir, environment, absolute(t, "../../conf/slurm/array.sh"), "my.yaml"); ok ||
		!strings.HasPrefix(out, "usage: ") {
		t.Errorf("without a number of parts: got %s", out)
	}
}

// Nextflow runs parts as SLURM jobs, and tries again one whose whole job was cancelled.
func TestNextflowOnSLURM(t *testing.T) {
	skipShort(t)
	t.Parallel()
	testrun.NeedPrograms(t, "nextflow")
	c := startCluster(t)
	dir, environment := operations(t)
	once := "#!/bin/bash\n[[ $* == *' build '*'--part 2/3'* ]] && mkdir failed && " +
		"{ scancel $SLURM_JOB_ID; sleep 1000; }\nPATH=${PATH#*:} exec tcbuild \"$@\"\n"
	writeFiles(t, dir, map[string]string{"once/tcbuild": once, "nextflow.config": "params " +
		"{ dataset = 'my'\n parts = 3 }\nprocess {\n queue = 'only'\n" +
		" withLabel: serial { cpus = 1 }\n}\n" +
		"executor { pollInterval = '1 sec'\n exitReadTimeout = '3 sec' }\n"})
	if err := os.Chmod(filepath.Join(dir, "once/tcbuild"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := environment[len(environment)-1]
	environment = append(environment, "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf"),
		strings.Replace(path, "PATH=", "PATH="+dir+"/once:", 1))
	out, ok := runIn(t, dir, environment, "nextflow", "run", absolute(t, nextflowScript),
		"-profile", "slurm")
	if !ok || !strings.Contains(out, "Execution is retried (1)") {
		t.Error(out)
	}
	must(t, dir, "verify", "data/my/current/incidence")
	must(t, dir, "status", "data")
}

// freePort returns a TCP port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
