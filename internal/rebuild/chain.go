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
	// Redact removes secrets from a text.
	Redact  func(text string) string
	Forward bool // make the newest version current, even if an operator went back to an older one

	damage string // of the current version, which then shares nothing; "": none
	parts  int    // in which the work is cut; 0: before a plan, any number; after it, none
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
	// Apart: other processes may make the output, between Prepare and Publish.
	Apart bool

	// Run makes the output in the folder of the unfinished version, and returns the files of its
	// sources as it read them: they must be those that the plan read. If the output already exists,
	// a Run with the same fingerprint was killed before it was recorded, and nobody has compared
	// what that Run read.
	Run func(ctx context.Context, version string) (read []inputfile.Input, err error)
}

// Result is what a run did.
type Result struct {
	Version   string // folder of the current version; "" if this process did not get so far
	Unchanged bool   // nothing was done, not even making the version current
	Ran       int    // stages that were run
}

// Run brings the chain up to date: it runs the missing stages and publishes the version. The caller
// holds the lock alone. The result is never nil.
//
// The next run continues a run that was interrupted or failed, for example, for lack of disk space.
// A run that failed because of its input, settings or verification leaves nothing behind.
func (c *Chain) Run(ctx context.Context) (*Result, error) {
	plan, err := c.Plan()
	if err != nil {
		return &Result{}, err
	}
	return c.carryOut(ctx, plan)
}

// carryOut is Run with a plan.
func (c *Chain) carryOut(ctx context.Context, plan *Plan) (*Result, error) {
	result := &Result{}
	held, err := c.sweepLeftovers(plan)
	switch {
	case err != nil:
		return result, err
	case held:
		return &Result{Version: plan.current.path, Unchanged: true}, nil
	case plan.Ready != "":
		return c.makeReadyCurrent(plan)
	}
	err = c.runStages(ctx, plan, true, result)
	if err == nil {
		result.Version, err = c.publish(plan)
	}
	if err != nil {
		return result, c.discardUnlessResumable(plan, err)
	}
	return result, c.clearDamage(plan, result.Version)
}

// sweepLeftovers removes what killed runs left. held says that an operator keeps current at an
// older version.
func (c *Chain) sweepLeftovers(plan *Plan) (held bool, err error) {
	c.parts = plan.unfinished.Parts
	resumed := ""
	if plan.Ready == "" {
		resumed = plan.unfinished.path
	}
	if err := c.sweep(resumed); err != nil {
		return false, err
	}
	return c.isHeldBack(plan)
}

// discardUnlessResumable discards the unfinished version after an error that another run cannot
// overcome, and returns the error.
func (c *Chain) discardUnlessResumable(plan *Plan, err error) error {
	if kind := fault.KindOf(err); err != nil && kind != fault.Failed && kind != fault.Busy {
		c.warnIfLeft(plan.unfinished.path, c.discard(plan.unfinished.path))
	}
	return err
}

// makeReadyCurrent makes the ready version current, unless it is already.
func (c *Chain) makeReadyCurrent(plan *Plan) (*Result, error) {
	result := &Result{Version: plan.Ready, Unchanged: true}
	if plan.current == nil || plan.current.path != plan.Ready {
		result.Unchanged = false
		if err := c.makeCurrent(filepath.Base(plan.Ready)); err != nil {
			return result, err
		}
	}
	c.prune()
	return result, nil
}

// runStages runs or links the missing stages, but without all none that is Apart.
func (c *Chain) runStages(ctx context.Context, plan *Plan, all bool, result *Result) error {
	if err := c.createBuilding(plan); err != nil {
		return err
	}
	for i, step := range plan.Steps {
		if step.Action == Run && step.Apart && !all {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return err
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
			err = plan.recordDone(&plan.Steps[i])
		}
		if err != nil {
			return err
		}
		c.Log.Info("stage "+step.Name, "action", step.Action, "why", step.Why, "seconds",
			fmt.Sprintf("%.3f", time.Since(start).Seconds()))
	}
	return nil
}

// runStage runs a stage. If the stage read other files than the plan, its output is removed, so
// that no later run mistakes it for the plan's.
func (c *Chain) runStage(ctx context.Context, plan *Plan, step Step) error {
	read, err := step.Run(ctx, plan.unfinished.path)
	if err != nil {
		return err
	}
	for i := range read {
		read[i].Name = c.Redact(read[i].Name)
	}
	if why := inputfile.Difference(step.record.Inputs, read); why != "" {
		return errors.Join(changed(why),
			c.discard(filepath.Join(plan.unfinished.path, step.Output)))
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
	return os.Rename(whole, filepath.Join(plan.unfinished.path, stage.Output))
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

// lockName is the file that the process, or the parts, at work on a version lock.
const lockName = ".lock"

// Lock locks a dataset's folder, which it creates, for one process (disk.Alone) or for several that
// work on parts (disk.Shared). If others are at work, it fails with a fault.Busy. The lock ends
// with its process. On a node that froze it may outlive its job.
func Lock(dir string, sharing disk.Sharing) (*os.File, error) {
	if _, err := disk.Resolve(dir + "/" + lockName); err != nil {
		return nil, fmt.Errorf("rebuild %s: %w", dir, err)
	}
	shareWithGroup(dir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("rebuild %s: %w", dir, err)
	}
	lock, err := lockBriefly(filepath.Join(dir, lockName), sharing, lockPatience)
	if errors.Is(err, disk.ErrLocked) {
		return nil, fault.New(fault.Busy, "wait until it is done; 'tcbuild status' shows what runs",
			"rebuild %s: another rebuild of it is running", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("rebuild %s: %w", dir, err)
	}
	return lock, nil
}

// lockPatience is longer than 'tcbuild status' and 'tcbuild clean' hold a lock to test it.
const lockPatience = 300 * time.Millisecond

// lockBriefly takes a lock, or gives up after a while with disk.ErrLocked.
func lockBriefly(path string, sharing disk.Sharing, patience time.Duration) (*os.File, error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		lock, err := disk.TryLock(path, sharing)
		if !errors.Is(err, disk.ErrLocked) || time.Now().After(deadline) {
			return lock, err
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
