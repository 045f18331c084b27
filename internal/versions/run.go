// Package versions makes versions of a named dataset by a chain of stages, and runs only those
// stages whose inputs, options or program have changed since the current version.
//
//	NAME/000007-3fa2c1d0/   a version: the stages' outputs, and version.json with their inputs
//	NAME/current            -> 000007-3fa2c1d0, a symbolic link to the newest version
//	NAME/.build-3fa2c1d0…/  an unfinished version, named by the fingerprint of its chain
//	NAME/.tmp-…             left by a killed run; the next one removes it
//	NAME/.lock              held by the active run
//
// A version gets its name after all stages, including verification, and never changes afterwards.
// current is replaced by a rename, so it names a complete version at every moment.
package versions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
)

// Chain is the stages of a named dataset.
type Chain struct {
	Dir     string // the dataset's folder: ROOT/NAME
	Program string // version of the program
	Stages  []Stage
	Keep    int // versions to keep, at least 1
	Log     *slog.Logger
	Force   bool // run all stages: share none with the current version
	// what several processes that run the chain together have to find; nil for a process that runs
	// it alone
	Pin *Pin
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
	Run func(ctx context.Context, version string) (read []Input, err error)
}

// Result is what a run did.
type Result struct {
	Version   string // folder of the current version, "" after Prepare
	Unchanged bool   // nothing was done, not even making the version current
	Ran       int    // stages that were run
	Kept      int    // stages whose output was reused
}

// Run brings the chain up to date: it runs the missing stages and publishes the version. The caller
// holds the Lock.
//
// The next run continues a run that was interrupted or failed, for example, for lack of disk space.
// A run that failed because of its input, settings or verification leaves nothing behind.
func (c *Chain) Run(ctx context.Context) (*Result, error) {
	return c.run(ctx, func(Step) bool { return true }, c.publish)
}

// Prepare runs the missing stages that are not Apart, and publishes nothing.
func (c *Chain) Prepare(ctx context.Context) (*Result, error) {
	return c.run(ctx, func(step Step) bool { return step.Action != Run || !step.stage.Apart },
		func(*Plan) (string, error) { return "", nil })
}

func (c *Chain) run(ctx context.Context, runs func(Step) bool, publish func(*Plan) (string, error)) (*Result, error) {
	if err := c.removeTemporary(); err != nil {
		return nil, err
	}
	plan, err := c.Plan()
	if err != nil {
		return nil, err
	}
	if err := c.removeStale(plan); err != nil {
		return nil, err
	}
	if plan.ready != nil {
		return c.keep(plan)
	}
	if err := c.begin(plan); err != nil {
		return nil, err
	}
	result, err := c.runStages(ctx, plan, runs)
	if err == nil {
		result.Version, err = publish(plan)
	}
	if err != nil {
		return nil, c.failed(plan, err)
	}
	return result, nil
}

// keep makes the ready version current.
func (c *Chain) keep(plan *Plan) (*Result, error) {
	result := &Result{Version: plan.ready.path, Unchanged: true}
	if plan.current == nil || plan.current.name != plan.ready.name {
		result.Unchanged = false
		if err := c.makeCurrent(plan.ready.name); err != nil {
			return nil, err
		}
	}
	return result, c.prune()
}

func (c *Chain) runStages(ctx context.Context, plan *Plan, runs func(Step) bool) (*Result, error) {
	result := &Result{}
	for i, step := range plan.Steps {
		if !runs(step) {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		start := time.Now()
		switch step.Action {
		case Run:
			if err := c.runStage(ctx, plan, step); err != nil {
				return nil, err
			}
			result.Ran++
		case Link:
			if err := c.link(plan, step.stage); err != nil {
				return nil, err
			}
			result.Kept++
		case Done:
			result.Kept++
		}
		if err := plan.note(i); err != nil {
			return nil, err
		}
		c.Log.Info("stage "+step.Stage, "action", step.Action, "why", step.Why, "seconds", fmt.Sprintf("%.3f", time.Since(start).Seconds()))
	}
	return result, nil
}

// runStage runs a stage. If the stage read other files than the plan, its output is removed, so
// that no later run mistakes it for the plan's.
func (c *Chain) runStage(ctx context.Context, plan *Plan, step Step) error {
	read, err := step.stage.Run(ctx, plan.building)
	if err != nil {
		return err
	}
	if why := inputfile.Difference(step.record.Inputs, read); why != "" {
		return errors.Join(changed(why), c.discard(filepath.Join(plan.building, step.stage.Output)))
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
	if err := linkTree(filepath.Join(plan.current.path, stage.Output), whole); err != nil {
		return fault.New(fault.Failed, "on a file system without hard links, add --force to rebuild everything",
			"reuse %s of version %s: %w", stage.Output, plan.current.name, err)
	}
	return os.Rename(whole, filepath.Join(plan.building, stage.Output))
}

// failed keeps what another run can resume.
func (c *Chain) failed(plan *Plan, err error) error {
	switch fault.KindOf(err) {
	case fault.Failed, fault.Busy:
		return err
	}
	if removeErr := c.discard(plan.building); removeErr != nil {
		c.Log.Warn("the unfinished version stays", "folder", plan.building, "error", removeErr)
	}
	return err
}
