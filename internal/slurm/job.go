// Package slurm submits chains of jobs to the workload manager SLURM, and reads the resources that
// SLURM gave a job. Queueing, placing and restarting jobs is left to SLURM.
package slurm

import (
	"fmt"
	"strings"
)

// Job is a batch job that runs one command.
type Job struct {
	Name, Comment string
	Log           string   // file for the command's output
	Tasks         string   // --array=Tasks: "0-7%4"; "": one task
	Options       []string // of sbatch: --partition=cpu
	Dir           string   // where the command is run
	Command       []string
	Label         string // of this job, unique in its chain
}

// Script is the job as a batch script. The command replaces the shell, so that it receives the
// signals that SLURM sends to the batch shell: SIGTERM, and SIGUSR1 two minutes before a time limit
// or a preemption.
func (j Job) Script() string {
	var b strings.Builder
	b.WriteString("#!/bin/bash\n")
	for _, option := range j.options() {
		fmt.Fprintf(&b, "#SBATCH %s\n", quote(option))
	}
	fmt.Fprintf(&b, "cd %s || exit 1\nexec", quote(j.Dir))
	for _, word := range j.Command {
		b.WriteString(" " + quote(word))
	}
	b.WriteString("\n")
	return b.String()
}

// options are all options of sbatch.
func (j Job) options() []string {
	log := strings.ReplaceAll(j.Log, "%", "%%") // else a pattern
	options := []string{"--job-name=" + j.Name, "--comment=" + j.Comment}
	if j.Tasks == "" {
		options = append(options, "--output="+log+"-%j.log")
	} else {
		options = append(options, "--output="+log+"-%A_%a.log", "--array="+j.Tasks)
	}
	options = append(options, "--open-mode=append", "--requeue", "--signal=B:USR1@120", "--kill-on-invalid-dep=yes")
	return append(options, j.Options...)
}

// Describe writes a chain as the commands and scripts that Submit would run. after are the jobs
// that it waits for.
func Describe(jobs []Job, after []string) string {
	var b strings.Builder
	before := dependency("afterany", after)
	for _, job := range jobs {
		words := strings.Join(append([]string{"sbatch --parsable"}, before...), " ")
		fmt.Fprintf(&b, "# %s=$(%s %s.sbatch), with this %s.sbatch:\n%s\n", job.Label, words, job.Label, job.Label, job.Script())
		before = dependency("afterok", []string{"$" + job.Label})
	}
	return b.String()
}

// dependency is sbatch's option for jobs to wait for, if there are any.
func dependency(kind string, ids []string) []string {
	if len(ids) == 0 {
		return nil
	}
	return []string{"--dependency=" + kind + ":" + strings.Join(ids, ":")}
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
