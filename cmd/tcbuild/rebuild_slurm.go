package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
	"tcbuild/internal/slurm"
	"tcbuild/internal/versions"
)

// slurmOptions say whether the chain is submitted, or which part of it a job runs.
type slurmOptions struct {
	submit, dryRun, after bool
	step                  string
	maxRestarts           int
	perStep               [4][]string // of rebuild.JobLabels
	rebuild.Cluster
}

// used reports whether the chain runs as SLURM jobs.
func (o *slurmOptions) used() bool { return o.submit || o.dryRun || o.step != "" }

func slurmFlags(flags *pflag.FlagSet, o *slurmOptions) {
	flags.BoolVar(&o.submit, "slurm", false, "submit the chain to SLURM")
	flags.BoolVar(&o.dryRun, "slurm-dry-run", false, "print the job scripts without submitting them")
	flags.BoolVar(&o.after, "after", false,
		"with --slurm: if a chain of the dataset is in the queue, wait behind it, in place of an error")
	flags.StringVar(&o.Array, "array", "",
		"number of tasks that build and verify shards in parallel, and how many run at once if not all: `8%4` (default 1)")
	flags.StringVar(&o.Partition, "partition", "", "SLURM `PARTITION` of the jobs")
	flags.StringVar(&o.GPUPartition, "gpu-partition", "", "SLURM `PARTITION` of the verification, which then runs on GPUs")
	flags.StringVar(&o.GRES, "gres", "gpu:1",
		"what each task of the verification asks for on the --gpu-partition: `gpu:a100:1`; empty: nothing")
	flags.IntVar(&o.CPUs, "cpus-per-task", 0, "CPU cores of each job (default: the cluster's default)")
	flags.StringArrayVar(&o.Sbatch, "sbatch", nil, "another sbatch `OPTION` for all jobs, as in --sbatch=--time=4:00:00")
	for i, label := range rebuild.JobLabels {
		flags.StringArrayVar(&o.perStep[i], "sbatch-"+label, nil, "another sbatch `OPTION` for the job "+label)
	}
	flags.IntVar(&o.maxRestarts, "max-restarts", 50, "how often SLURM may start a job again after interruptions and lost nodes")
	flags.StringVar(&o.step, "step", "", "run one job's part of a submitted chain: "+strings.Join(rebuild.JobLabels, ", "))
}

// checkSlurm refuses conflicting settings of a chain, and fills in those that follow from others.
func (o *rebuildOptions) checkSlurm() (err error) {
	if o.root, err = filepath.Abs(o.root); err != nil {
		return err
	}
	if o.slurm.Array == "" {
		o.slurm.Array = strconv.Itoa(cmp.Or(o.build.Shards, 1))
	}
	tasks, _, err := o.slurm.Tasks()
	if err != nil {
		return err
	}
	o.build.Shards = cmp.Or(o.build.Shards, tasks)
	if o.slurm.GPUPartition != "" && o.device == "cpu" {
		o.device = "cuda"
	}
	o.slurm.SbatchOf = make(map[string][]string)
	for i, label := range rebuild.JobLabels {
		o.slurm.SbatchOf[label] = o.slurm.perStep[i]
	}
	return nil
}

