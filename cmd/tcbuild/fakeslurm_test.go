package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

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
		"sinfo": "echo 64000\n", // the machine's own waits a minute for its controller
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

// execute runs a job as processes, on the machine of this SLURM.
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
	tasks := []string{task}
	array := s.array(t, id)
	if array != nil && task == "" {
		tasks = nil
		for i := '0'; i <= rune(array[1][0]); i++ {
			tasks = append(tasks, string(i))
		}
	}
	for _, task := range tasks {
		cmd := s.task(t, dir, id, task)
		cmd.Env = append(cmd.Env, more...)
		if last = finish(t, start(t, cmd)); last.code != 0 {
			break
		}
	}
	os.Remove(filepath.Join(s.dir, "queue", strconv.Itoa(id)))
	return last
}

// array is the last task of a job's array, or nil.
func (s fakeSLURM) array(t *testing.T, id int) []string {
	t.Helper()
	return regexp.MustCompile(`--array=0-(\d)`).FindStringSubmatch(read(t, s.script(id)))
}

func (s fakeSLURM) script(id int) string { return filepath.Join(s.dir, fmt.Sprintf("%d.sbatch", id)) }

// task is the process of a job's task.
func (s fakeSLURM) task(t *testing.T, dir string, id int, task string) *exec.Cmd {
	t.Helper()
	cmd := program(t, "main")
	cmd.Path, cmd.Args, cmd.Dir = "/bin/bash", []string{"bash", s.script(id)}, dir
	if array := s.array(t, id); array != nil {
		count, _ := strconv.Atoi(array[1])
		cmd.Env = append(cmd.Env, "SLURM_ARRAY_TASK_ID="+task, "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_MAX="+array[1],
			fmt.Sprintf("SLURM_ARRAY_TASK_COUNT=%d", count+1))
	}
	return cmd
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
