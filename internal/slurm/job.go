// Package slurm submits chains of jobs to the workload manager SLURM, and reads the resources that
// SLURM gave a job. Queueing, placing and restarting jobs is left to SLURM.
package slurm

import (
	"fmt"
	"strings"
)

// Job is a batch job that runs one command.
type Job struct {
	Name    string
	Output  string   // file for the command's output, with sbatch's patterns
	Options []string // of sbatch: --partition=cpu
	Dir     string   // where the command is run
	Command []string
	After   []string // labels of jobs that must run before
	Label   string   // of this job, unique in its chain

	// Whatever starts the job once those of After have ended in any way, not only if all succeeded.
	Whatever bool
}

// Script is the job as a batch script. The command replaces the shell, so that it receives the
// signals that SLURM sends to the batch shell: SIGTERM, and SIGUSR1 two minutes before a time limit
// or a preemption.
func (j Job) Script() string {
	var b strings.Builder
	b.WriteString("#!/bin/bash\n")
	options := append([]string{
		"--job-name=" + j.Name, "--output=" + j.Output, "--open-mode=append", "--requeue", "--signal=B:USR1@120", "--kill-on-invalid-dep=yes",
	}, j.Options...)
	for _, option := range options {
		fmt.Fprintf(&b, "#SBATCH %s\n", quote(option))
	}
	fmt.Fprintf(&b, "cd %s || exit 1\nexec", quote(j.Dir))
	for _, word := range j.Command {
		b.WriteString(" " + quote(word))
	}
	b.WriteString("\n")
	return b.String()
}

// dependency is sbatch's option for After, "" if the job waits for none. id returns the job of a
// label.
func (j Job) dependency(id func(label string) string) string {
	if len(j.After) == 0 {
		return ""
	}
	kind := "afterok"
	if j.Whatever {
		kind = "afterany"
	}
	for _, label := range j.After {
		kind += ":" + id(label)
	}
	return "--dependency=" + kind
}

// Describe writes a chain as the commands and scripts that Submit would run.
func Describe(jobs []Job) string {
	var b strings.Builder
	for _, job := range jobs {
		words := "sbatch --parsable"
		if dependency := job.dependency(func(label string) string { return "$" + label }); dependency != "" {
			words += " " + dependency
		}
		fmt.Fprintf(&b, "# %s=$(%s %s.sbatch), with this %s.sbatch:\n%s\n", job.Label, words, job.Label, job.Label, job.Script())
	}
	return b.String()
}

// quote quotes a word for a shell, and for sbatch's comments.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=./:,@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
