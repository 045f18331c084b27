package slurm

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"

	"tcbuild/fault"
)

// Submit submits a chain and returns the job ids by label. If a job cannot be submitted, it cancels
// those before it.
func Submit(ctx context.Context, jobs []Job) (map[string]string, error) {
	ids := make(map[string]string)
	for _, job := range jobs {
		args := []string{"--parsable"}
		if dependency := job.dependency(func(label string) string { return ids[label] }); dependency != "" {
			args = append(args, dependency)
		}
		out, err := command(ctx, job.Script(), "sbatch", args...)
		if err != nil {
			for _, id := range ids {
				_, cancelErr := command(ctx, "", "scancel", id)
				err = errors.Join(err, cancelErr)
			}
			return nil, err
		}
		id, _, _ := strings.Cut(out, ";") // a cluster's name may follow
		ids[job.Label] = id
	}
	return ids, nil
}

// Queued returns the ids of the user's pending and running jobs with a name.
func Queued(ctx context.Context, name string) ([]string, error) {
	out, err := command(ctx, "", "squeue", "--me", "--noheader", "--format=%A", "--name="+name)
	return strings.Fields(out), err
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

// command runs one of SLURM's commands and returns what it printed.
func command(ctx context.Context, stdin, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal to this process's group is not meant for it
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fault.New(fault.Failed, "run it on a machine of the cluster, or omit --slurm", "run %s: %w", name, err)
	}
	if err != nil {
		return "", fault.New(fault.Failed, "see SLURM's message", "run %s %s: %w: %s", name, strings.Join(args, " "),
			err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
