package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/internal/rebuild"
)

// slurmOptions say whether the chain is submitted, or which of its jobs this is.
type slurmOptions struct {
	submit, after, again bool
	step                 string
	maxRestarts          int
	stallMinutes         float64
	order                rebuild.Order
}

func slurmFlags(cmd *cobra.Command, o *slurmOptions) {
	flags := cmd.Flags()
	flags.BoolVar(&o.submit, "slurm", false, "submit the chain to SLURM")
	flags.BoolVar(&o.after, "after", false,
		"with --slurm: if a chain of the dataset is queued, start after it instead of failing")
	flags.BoolVar(&o.again, "again", false, "with --slurm: submit a failed chain again, even if nothing has changed")
	flags.StringVar(&o.order.Array, "array", "",
		"number of tasks that build and verify shards, and, after %, how many may run at once: `8%4` (default 1)")
	flags.StringArrayVar(&o.order.Sbatch, "sbatch", nil, "sbatch `OPTIONS` for all jobs, such as --time=4:00:00")
	o.order.SbatchOf = make(map[string]*[]string)
	for _, label := range rebuild.JobLabels {
		o.order.SbatchOf[label] = flags.StringArray("sbatch-"+label, nil, "sbatch `OPTIONS` for the job "+label+"; they override those for all jobs")
	}
	flags.StringSliceVar(&o.order.Export, "export", nil,
		"environment `VARIABLES` for the jobs, NAME or NAME=VALUE, in addition to PATH, HOME and the locale")
	flags.StringArrayVar(&o.order.Prologue, "prologue", nil, "shell `LINES` to run at the start of each job, such as module load cuda; if one fails, so does the job")
	flags.StringVar(&o.order.Wrapper, "wrapper", "",
		"`COMMAND` that runs the program in jobs, such as apptainer exec IMAGE; paths must be the same inside it")
	flags.StringVar(&o.order.Clusters, "clusters", "", "cluster to submit the chain to: `NAME`, as in sbatch --clusters")
	flags.Float64Var(&o.stallMinutes, "stall-minutes", 60, "minutes without progress after which a job is restarted; 0: never")
	intFlag(flags, &o.maxRestarts, "max-restarts", 50, 0, "how often SLURM may restart a job after interruptions and lost nodes")
	choiceFlag(cmd, &o.step, "step", "", rebuild.JobLabels, "run one job of a submitted chain: "+strings.Join(rebuild.JobLabels, ", "))
}

// checkSlurm refuses conflicting settings of a chain, and fills in those that follow from others.
func (o *rebuildOptions) checkSlurm() (err error) {
	if o.root, err = filepath.Abs(o.root); err != nil {
		return err
	}
	if o.slurm.order.Array == "" {
		o.slurm.order.Array = strconv.Itoa(cmp.Or(o.build.Shards, 1))
	}
	tasks, _, err := o.slurm.order.Tasks()
	if err != nil {
		return err
	}
	o.build.Shards = cmp.Or(o.build.Shards, tasks)
	return nil
}

// show prints what would run and, of a chain, the job scripts.
func (o *rebuildOptions) show(ctx context.Context, e *env, chain *rebuild.Rebuild) error {
	plan, err := chain.Plan()
	if err != nil {
		return err
	}
	if err := printPlan(e, chain, plan); err != nil || !o.slurm.submit || plan.Ready != "" {
		return err
	}
	order, err := o.order(ctx, chain, plan)
	if err != nil {
		return err
	}
	text, err := chain.Describe(order)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(e.stdout, text)
	return err
}

// submit submits the chain, unless there is nothing to do.
func (o *rebuildOptions) submit(ctx context.Context, e *env, chain *rebuild.Rebuild, queue []rebuild.Job) (*rebuild.Result, error) {
	plan, err := chain.Plan()
	switch {
	case err != nil:
		return nil, err
	case plan.Ready != "":
		return chain.Run(ctx)
	}
	if !o.slurm.again {
		if err := chain.FailedBefore(plan); err != nil {
			return nil, err
		}
	}
	order, err := o.order(ctx, chain, plan)
	if err != nil {
		return nil, err
	}
	jobs, err := chain.Submit(ctx, plan, queue, order)
	if err != nil {
		return nil, err
	}
	for _, job := range jobs {
		e.log.Info("submitted", "job", job.Label, "id", job.Array, "folder", order.Folder)
		e.say(job.Label + " " + job.Array)
	}
	return &rebuild.Result{}, nil
}

