package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tcbuild/fault"
	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
	"tcbuild/internal/slurm"
	"tcbuild/store"
)

// slurmOptions say how a chain is submitted, and which part of it a job runs.
type slurmOptions struct {
	submit, dryRun          bool
	array                   int
	partition, gpuPartition string
	cpus                    int
	sbatch                  []string
	step                    string
}

// The jobs of a submitted chain, which are also the values of --step.
const (
	stepIncidence = "incidence"
	stepShards    = "shards"
	stepFinalize  = "finalize"
	stepVerify    = "verify"
)

func (o *slurmOptions) flags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.submit, "slurm", false, "submit the chain to SLURM")
	flags.BoolVar(&o.dryRun, "slurm-dry-run", false, "print the job scripts without submitting them")
	flags.IntVar(&o.array, "array", 0, "number of tasks that build shards in parallel (default 1)")
	flags.StringVar(&o.partition, "partition", "", "SLURM `PARTITION` of the jobs")
	flags.StringVar(&o.gpuPartition, "gpu-partition", "", "SLURM `PARTITION` of the verification, which then runs on a GPU")
	flags.IntVar(&o.cpus, "cpus-per-task", 0, "CPU cores of each job (default: the cluster's default)")
	flags.StringArrayVar(&o.sbatch, "sbatch", nil, "another sbatch `OPTION` for all jobs, as in --sbatch=--time=4:00:00")
	flags.StringVar(&o.step, "step", "", "run one job's part of a submitted chain: incidence, shards, finalize or verify")
}

// used reports whether the chain runs as SLURM jobs.
func (o *slurmOptions) used() bool { return o.submit || o.dryRun || o.step != "" }

// steps lists the jobs of the chain, each with its last stage: "" for a job that runs to the end
// or, like shards, completes no stage. Jobs with nothing to do are left out.
func (o *rebuildOptions) steps(chain *rebuild.Chain) (labels []string, last map[string]string) {
	last = make(map[string]string)
	sharded := false
	for _, stage := range chain.Stages {
		switch {
		case stage.Output == inputOutput || stage.Name == string(store.Incidence):
			last[stepIncidence] = stage.Name
		case !strings.HasPrefix(stage.Name, verifyPrefix):
			last[stepFinalize], sharded = stage.Name, true
		}
	}
	if last[stepIncidence] != "" {
		labels = append(labels, stepIncidence)
	}
	if sharded {
		labels = append(labels, stepShards, stepFinalize)
	}
	return append(labels, stepVerify), last
}

// submit submits the chain, unless there is nothing to do or it is already in the queue.
func (o *rebuildOptions) submit(ctx context.Context, e *env, chain *rebuild.Chain) error {
	plan, err := chain.Plan(o.force)
	if err != nil {
		return err
	}
	jobs, err := o.jobs(chain, plan)
	if err != nil {
		return err
	}
	if o.slurm.dryRun {
		_, err := fmt.Fprint(e.stdout, slurm.Describe(jobs))
		return err
	}
	release, err := chain.Lock(ctx, disk.Alone, false)
	if err != nil {
		return err
	}
	defer release()
	if plan.Ready() != "" {
		result, err := chain.Run(ctx, "", false)
		if err != nil {
			return err
		}
		return printRebuilt(e, chain, o.variants, result)
	}
	queued, err := slurm.Queued(ctx, jobs[0].Name)
	if err != nil {
		return err
	}
	if len(queued) > 0 {
		return fault.New(fault.Busy, "wait for them, or cancel them: scancel --name="+jobs[0].Name,
			"rebuild %s: its jobs are already in the queue: %s", chain.Dir, strings.Join(queued, ", "))
	}
	if err := chain.Begin(plan); err != nil {
		return err
	}
	logs := filepath.Join(chain.Dir, logFolder) // of this submission only
	if err := errors.Join(os.RemoveAll(logs), os.Mkdir(logs, 0o777)); err != nil {
		return err
	}
	ids, err := slurm.Submit(ctx, jobs)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		e.say(job.Label + " " + ids[job.Label])
	}
	return nil
}

