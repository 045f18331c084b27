package rebuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// A submitted chain has a folder DATASET/slurm/000003-3fa2c1d0 of its own, with the logs of its
// jobs and:
const (
	chainsFolder = "slurm"
	planName     = "plan.json"     // what was submitted: Submitted
	settingsName = "settings.json" // the settings of its jobs, resolved
	ingestName   = "ingest.yaml"   // those of the section ingest, resolved
	failureName  = "failed.json"   // Failure
)

// keptChains is how many chains keep their folder, for their logs.
const keptChains = 20

// The jobs of a chain, in order.
const (
	JobIncidence = "incidence"
	JobShards    = "shards"
	JobVerify    = "verify"
	JobFinalize  = "finalize"
)

// JobLabels lists the jobs.
var JobLabels = []string{JobIncidence, JobShards, JobVerify, JobFinalize}

// Submitted is the plan of a submitted chain, which its first and its last job compare with theirs.
type Submitted struct {
	Fingerprint string   `json:"fingerprint"`
	Program     string   `json:"program"`
	Stages      []Record `json:"stages"`

	Folder string `json:"-"`
}

// SubmittedWith reads the chain whose settings a job was given.
func SubmittedWith(settings string) (*Submitted, error) {
	s := &Submitted{Folder: filepath.Dir(settings)}
	if err := disk.ReadJSON(filepath.Join(s.Folder, planName), s); err != nil {
		return nil, fault.New(fault.Usage, "step is for the jobs of 'tcbuild rebuild --slurm'",
			"read the chain of --config %s: %w", settings, err)
	}
	return s, nil
}

// Chains are the chains of a dataset that were submitted, oldest first.
func Chains(dir string) (all []*Submitted, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, chainsFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if s, err := SubmittedWith(filepath.Join(dir, chainsFolder, entry.Name(), settingsName)); err == nil {
			all = append(all, s)
		}
	}
	return all, err
}

// Published reports whether there is a version of the submitted plan.
func (s *Submitted) Published() bool {
	dir := filepath.Dir(filepath.Dir(s.Folder))
	_, names, _ := Folders(dir)
	return slices.ContainsFunc(names, func(name string) bool { return readVersion(filepath.Join(dir, name)).is(s.Stages) })
}

// Failure is how a job failed.
type Failure struct {
	Job      string `json:"job"`
	Log      string `json:"log"`
	Error    string `json:"error"`
	Hint     string `json:"hint,omitempty"`
	ExitCode int    `json:"exit_code"`
}

// Failure is the failure that a job has noted; nil if none has.
func (s *Submitted) Failure() *Failure {
	var f Failure
	if disk.ReadJSON(filepath.Join(s.Folder, failureName), &f) != nil {
		return nil
	}
	return &f
}

// NoteFailure notes how this process's job failed. What will happen again whenever the chain is
// submitted stays noted.
func (s *Submitted) NoteFailure(label string, err error) error {
	if f := s.Failure(); f != nil && f.recurs() {
		return nil
	}
	return disk.WriteJSON(filepath.Join(s.Folder, failureName), Failure{
		Job: label, Log: filepath.Join(s.Folder, label+"-"+JobID()+".log"), Error: err.Error(), Hint: fault.HintOf(err), ExitCode: fault.ExitCode(err),
	})
}

// err is the failure as an error of its kind.
func (f *Failure) err() error { return fault.FromRun(f.ExitCode, f.Error, nil) }

// recurs reports whether the same plan fails again: because of its input, or of what verification
// found.
func (f *Failure) recurs() bool {
	kind := fault.KindOf(f.err())
	return kind == fault.Input || kind == fault.Damaged
}

// LastLine is the last line of the log that was written last, and the log: how a job ended that
// could not note it.
func (s *Submitted) LastLine() (line, log string) {
	entries, _ := os.ReadDir(s.Folder)
	var last fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && filepath.Ext(entry.Name()) == ".log" && (last == nil || info.ModTime().After(last.ModTime())) {
			last = info
		}
	}
	if last == nil {
		return "", ""
	}
	log = filepath.Join(s.Folder, last.Name())
	text, _ := disk.ReadRegular(log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1], log
}

// Cluster says how a chain is submitted.
type Cluster struct {
	Array                   string // tasks that build and verify shards, and how many run at once: 8 or 8%4
	Partition, GPUPartition string
	GRES                    string               // of the verification on the GPU partition
	CPUs                    int                  // of each job; 0: the cluster's default
	Sbatch                  []string             // further options for all jobs
	SbatchOf                map[string]*[]string // and for one job, by its label
	Export                  []string             // further variables of the jobs' environment: NAME or NAME=VALUE
}

