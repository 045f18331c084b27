package slurm

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"tcbuild/fault"
)

// Submit submits jobs, each of which starts when the one before has succeeded, and the first when
// those of after have ended. It calls submitted with the ids so far; no job starts before all are
// submitted. If one cannot be, those before it are cancelled.
func Submit(ctx context.Context, jobs []Job, after []string, submitted func(ids []string) error) (err error) {
	var ids []string
	defer func() {
		if err != nil && len(ids) > 0 {
			_, cancelErr := command(context.WithoutCancel(ctx), "", "scancel", ids...)
			err = errors.Join(err, cancelErr)
		}
	}()
	args := append([]string{"--parsable", "--hold"}, dependency("afterany", after)...)
	for _, job := range jobs {
		// an option of the script alone would lose against a variable such as SBATCH_PARTITION
		out, err := command(ctx, job.Script(), "sbatch", append(args, job.options()...)...)
		if err != nil {
			return err
		}
		id, _, _ := strings.Cut(out, ";") // a cluster's name may follow
		ids = append(ids, id)
		if err := submitted(ids); err != nil {
			return err
		}
		args = append([]string{"--parsable"}, dependency("afterok", []string{id})...)
	}
	_, err = command(ctx, "", "scontrol", "release", ids[0])
	return err
}

// State is that of a job, or of some tasks of one.
type State struct {
	ID    string // 17, 17_3 or 17_[4-7]
	State string // PENDING, RUNNING, FAILED, …
}

// Queue returns which of some jobs, of any user, wait or run.
func Queue(ctx context.Context, ids []string) ([]State, error) {
	return states(ctx, ids)
}

// States returns the states of some jobs, of any user, also of those that have ended, for the
// minutes that SLURM remembers them.
func States(ctx context.Context, ids []string) ([]State, error) {
	return states(ctx, ids, "--states=all")
}

func states(ctx context.Context, ids []string, more ...string) (jobs []State, err error) {
	args := append([]string{"--noheader", "--format=%i %T", "--jobs=" + strings.Join(ids, ",")}, more...)
	out, err := command(ctx, "", "squeue", args...)
	if err != nil && strings.Contains(err.Error(), "Invalid job id") {
		return nil, nil // SLURM forgets jobs some minutes after their end
	}
	for line := range strings.Lines(out) {
		id, state, _ := strings.Cut(strings.TrimSpace(line), " ")
		jobs = append(jobs, State{id, state})
	}
	return jobs, err
}

// Requeue puts a job back into the queue, to be started again when it has ended, and reports
// whether it did. It does so only for a job that SLURM considers running: one that is being
// cancelled stays cancelled, and one that is preempted is requeued by SLURM itself.
func Requeue(ctx context.Context, jobID string) (bool, error) {
	state, err := command(ctx, "", "squeue", "--noheader", "--format=%T", "--jobs="+jobID)
	if err != nil || state != "RUNNING" {
		return false, err
	}
	_, err = command(ctx, "", "scontrol", "requeue", jobID)
	return err == nil, err
}

// changesCommands reports whether a variable, as NAME=VALUE, changes what the commands do beyond
// what their options say, such as SQUEUE_STATES, which hides jobs.
func changesCommands(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return strings.HasPrefix(name, "SQUEUE_") || strings.HasPrefix(name, "SCANCEL_") || name == "SBATCH_ARRAY_INX" || name == "SBATCH_WAIT"
}

// command runs one of SLURM's commands and returns what it printed.
func command(ctx context.Context, stdin, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), changesCommands)
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
