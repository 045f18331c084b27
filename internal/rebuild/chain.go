package rebuild

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/disk"
)

// Chain is the stages of a named dataset.
type Chain struct {
	Dir     string // the dataset's folder: ROOT/DATASET
	Program string // its Identity
	Stages  []Stage
	Keep    int // versions to keep, at least 1
	Log     *slog.Logger
	Force   bool // run all stages: share none with the current version
	// what was submitted, in a job of it; nil in a process that runs the whole chain
	Submitted *Submitted
}

// Source is a file that stages read but no stage makes.
type Source struct {
	Name string // in fingerprints
	Path string
}

// Stage makes one file or folder of a version.
type Stage struct {
	Name   string // unique in the chain
	Output string // what it makes: a path inside the version
	// what determines the output, apart from sources, other stages and the program
	Options map[string]string
	Sources []Source // all files that it reads, and no others
	After   []string // stages before this one whose output it reads
	// Added are names of files that others may add to the output's folder, which change nothing.
	Added []string
	// Apart says that other processes make the output, between Prepare and Run; then Run only
	// checks it.
	Apart bool

	// Run makes the output in the folder of the unfinished version, and returns the files of its
	// sources as it read them: they must be those that the plan read. If the output already exists,
	// a Run with the same fingerprint was killed before it was recorded, and nobody has compared
	// what that Run read.
	Run func(ctx context.Context, version string) (read []inputfile.Input, err error)
}

// Result is what a run did.
type Result struct {
	Version   string // folder of the current version; "" after Prepare, and of a chain that was submitted
	Unchanged bool   // nothing was done, not even making the version current
	Ran       int    // stages that were run
}

// Run brings the chain up to date: it runs the missing stages and publishes the version. The caller
// holds the Lock.
//
// The next run continues a run that was interrupted or failed, for example, for lack of disk space.
// A run that failed because of its input, settings or verification leaves nothing behind.
func (c *Chain) Run(ctx context.Context) (*Result, error) {
	return c.run(ctx, true)
}

// Prepare runs the missing stages that are not Apart, and publishes nothing.
func (c *Chain) Prepare(ctx context.Context) (*Result, error) { return c.run(ctx, false) }

func (c *Chain) run(ctx context.Context, all bool) (*Result, error) {
	plan, err := c.Plan()
	if err != nil {
		return nil, err
	}
	if err := c.sweep(plan); err != nil {
		return nil, err
	}
	if plan.Ready != "" {
		return c.keep(plan)
	}
	if err := c.begin(plan); err != nil {
		return nil, err
	}
	result, err := c.runStages(ctx, plan, all)
	if err == nil && all {
		result.Version, err = c.publish(plan)
	}
	if err == nil {
		return result, nil
	}
	if kind := fault.KindOf(err); kind != fault.Failed && kind != fault.Busy { // another run cannot resume it
		c.leave(plan.building, c.discard(plan.building))
	}
	return nil, err
}

// keep makes the ready version current.
func (c *Chain) keep(plan *Plan) (*Result, error) {
	result := &Result{Version: plan.Ready, Unchanged: true}
	if plan.current == nil || plan.current.path != plan.Ready {
		result.Unchanged = false
		if err := c.makeCurrent(filepath.Base(plan.Ready)); err != nil {
			return nil, err
		}
	}
	c.prune()
	return result, nil
}

func (c *Chain) runStages(ctx context.Context, plan *Plan, all bool) (*Result, error) {
	result := &Result{}
	for i, step := range plan.Steps {
		if step.Action == Run && step.Apart && !all {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		start := time.Now()
		var err error
		switch step.Action {
		case Run:
			err = c.runStage(ctx, plan, step)
			result.Ran++
		case Link:
			err = c.link(plan, step.Stage)
		}
		if err == nil {
			err = plan.note(&plan.Steps[i])
		}
		if err != nil {
			return nil, err
		}
		c.Log.Info("stage "+step.Name, "action", step.Action, "why", step.Why, "seconds", fmt.Sprintf("%.3f", time.Since(start).Seconds()))
	}
	return result, nil
}

// runStage runs a stage. If the stage read other files than the plan, its output is removed, so
// that no later run mistakes it for the plan's.
func (c *Chain) runStage(ctx context.Context, plan *Plan, step Step) error {
	read, err := step.Run(ctx, plan.building)
	if err != nil {
		return err
	}
	if why := inputfile.Difference(step.record.Inputs, read); why != "" {
		return errors.Join(changed(why), c.discard(filepath.Join(plan.building, step.Output)))
	}
	return nil
}

// link reuses a stage's output from the current version. Published files never change, so versions
// share them.
func (c *Chain) link(plan *Plan, stage Stage) error {
	temporary, err := c.temporary()
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	whole := filepath.Join(temporary, "output")
	output := filepath.Join(plan.current.path, stage.Output)
	if err := linkTree(output, whole); err != nil {
		return fmt.Errorf("reuse %s: %w", output, err)
	}
	return os.Rename(whole, filepath.Join(plan.building, stage.Output))
}

// linkTree copies a file or folder with hard links; see disk.Link.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		copied := filepath.Join(to, name)
		if entry.IsDir() {
			return os.MkdirAll(copied, 0o777)
		}
		return disk.Link(path, copied)
	})
}