// begin locks the dataset for a run or a submission. It fails if another one is running or if,
// without --after, a chain is in the queue.
func (o *rebuildOptions) begin(ctx context.Context, chain *versions.Chain) (release func() error, err error) {
	var held []func() error
	release = func() (err error) {
		for _, each := range held {
			err = errors.Join(err, each())
		}
		return err
	}
	take := func(lock func() error, err error) error {
		if err == nil {
			held = append(held, lock)
		}
		return err
	}
	waiting, err := o.waiting(ctx, chain) // also for who may not lock
	if err == nil && o.slurm.submit {
		if err = take(chain.LockSubmissions(ctx)); err == nil {
			waiting, err = o.waiting(ctx, chain)
		}
	}
	if err == nil && !waiting {
		err = take(chain.Lock(ctx, disk.Alone, false))
	}
	if err == nil && !o.slurm.submit { // one may have been submitted meanwhile
		_, err = o.waiting(ctx, chain)
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// waiting reports whether a chain of the dataset is in the queue. Without --after that is an error.
func (o *rebuildOptions) waiting(ctx context.Context, chain *versions.Chain) (bool, error) {
	waiting, err := rebuild.Waiting(ctx, chain.Dir)
	if err == nil && len(waiting) > 0 && !o.slurm.after {
		err = waiting[0].Busy(chain.Dir)
	}
	return len(waiting) > 0, err
}

// describe prints the job scripts.
func (o *rebuildOptions) describe(e *env, options *rebuild.Options, chain *versions.Chain) error {
	_, folder, order, err := o.order(options, chain)
	if err != nil {
		return err
	}
	text, err := options.Describe(folder, order)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(e.stdout, text)
	return err
}

// order is what submit submits. The settings of the jobs are those that were given, resolved.
func (o *rebuildOptions) order(options *rebuild.Options, chain *versions.Chain) (
	plan *versions.Plan, folder string, order rebuild.Order, err error) {
	if plan, err = chain.Plan(); err != nil {
		return nil, "", order, err
	}
	if folder, err = rebuild.NextFolder(chain, plan); err != nil {
		return nil, "", order, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, "", order, err
	}
	order = rebuild.Order{Cluster: o.slurm.Cluster, Command: []string{program, "rebuild"}}
	if order.Dir, err = os.Getwd(); err != nil {
		return nil, "", order, err
	}
	settings := givenSettings(o.given)
	for _, key := range []string{"slurm", "slurm_dry_run", "after", "log_file", "log_keep", "metrics_file"} {
		delete(settings, key) // of the submission
	}
	settings["root"], settings["dataset"], settings["shards"] = o.root, o.dataset, strconv.Itoa(o.build.Shards)
	if options.Build.Perturbations != "" {
		settings["perturbations"] = escaped(options.Build.Perturbations)
	}
	settings["root"] = escaped(o.root)
	if o.ingest.Config != "" {
		settings[ingestSection] = map[string]string{"config": escaped(rebuild.IngestPath(folder))}
		if order.Ingest, err = o.ingest.resolved(); err != nil {
			return nil, "", order, err
		}
	}
	order.Settings, err = json.MarshalIndent(settings, "", "  ")
	order.Settings = append(order.Settings, '\n')
	return plan, folder, order, err
}

// givenSettings are the flags that were given, on the command line or in settings, as settings.
func givenSettings(flags *pflag.FlagSet) map[string]any {
	settings := make(map[string]any)
	flags.VisitAll(func(flag *pflag.Flag) {
		key := strings.ReplaceAll(flag.Name, "-", "_")
		if !flag.Changed || key == "config" {
			return
		}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			words := []string{}
			for _, word := range list.GetSlice() {
				words = append(words, escaped(word))
			}
			settings[key] = words
			return
		}
		settings[key] = escaped(flag.Value.String())
	})
	return settings
}

// escaped is a value that means itself in settings.
func escaped(value string) string { return strings.ReplaceAll(value, "${", `\${`) }

// submit submits the chain, unless there is nothing to do.
func (o *rebuildOptions) submit(ctx context.Context, e *env, options *rebuild.Options, chain *versions.Chain,
	journal *rebuild.Journal) (err error) {
	var result *versions.Result
	defer func() { err = errors.Join(err, journal.End(exitReason(ctx, err), result)) }()
	plan, folder, order, err := o.order(options, chain)
	if err != nil {
		return err
	}
	if plan.Ready() != "" {
		if result, err = chain.Run(ctx); err != nil {
			return err
		}
		return printRebuilt(e, chain, o.variants, result)
	}
	submitted, err := options.Submit(ctx, chain, plan, folder, order)
	if err != nil {
		return err
	}
	result = &versions.Result{}
	e.log.Info("submitted", "jobs", strings.Join(submitted.IDs(), " "), "folder", folder)
	for _, job := range submitted.Jobs {
		e.say(job.Label + " " + job.ID)
	}
	return nil
}

// runStep runs one job's part of a submitted chain.
func (o *rebuildOptions) runStep(ctx context.Context, e *env, options *rebuild.Options, chain *versions.Chain) error {
	// SLURM ends a job that takes too long; one that ended itself early would not be requeued.
	mayEndLate.Store(true)
	submitted, err := rebuild.SubmissionOf(e.config)
	if err != nil {
		return err
	}
	if n := slurm.Restarts(); n > o.slurm.maxRestarts {
		return fault.New(fault.Failed, "see its logs, then submit the chain again: it goes on",
			"rebuild %s: SLURM has started this job again %d times, expected at most --max-restarts %d", chain.Dir, n, o.slurm.maxRestarts)
	}
	chain.Pin = submitted.Pin
	switch o.slurm.step {
	case rebuild.JobShards:
		return options.BuildShards(ctx, chain)
	case rebuild.JobVerify:
		return options.VerifyShards(ctx, chain)
	}
	release, err := chain.Lock(ctx, disk.Alone, true)
	if err != nil {
		return err
	}
	defer release()
	if err := chain.Check(); err != nil {
		return err
	}
	run := chain.Prepare
	if o.slurm.step == rebuild.JobFinalize {
		run = chain.Run
	}
	result, err := run(ctx)
	if err != nil {
		return err
	}
	if o.slurm.step == rebuild.JobFinalize {
		if err := submitted.End(true); err != nil {
			return err
		}
	}
	return printRebuilt(e, chain, o.variants, result)
}

// requeued has SLURM start this job again, if it was interrupted and can be resumed.
func (o *slurmOptions) requeued(ctx context.Context, e *env, err error) error {
	if err == nil || ctx.Err() == nil || slurm.JobID() == "" {
		return err
	}
	err = exitReason(ctx, err)
	if n := slurm.Restarts(); n >= o.maxRestarts {
		return fault.New(fault.Busy, "submit the chain again: it goes on",
			"%w, and not requeued: SLURM has started this job again %d times, expected less than --max-restarts %d", err, n, o.maxRestarts)
	}
	// SLURM may be slow to answer, and sends SIGTERM to a job that it requeues. The log is to say
	// why the job ended, which takes less than SLURM's KillWait.
	signal.Ignore(unix.SIGTERM)
	again, requeueErr := slurm.Requeue(context.WithoutCancel(ctx), slurm.JobID())
	if again {
		e.log.Info("requeued", "job", slurm.JobID())
	}
	return errors.Join(err, requeueErr)
}