// Tasks is the number of tasks of an array, and the text behind it: "" or %4.
func (c *Cluster) Tasks() (tasks int, atOnce string, err error) {
	number, limit, limited := strings.Cut(c.Array, "%")
	tasks, err = strconv.Atoi(number)
	if limited && err == nil {
		var most int
		if most, err = strconv.Atoi(limit); most < 1 {
			tasks = 0
		}
		atOnce = "%" + limit
	}
	if err != nil || tasks < 1 {
		return 0, "", fault.New(fault.Usage, "give a number of tasks, and how many run at once if not all: 8 or 8%4",
			"read --array: found %q, expected 1 or more", c.Array)
	}
	return tasks, atOnce, nil
}

// Order is a chain to submit.
type Order struct {
	Cluster
	Jobs     []string // their labels
	Folder   string   // NextFolder
	Settings []byte   // of the jobs
	Ingest   []byte   // of their section ingest; nil without one
}

// IngestPath is where the section ingest of a chain's settings will be. Settings refer to it.
func IngestPath(folder string) string { return filepath.Join(folder, ingestName) }

// NextFolder is the folder of the chain that is submitted next for a plan.
func (c *Chain) NextFolder(plan *Plan) string {
	folder, number := filepath.Join(c.Dir, chainsFolder), 0
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		var n int
		if _, err := fmt.Sscanf(entry.Name(), "%06d-", &n); err == nil {
			number = max(number, n)
		}
	}
	return filepath.Join(folder, fmt.Sprintf("%06d-%.8s", number+1, plan.Fingerprint))
}

// FailedBefore is an error if the last chain with this plan failed in a way that will happen again.
func (c *Chain) FailedBefore(plan *Plan) error {
	chains, err := Chains(c.Dir)
	for _, s := range slices.Backward(chains) {
		if s.Fingerprint != plan.Fingerprint {
			continue
		}
		f := s.Failure()
		switch {
		case f == nil:
			return nil
		case !f.recurs():
			c.Log.Warn("the last chain failed", "job", f.Job, "error", f.Error, "log", f.Log)
			return nil
		}
		again := "nothing is submitted until inputs, settings or the program change; --again submits it all the same"
		return fault.New(fault.KindOf(f.err()), strings.TrimPrefix(f.Hint+"; "+again, "; "),
			"rebuild %s: its last chain failed in the job %s, see %s: %s", c.Dir, f.Job, f.Log, f.Error)
	}
	return err
}

// Submit submits a chain behind the jobs of queue, and returns its jobs. Each starts when the one
// before has succeeded. If one cannot be submitted, those before it are cancelled. The caller holds
// the locks of Begin.
func (c *Chain) Submit(ctx context.Context, plan *Plan, queue []Job, order Order) (jobs []Job, err error) {
	batches, err := c.batches(order)
	if err != nil {
		return nil, err
	}
	if len(queue) == 0 {
		if err := c.sweep(plan); err != nil {
			return nil, err
		}
		if !plan.resumed {
			if err := c.discard(plan.building); err != nil {
				return nil, err
			}
		}
	}
	if err := c.pruneChains(queue); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(order.Folder, 0o777); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, withdraw(ctx, jobs), os.RemoveAll(order.Folder))
		}
	}()
	submitted := Submitted{Fingerprint: plan.Fingerprint, Program: c.Program, Stages: plan.records()}
	err = disk.WriteJSON(filepath.Join(order.Folder, planName), submitted)
	if err == nil {
		err = os.WriteFile(filepath.Join(order.Folder, settingsName), order.Settings, 0o666)
	}
	if err == nil && order.Ingest != nil {
		err = os.WriteFile(IngestPath(order.Folder), order.Ingest, 0o666)
	}
	if err != nil {
		return nil, err
	}
	var before []string
	for _, job := range queue { // all: the last chain may be cancelled before the others have ended
		before = append(before, job.Array)
	}
	dependency := dependencyOn("afterany", slices.Compact(before))
	for _, batch := range batches {
		// an option of the script alone would lose against a variable such as SBATCH_PARTITION
		out, err := command(ctx, batch.script(), "sbatch", slices.Concat([]string{"--parsable"}, dependency, batch.options)...)
		if err != nil {
			return jobs, err
		}
		id, _, _ := strings.Cut(out, ";") // a cluster's name may follow
		jobs = append(jobs, Job{Label: batch.label, Array: id})
		dependency = dependencyOn("afterok", []string{id})
	}
	return jobs, nil
}

// withdraw cancels jobs that were submitted.
func withdraw(ctx context.Context, jobs []Job) error {
	if len(jobs) == 0 {
		return nil
	}
	var ids []string
	for _, job := range jobs {
		ids = append(ids, job.Array)
	}
	_, err := command(context.WithoutCancel(ctx), "", "scancel", ids...)
	return err
}