// Reads are the paths of the files that the stages read, and of the locks.
func (c *Chain) Reads() []string {
	paths := []string{filepath.Join(c.Dir, lockName), filepath.Join(c.Dir, submitLock)}
	for _, stage := range c.Stages {
		for _, source := range stage.Sources {
			paths = append(paths, source.Path)
		}
	}
	return paths
}

// lockName is the lock of the process, or of the tasks, that work on a version. submitLock is held,
// before it, by whoever runs or submits the chain.
const (
	lockName   = ".lock"
	submitLock = ".lock-submit"
)

// Begin locks the dataset for a run or a submission. If another one is at work, it fails at once
// with a fault.Busy, and so it does without after if a chain is in the queue. queue has its jobs.
func (c *Chain) Begin(ctx context.Context, after bool) (queue []Job, release func(), err error) {
	submitting, err := c.tryLock(submitLock, disk.Alone)
	if err != nil {
		return nil, nil, err
	}
	release = func() { submitting.Close() }
	if queue, err = Queue(ctx, c.Dir); err == nil {
		queue, err = c.cancelIncomplete(ctx, queue)
	}
	switch {
	case err != nil:
	case len(queue) > 0 && !after:
		err = c.busy(queue)
	case len(queue) == 0:
		working, lockErr := c.tryLock(lockName, disk.Alone)
		if err = lockErr; err == nil {
			release = func() { working.Close(); submitting.Close() }
		}
	}
	if err != nil {
		release()
	}
	return queue, release, err
}

// Lock waits for the lock of one process that works on a version (disk.Alone), or of parallel ones
// that build its shards (disk.Shared), until ctx is done. The lock ends with its process. On a node
// that froze it may outlive its job.
func (c *Chain) Lock(ctx context.Context, sharing disk.Sharing) (lock *os.File, err error) {
	err = c.whenFree(ctx, func() error {
		lock, err = c.tryLock(lockName, sharing)
		return err
	})
	return lock, err
}

func (c *Chain) tryLock(name string, sharing disk.Sharing) (*os.File, error) {
	if err := disk.CheckPlanted(c.Dir); err != nil {
		return nil, fmt.Errorf("rebuild %s: %w", c.Dir, err)
	}
	shareWithGroup(c.Dir)
	if err := os.MkdirAll(c.Dir, 0o777); err != nil {
		return nil, fmt.Errorf("rebuild %s: %w", c.Dir, err)
	}
	lock, err := disk.TryLock(filepath.Join(c.Dir, name), sharing)
	if errors.Is(err, disk.ErrLocked) {
		return nil, fault.New(fault.Busy, "wait until it is done", "rebuild %s: another rebuild of it is running", c.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("rebuild %s: %w", c.Dir, err)
	}
	return lock, nil
}

// whenFree tries again, until ctx is done, while another process is at work (fault.Busy).
func (c *Chain) whenFree(ctx context.Context, try func() error) error {
	for waited := false; ; waited = true {
		err := try()
		switch {
		case err == nil || fault.KindOf(err) != fault.Busy:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if !waited {
			c.Log.Info("waiting for another process to end", "why", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// shareWithGroup lets the group write to what this process makes, whatever its umask, if the folder
// is a group's: if it, or the nearest folder above that exists, has mode g+ws.
func shareWithGroup(dir string) {
	for path := filepath.Clean(dir); ; path = filepath.Dir(path) {
		var folder unix.Stat_t
		if unix.Stat(path, &folder) != nil && path != filepath.Dir(path) {
			continue
		}
		if folder.Mode&unix.S_ISGID != 0 && folder.Mode&unix.S_IWGRP != 0 {
			unix.Umask(unix.Umask(0) &^ 0o070)
		}
		return
	}
}