// jobs is the chain as jobs that run this same command with --step.
func (o *rebuildOptions) jobs(chain *rebuild.Chain, plan *rebuild.Plan) ([]slurm.Job, error) {
	program, err1 := os.Executable()
	dir, err2 := os.Getwd()
	folder, err3 := filepath.Abs(chain.Dir)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	arguments := slices.DeleteFunc(slices.Clone(os.Args[1:]),
		func(word string) bool { return word == "--slurm" || word == "--slurm-dry-run" })
	labels, _ := o.steps(chain)
	jobs := make([]slurm.Job, len(labels))
	for i, label := range labels {
		job := &jobs[i]
		*job = slurm.Job{
			Name: fmt.Sprintf("tcbuild-%s-%.8s", o.dataset, plan.Fingerprint), Label: label,
			Output:  filepath.Join(folder, logFolder, label+"-%j.log"),
			Options: o.slurm.options(label), Dir: dir,
			Command: slices.Concat([]string{program}, arguments, []string{"--step=" + label}),
			// finalize runs even if a task of the array was killed, and builds what is missing.
			Whatever: label == stepFinalize,
		}
		if i > 0 {
			job.After = labels[i-1 : i]
		}
	}
	return jobs, nil
}

// logFolder is the folder of a dataset with the jobs' logs.
const logFolder = "slurm"

// options are the sbatch options of one job.
func (o *slurmOptions) options(label string) (options []string) {
	switch {
	case label == stepVerify && o.gpuPartition != "":
		options = append(options, "--partition="+o.gpuPartition, "--gres=gpu:1")
	case o.partition != "":
		options = append(options, "--partition="+o.partition)
	}
	if label == stepShards {
		options = append(options, fmt.Sprintf("--array=0-%d", o.array-1))
	}
	if o.cpus > 0 {
		options = append(options, fmt.Sprintf("--cpus-per-task=%d", o.cpus))
	}
	return append(options, o.sbatch...)
}

// buildShards builds one array task's shards, in every variant that has shards.
func (o *rebuildOptions) buildShards(ctx context.Context, e *env, chain *rebuild.Chain) error {
	task, tasks, err := slurm.ArrayTask()
	if err != nil {
		return err
	}
	release, err := chain.Lock(ctx, disk.Shared, true)
	if err != nil {
		return err
	}
	defer release()
	plan, err := chain.Plan(false)
	if err != nil {
		return err
	}
	if plan.Ready() != "" {
		e.say(describeReady(chain, plan.Ready()))
		return nil
	}
	if !plan.Begun() {
		return fault.New(fault.Usage, "submit the chain again",
			"build shards of %s: inputs, options or program changed since the chain was submitted", chain.Dir)
	}
	for _, step := range plan.Steps {
		if sharded := step.Stage == string(store.Indices) || step.Stage == string(store.FullMasks); !sharded || step.Action != rebuild.Run {
			continue
		}
		options := o.datasetOptions(step.Stage, plan.Building())
		options.Scratch = slurm.ScratchDir()
		for shard := task; shard < o.build.Shards; shard += tasks {
			options.Shard = &shard
			if err := runBuild(ctx, e, options, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// requeued has SLURM start this job again, if it was interrupted and can be resumed.
func (o *slurmOptions) requeued(ctx context.Context, e *env, err error) error {
	if err == nil || ctx.Err() == nil || o.step == "" || slurm.JobID() == "" {
		return err
	}
	mayEndLate.Store(true) // SLURM may be slow to answer
	again, requeueErr := slurm.Requeue(context.WithoutCancel(ctx), slurm.JobID())
	if again {
		e.log.Info("requeued", "job", slurm.JobID())
	}
	return errors.Join(err, requeueErr)
}
