package rebuild

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// Job is a job that waits or runs, or some tasks of an array.
type Job struct {
	ID     string // 17, 17_3 or 17_[4-7]
	Array  string // 17
	State  string // PENDING, RUNNING, …
	Reason string // why it waits, such as PartitionTimeLimit
	User   string
	Label  string // of JobLabels; "" if somebody has changed the job's comment
	Chain  string // name of the chain's folder; "" with Label

	mine bool
}

// jobName is the name of all jobs of a dataset, by which SLURM finds them. It begins with the
// dataset's name, and no other folder has it.
func jobName(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(",%:=@+/", r) || !isPlain(r) {
			return '_'
		}
		return r
	}, filepath.Base(path))
	return fmt.Sprintf("%s-%.4x", name, sha256.Sum256([]byte(path))), nil
}

// queueFormat is what squeue prints of a job: a comment may have any characters.
const queueFormat = "%i\t%F\t%T\t%r\t%u\t%U\t%k"

// Queue returns the jobs of a dataset that wait or run, whoever submitted them. If SLURM cannot be
// asked about a dataset that was submitted, the error is a fault.Busy.
func Queue(ctx context.Context, dir string) (jobs []Job, err error) {
	if !disk.Exists(filepath.Join(dir, chainsFolder)) {
		return nil, nil
	}
	name, err := jobName(dir)
	if err != nil {
		return nil, err
	}
	const unknown = "rebuild %s: a chain of it may be in the queue: %w"
	clusters, err := clustersOf(dir)
	if err != nil {
		return nil, err
	}
	out, err := command(ctx, clusters, "", "squeue", "--noheader", "--sort=i", "--format="+queueFormat, "--name="+name)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fault.New(fault.Busy, "run it where squeue is; if no job of the dataset is left, remove "+filepath.Join(dir, chainsFolder), unknown, dir, err)
	}
	if err != nil {
		return nil, fault.New(fault.Busy, "run it again when SLURM answers, see 'scontrol ping'", unknown, dir, err)
	}
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimSpace(line), "\t", 7)
		if len(fields) < 6 {
			continue // a comment of several lines, or the name of a cluster
		}
		job := Job{ID: fields[0], Array: fields[1], State: fields[2], Reason: fields[3], User: fields[4],
			mine: fields[5] == strconv.Itoa(os.Geteuid())}
		if words := strings.Fields(strings.Join(fields[6:], "")); len(words) > 1 && slices.Contains(JobLabels, words[0]) {
			job.Label, job.Chain = words[0], words[1]
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// clustersOf are the clusters that chains of a dataset were submitted to.
func clustersOf(dir string) (string, error) {
	chains, err := Chains(dir)
	var clusters []string
	for _, chain := range chains {
		if chain.Clusters != "" && !slices.Contains(clusters, chain.Clusters) {
			clusters = append(clusters, chain.Clusters)
		}
	}
	return strings.Join(clusters, ","), err
}

// busy is the error of whoever finds a chain in the queue.
func (c *Chain) busy(queue []Job) error {
	var ids, users []string
	giveUp := "or give it up: scancel"
	for _, job := range queue {
		ids, users = append(ids, job.Array), append(users, job.User)
		if !job.mine {
			giveUp = "or ask " + job.User
		}
	}
	ids, users = slices.Compact(ids), slices.Compact(slices.Sorted(slices.Values(users)))
	if giveUp == "or give it up: scancel" {
		giveUp += " " + strings.Join(ids, " ")
	}
	return fault.New(fault.Busy, "wait for it, queue after it with --slurm --after, "+giveUp,
		"rebuild %s: a chain of it is in the queue: jobs %s of %s", c.Dir, strings.Join(ids, " "), strings.Join(users, ", "))
}

// cancelIncomplete cancels this user's waiting jobs of chains without their last job, and returns
// the others: a submission was killed, or a job failed and SLURM has cancelled the ones after it.
// The caller holds the lock of submissions.
func (c *Chain) cancelIncomplete(ctx context.Context, queue []Job) (rest []Job, err error) {
	complete := map[string]bool{"": true}
	for _, job := range queue {
		if job.Label == JobFinalize {
			complete[job.Chain] = true
		}
	}
	var ids []string
	for _, job := range queue {
		if complete[job.Chain] || !job.mine || job.State != "PENDING" {
			rest = append(rest, job)
		} else if !slices.Contains(ids, job.Array) {
			ids = append(ids, job.Array)
		}
	}
	if len(ids) == 0 {
		return rest, nil
	}
	c.Log.Warn("cancelling the waiting jobs of an incomplete chain", "jobs", strings.Join(ids, " "))
	clusters, err := clustersOf(c.Dir)
	if err == nil {
		_, err = command(ctx, clusters, "", "scancel", append([]string{"--state=PENDING"}, ids...)...)
	}
	return rest, err
}

// JobID is the id of this process's job, "" outside of a job. That of a task is ARRAY_TASK, as
// SLURM gives the last task of an array the number of the whole array.
func JobID() string {
	if array := os.Getenv("SLURM_ARRAY_JOB_ID"); array != "" {
		return array + "_" + os.Getenv("SLURM_ARRAY_TASK_ID")
	}
	return os.Getenv("SLURM_JOB_ID")
}

// Requeue puts this process's job back into the queue, to be started again when it has ended, and
// reports whether it did. It does so only for a job that SLURM considers running: one that is being
// cancelled stays cancelled, and one that is preempted is requeued by SLURM itself.
func Requeue(ctx context.Context) (bool, error) {
	state, err := command(ctx, "", "", "squeue", "--noheader", "--format=%T", "--jobs="+JobID())
	if err != nil || state != "RUNNING" {
		return false, err
	}
	_, err = command(ctx, "", "", "scontrol", "requeue", JobID())
	return err == nil, err
}

// Restarts is how often SLURM has started this job again.
func Restarts() int { return number("SLURM_RESTART_COUNT") }

// CPUsPerTask is the number of CPU cores that SLURM gave the task, 0 if unknown.
func CPUsPerTask() int { return number("SLURM_CPUS_PER_TASK") }

func number(variable string) int {
	n, _ := strconv.Atoi(os.Getenv(variable))
	return n
}

// ofJob reports whether a variable, as NAME=VALUE, belongs to the job that this process runs in, or
// changes what SLURM's commands do, as SQUEUE_STATES does, which hides jobs. A job that this
// process submits gets its own.
func ofJob(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return strings.HasPrefix(name, "SLURM_") && name != "SLURM_CONF" && name != "SLURM_CLUSTERS" ||
		strings.HasPrefix(name, "SQUEUE_") || strings.HasPrefix(name, "SCANCEL_") || name == "SBATCH_ARRAY_INX" || name == "SBATCH_WAIT"
}

// command runs one of SLURM's commands and returns what it printed. clusters are those that it is
// for, "" for this machine's.
func command(ctx context.Context, clusters, stdin, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), ofJob)
	if clusters != "" {
		cmd.Env = append(cmd.Env, "SLURM_CLUSTERS="+clusters)
	}
	cmd.Stdin = strings.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal to this process's group is not meant for it
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fault.New(fault.Failed, "run it on a machine of the cluster, or omit --slurm",
			"run %s: %w", name, err)
	}
	if err != nil {
		return "", fault.New(fault.Failed, "see SLURM's message", "run %s %s: %w: %s", name, strings.Join(args, " "),
			err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