// pruneChains removes the folders of chains that ended long ago.
func (c *Chain) pruneChains(queue []Job) error {
	all, err := Chains(c.Dir)
	for _, s := range all[:max(0, len(all)-keptChains)] {
		if !slices.ContainsFunc(queue, func(job Job) bool { return job.Chain == filepath.Base(s.Folder) }) {
			c.leave(s.Folder, os.RemoveAll(s.Folder))
		}
	}
	return err
}

// Describe shows the commands and scripts that Submit would run.
func (c *Chain) Describe(order Order) (string, error) {
	batches, err := c.batches(order)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var dependency []string
	for _, batch := range batches {
		words := strings.Join(append([]string{"sbatch --parsable"}, dependency...), " ")
		fmt.Fprintf(&b, "# %s=$(%s %s.sbatch), with this %s.sbatch:\n%s\n", batch.label, words, batch.label, batch.label, batch.script())
		dependency = dependencyOn("afterok", []string{"$" + batch.label})
	}
	return b.String() + "# with these settings.json:\n" + string(order.Settings) + string(order.Ingest), nil
}

// dependencyOn is sbatch's option for jobs to wait for, if there are any.
func dependencyOn(kind string, ids []string) []string {
	if len(ids) == 0 {
		return nil
	}
	return []string{"--dependency=" + kind + ":" + strings.Join(ids, ":")}
}

// batch is a job to submit.
type batch struct {
	label        string
	options      []string // of sbatch
	dir, command string
}

// script is the job as a batch script. The program replaces the shell, so that it receives the
// signals that SLURM sends to the batch shell: SIGTERM, and SIGUSR1 two minutes before a time limit
// or a preemption.
func (b batch) script() string {
	var script strings.Builder
	script.WriteString("#!/bin/bash\n")
	for _, option := range b.options {
		fmt.Fprintf(&script, "#SBATCH %s\n", quote(option))
	}
	fmt.Fprintf(&script, "cd %s || exit 1\nexec %s\n", quote(b.dir), b.command)
	return script.String()
}

// exported are the variables that jobs take from the submitting process. SLURM's own would be wrong
// in them, if that is a job.
var exported = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "SLURM_CONF"}

// batches are the jobs of an order.
func (c *Chain) batches(order Order) (batches []batch, err error) {
	tasks, atOnce, err := order.Tasks()
	name, nameErr := jobName(c.Dir)
	dir, dirErr := os.Getwd()
	program, programErr := os.Executable()
	if err := errors.Join(err, nameErr, dirErr, programErr); err != nil {
		return nil, err
	}
	for _, label := range order.Jobs {
		log, array := filepath.Join(order.Folder, label), "-%j.log"
		if label == JobShards || label == JobVerify {
			array = "-%A_%a.log"
		}
		options := []string{
			"--job-name=" + name,
			"--comment=" + label + " " + filepath.Base(order.Folder) + " " + c.Dir,
			"--output=" + strings.ReplaceAll(log, "%", "%%") + array, // else a pattern
			"--open-mode=append", "--requeue", "--signal=B:USR1@120", "--kill-on-invalid-dep=yes",
			"--export=" + strings.Join(slices.Concat(exported, order.Export), ","),
		}
		if label == JobShards || label == JobVerify {
			options = append(options, fmt.Sprintf("--array=0-%d%s", tasks-1, atOnce))
		}
		words := []string{program, "rebuild", "--config", filepath.Join(order.Folder, settingsName), "step=" + label}
		for i, word := range words {
			words[i] = quote(word)
		}
		batches = append(batches, batch{label, append(options, order.options(label)...), dir, strings.Join(words, " ")})
	}
	return batches, nil
}

// options are the sbatch options of one job; later ones win.
func (c *Cluster) options(label string) (options []string) {
	partition := c.Partition
	if label == JobVerify {
		partition = cmp.Or(c.GPUPartition, partition)
	}
	if partition != "" {
		options = append(options, "--partition="+partition)
	}
	if label == JobVerify && c.GPUPartition != "" && c.GRES != "" {
		options = append(options, "--gres="+c.GRES)
	}
	if c.CPUs > 0 {
		options = append(options, fmt.Sprintf("--cpus-per-task=%d", c.CPUs))
	}
	return slices.Concat(options, c.Sbatch, *c.SbatchOf[label])
}

// quote quotes a word for a shell, and for sbatch's comments.
func quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !isPlain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// isPlain reports whether a character means itself to a shell.
func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=./:,@%", r)
}
