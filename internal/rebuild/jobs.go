package rebuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/internal/disk"
	"tcbuild/internal/slurm"
	"tcbuild/internal/versions"
	"tcbuild/store"
)

// Cluster says how a chain is submitted.
type Cluster struct {
	Array                   int // number of tasks that build shards
	Partition, GPUPartition string
	CPUs                    int      // of each job; 0: the cluster's default
	Sbatch                  []string // further options for all jobs
	// the program and its arguments; --step=JOB is appended to run one job's part
	Command []string
}

// The jobs of a submitted chain.
const (
	JobIncidence = "incidence"
	JobShards    = "shards"
	JobFinalize  = "finalize"
	JobVerify    = "verify"
)

// jobsOf lists the jobs of the chain, each with its last stage: "" for a job that runs to the end
// or, like JobShards, completes no stage. It omits jobs with nothing to do.
func jobsOf(chain *versions.Chain) (labels []string, last map[string]string) {
	last = make(map[string]string)
	sharded := false
	for _, stage := range chain.Stages {
		switch {
		case stage.Output == inputFolder || stage.Name == string(store.Incidence):
			last[JobIncidence] = stage.Name
		case !strings.HasPrefix(stage.Name, verifyPrefix):
			last[JobFinalize], sharded = stage.Name, true
		}
	}
	if last[JobIncidence] != "" {
		labels = append(labels, JobIncidence)
	}
	if sharded {
		labels = append(labels, JobShards, JobFinalize)
	}
	return append(labels, JobVerify), last
}

// LastStage is the stage of the chain that a job ends with; see versions.Chain.Run.
func LastStage(chain *versions.Chain, job string) string {
	_, last := jobsOf(chain)
	return last[job]
}

// Jobs returns the chain as jobs that run the cluster's command in the current folder.
func (o *Options) Jobs(chain *versions.Chain, plan *versions.Plan, cluster Cluster) ([]slurm.Job, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(chain.Dir)
	if err != nil {
		return nil, err
	}
	labels, _ := jobsOf(chain)
	jobs := make([]slurm.Job, len(labels))
	for i, label := range labels {
		job := &jobs[i]
		*job = slurm.Job{
			Name: fmt.Sprintf("tcbuild-%s-%.8s", o.Dataset, plan.Fingerprint), Label: label,
			Output:  filepath.Join(folder, logFolder, label+"-%j.log"),
			Options: cluster.options(label), Dir: dir,
			Command: append(slices.Clone(cluster.Command), "--step="+label),
			// finalize runs even if a task of the array was killed, and builds what is missing.
			Whatever: label == JobFinalize,
		}
		if i > 0 {
			job.After = labels[i-1 : i]
		}
	}
	return jobs, nil
}

// Submit submits the jobs of a plan and returns their ids by label. If they are already in the
// queue, it is a fault.Busy. The caller holds the chain's lock.
func Submit(ctx context.Context, chain *versions.Chain, plan *versions.Plan, jobs []slurm.Job) (ids map[string]string, err error) {
	queued, err := slurm.Queued(ctx, jobs[0].Name)
	if err != nil {
		return nil, err
	}
	if len(queued) > 0 {
		return nil, fault.New(fault.Busy, "wait for them, or cancel them: scancel --name="+jobs[0].Name,
			"rebuild %s: its jobs are already in the queue: %s", chain.Dir, strings.Join(queued, ", "))
	}
	if err := chain.Begin(plan); err != nil {
		return nil, err
	}
	logs := filepath.Join(chain.Dir, logFolder) // of this submission only
	if err := errors.Join(os.RemoveAll(logs), os.Mkdir(logs, 0o777)); err != nil {
		return nil, err
	}
	return slurm.Submit(ctx, jobs)
}

// logFolder is the folder of a dataset with the jobs' logs.
const logFolder = "slurm"

// options are the sbatch options of one job.
func (c *Cluster) options(label string) (options []string) {
	switch {
	case label == JobVerify && c.GPUPartition != "":
		options = append(options, "--partition="+c.GPUPartition, "--gres=gpu:1")
	case c.Partition != "":
		options = append(options, "--partition="+c.Partition)
	}
	if label == JobShards {
		options = append(options, fmt.Sprintf("--array=0-%d", c.Array-1))
	}
	if c.CPUs > 0 {
		options = append(options, fmt.Sprintf("--cpus-per-task=%d", c.CPUs))
	}
	return append(options, c.Sbatch...)
}

// BuildShards builds the shards of one task of the array, in every variant with shards. ready is
// the folder of a version that is already up to date.
func (o *Options) BuildShards(ctx context.Context, chain *versions.Chain) (ready string, err error) {
	task, tasks, err := slurm.ArrayTask()
	if err != nil {
		return "", err
	}
	release, err := chain.Lock(ctx, disk.Shared, true)
	if err != nil {
		return "", err
	}
	defer release()
	plan, err := chain.Plan(false)
	if err != nil {
		return "", err
	}
	if plan.Ready() != "" {
		return plan.Ready(), nil
	}
	if !plan.Begun() {
		return "", fault.New(fault.Usage, "submit the chain again",
			"build shards of %s: inputs, options or program changed since the chain was submitted", chain.Dir)
	}
	for _, step := range plan.Steps {
		if sharded := step.Stage == string(store.Indices) || step.Stage == string(store.FullMasks); !sharded || step.Action != versions.Run {
			continue
		}
		options := o.datasetOptions(step.Stage, plan.Building())
		options.Scratch = slurm.ScratchDir()
		for shard := task; shard < o.Build.Shards; shard += tasks {
			options.Shard = &shard
			if _, err := o.Commands.Build(ctx, options); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}