// order is what submit submits. The settings of the jobs are those that were given, resolved.
func (o *rebuildOptions) order(ctx context.Context, chain *rebuild.Rebuild, plan *rebuild.Plan) (order rebuild.Order, err error) {
	order = o.slurm.order
	order.Jobs, order.Folder = chain.JobLabels(), chain.NextFolder(plan)
	chain.AskFor(ctx, &order)
	settings := make(map[string]any)
	o.given.VisitAll(func(flag *pflag.Flag) {
		if list, ok := flag.Value.(pflag.SliceValue); ok && flag.Changed {
			words := []string{}
			for _, word := range list.GetSlice() {
				words = append(words, escaped(word))
			}
			settings[settingOf(flag)] = words
		} else if flag.Changed {
			settings[settingOf(flag)] = escaped(flag.Value.String())
		}
	})
	for _, key := range []string{"config", "slurm", "after", "again", "if_busy", "log_file", "metrics_file"} {
		delete(settings, key) // of the submission
	}
	settings["root"], settings["dataset"], settings["shards"] = escaped(o.root), o.dataset, strconv.Itoa(o.build.Shards)
	if chain.Build.Perturbations != "" {
		settings["perturbations"] = escaped(chain.Build.Perturbations)
	}
	if o.ingest.Config != "" {
		settings[ingestSection] = map[string]string{"config": escaped(rebuild.IngestPath(order.Folder))}
		section, err := o.ingest.load()
		if err != nil {
			return order, err
		}
		if order.Ingest, err = section.Resolved(); err != nil {
			return order, err
		}
	}
	order.Settings, err = json.MarshalIndent(settings, "", "  ")
	order.Settings = append(order.Settings, '\n')
	return order, err
}

// escaped is a value that means itself in settings.
func escaped(value string) string { return strings.ReplaceAll(value, "${", `\${`) }

// runJob runs one job of a submitted chain. Interrupted, it has SLURM start it again; it notes why
// it failed.
func (o *rebuildOptions) runJob(ctx context.Context, e *env, chain *rebuild.Rebuild) (err error) {
	// SLURM ends a job that takes too long; one that ended itself early would not be requeued.
	mayEndLate.Store(true)
	if chain.Submitted, err = rebuild.SubmittedWith(e.config); err != nil {
		return err
	}
	if o.slurm.stallMinutes > 0 {
		o.endIfStalled(e, chain)
	}
	var result *rebuild.Result
	if n := rebuild.Restarts(); n > o.slurm.maxRestarts {
		err = fault.New(fault.Failed, "see its logs, then submit the chain again to continue",
			"rebuild %s: SLURM has restarted this job %d times, expected at most max_restarts=%d", chain.Dir, n, o.slurm.maxRestarts)
	} else {
		result, err = chain.RunJob(ctx, o.slurm.step)
	}
	switch {
	case err == nil && result != nil:
		return printRebuilt(e, chain, result)
	case err == nil:
		return nil
	case ctx.Err() == nil:
		return errors.Join(err, chain.Submitted.NoteFailure(o.slurm.step, err))
	}
	return o.requeue(ctx, e, exitReason(ctx, err))
}

// requeue has SLURM start this process's job again, for a reason that it returns.
func (o *rebuildOptions) requeue(ctx context.Context, e *env, reason error) error {
	if rebuild.JobID() == "" {
		return reason
	}
	// SLURM may be slow to answer, and sends SIGTERM to a job that it requeues. The log is to say
	// why the job ended, which takes less than SLURM's KillWait.
	signal.Ignore(unix.SIGTERM)
	again, err := rebuild.Requeue(context.WithoutCancel(ctx))
	switch {
	case o.slurm.order.Wrapper != "" && errors.Is(err, exec.ErrNotFound):
		err = nil // the job's script does it
	case again:
		e.log.Info("requeued", "job", rebuild.JobID())
	}
	return errors.Join(reason, err)
}

// endIfStalled ends this process, whatever it is doing, if it makes no progress for a while: a node
// or its file system hangs. SLURM starts the job again, on another node if it has one.
func (o *rebuildOptions) endIfStalled(e *env, chain *rebuild.Rebuild) {
	var last atomic.Int64 // when it made progress
	alive := func() { last.Store(time.Now().UnixNano()) }
	alive()
	start := chain.Progress
	chain.Progress = func(stage string, samples int) tcbuild.Progress {
		alive()
		return &seen{start(stage, samples), alive}
	}
	limit := time.Duration(o.slurm.stallMinutes * float64(time.Minute))
	go func() {
		for {
			idle := time.Duration(time.Now().UnixNano() - last.Load())
			if idle < limit {
				time.Sleep(limit - idle)
				continue
			}
			stalled := fault.New(fault.Busy, "see the node's and the file system's logs", "job %s has made no progress for %s", rebuild.JobID(), limit)
			err := o.requeue(context.Background(), e, stalled)
			printError(e.stderr, err)
			os.Exit(fault.ExitCode(err))
		}
	}()
}

// seen is a Progress that says when there is some.
type seen struct {
	tcbuild.Progress
	alive func()
}

func (s *seen) Add(samples int, bytes int64) {
	s.alive()
	s.Progress.Add(samples, bytes)
}
