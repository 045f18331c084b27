// Package rebuild keeps a named dataset up to date. A version lies under its key, a digest of
// everything that determines it: inputs, settings, format version and program. What lies there,
// complete and checked, is what would be built; nothing else says what is up to date.
//
//	NAME/3fa2c1d09be17c55/   a version: see package variants
//	NAME/current             -> 3fa2c1d09be17c55, a symbolic link
//	NAME/hold                if there is such a file, current stays where it is
//	NAME/state.json          how the last run ended, and what failed
//	NAME/digests.json        digests of inputs, for as long as they do not change
//	NAME/.build-KEY-N/       an unfinished version, built in N parts
//	NAME/KEY.damaged/        what lay under a key and was not what had been built
//	NAME/.tmp-…              left by a killed run
//	NAME/.lock               held by the processes at work
//
// A version gets its name when it is verified, and current is replaced by a rename after a check:
// it names a complete version at every moment.
//
// One process does it all (Run), or a scheduler runs steps (Key, RunPart, Publish) on any nodes
// that see the same folder. Both leave the same version.
package rebuild

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tcbuild/fault"
	"tcbuild/internal/disk"
	"tcbuild/internal/variants"
	"tcbuild/store"
)

// Rebuild is a named dataset.
type Rebuild struct {
	Dir     string // the dataset's folder: ROOT/NAME
	Program string // its Identity
	variants.Set
	Keep  int  // versions to keep, at least 1
	Force bool // build a version even if it lies under its key
	Log   *slog.Logger
	// Redact replaces the values of environment variables, of at least so many bytes, in a text.
	Redact func(text string, least int) string
}

// Step is one of a scheduler's jobs. Without Key, which Rebuild.Key returned, it takes that of now.
type Step struct {
	variants.Part
	Key string
}

// Result is what a run did.
type Result struct {
	Version string // folder of the wanted version
	Built   bool
	Linked  bool // current has moved to it
	Held    bool // current is another one, as an operator wants
}

// Run brings the dataset up to date in one process. If it fails, current stays as it is. After an
// interruption the next run continues.
func (r *Rebuild) Run(ctx context.Context) (*Result, error) {
	all := Step{Part: variants.Part{Count: 1}}
	return r.release(ctx, "rebuild", all, func(dir string, want *variants.Record) error {
		if r.Force {
			if err := r.discard(dir); err != nil {
				return err
			}
		}
		if err := r.beginVersion(dir, want); err != nil {
			return err
		}
		err := r.BuildPart(ctx, dir, all.Part)
		if err == nil {
			err = r.VerifyPart(ctx, dir, all.Part)
		}
		return err
	})
}

// Publish makes the version current that lies under its key or, if there is none, the one that
// parts have built and verified. It reads all inputs.
func (r *Rebuild) Publish(ctx context.Context, step Step) (*Result, error) {
	return r.release(ctx, "publish", step, func(dir string, _ *variants.Record) error {
		if disk.Exists(dir) {
			return nil
		}
		return fault.New(fault.Failed, "run the whole workflow again", "publish %s: %w", dir,
			errNotBuilt)
	})
}

var errNotBuilt = errors.New("its parts have not been built")

// release makes the wanted version current. Unless it lies under its key, prepare completes an
// unfinished version. If the current version fails its check, it is replaced, and the result is a
// fault.Damaged nevertheless, so that somebody notices.
func (r *Rebuild) release(
	ctx context.Context, task string, step Step,
	prepare func(dir string, want *variants.Record) error,
) (result *Result, err error) {
	err = r.do(ctx, task, disk.Alone, func() error {
		want, err := r.wanted(step, ReadAll)
		if err != nil {
			return err
		}
		current, _ := r.current() // makeCurrent reports the error
		result = &Result{Version: r.path(want.Key)}
		lies := r.check(ctx, want.Key, variants.WhatIsDue)
		isDamaged := fault.KindOf(lies) == fault.Damaged
		switch {
		case isDamaged:
			r.Log.Error("a version is damaged", "error", lies)
			if err := r.update(func(s *State) { s.failed(task, lies, r.Redact) }); err != nil {
				return err
			}
		case lies != nil && !errors.Is(lies, errNoVersion):
			return lies
		}
		if result.Built = lies != nil || r.Force; result.Built {
			dir := r.unfinished(want.Key, step.Count)
			if err = prepare(dir, want); err == nil {
				err = r.publish(ctx, dir, step, want)
			}
			if isDamaged && errors.Is(err, errNotBuilt) {
				return lies
			}
			if err != nil {
				return r.discardIfUseless(dir, err)
			}
		}
		if result.Linked, result.Held, err = r.makeCurrent(ctx, want.Key); err != nil {
			return err
		}
		if last, err := variants.ReadRecord(r.path(current)); err == nil && result.Linked {
			for _, table := range last.LostTables(want) { // an error, which --quiet shows, too
				r.Log.Error("the graph has lost a table since the last version", "table", table)
			}
		}
		r.tidy(want.Key)
		if isDamaged && current == want.Key {
			return fault.New(fault.Damaged,
				"look for a failing disk, and repeat what was made from the damaged version",
				"the current version was damaged, and is replaced: %w", lies)
		}
		return nil
	})
	return result, err
}

// publish completes an unfinished version and gives it its name.
func (r *Rebuild) publish(ctx context.Context, dir string, step Step, want *variants.Record) error {
	if err := r.Gather(ctx, dir, step.Count); err != nil {
		return err
	}
	now, err := r.Record(ReadNew) // all were read at the start
	if err != nil {
		return err
	}
	if now.Key != want.Key {
		return fault.New(fault.Busy, "run the same command again",
			"rebuild %s: while it ran, %s", r.Dir, strings.Join(want.Differences(now), ", "))
	}
	if err := r.check(ctx, filepath.Base(dir), variants.WhatIsDue); err != nil {
		return err
	}
	if err := r.giveName(dir, want.Key); err != nil {
		return fmt.Errorf("publish version %s: %w", r.path(want.Key), err)
	}
	r.Log.Info("published", "version", want.Key)
	return nil
}

// discardIfUseless discards an unfinished version after an error that another run cannot overcome,
// and returns the error.
func (r *Rebuild) discardIfUseless(dir string, err error) error {
	if kind := fault.KindOf(err); kind == fault.Damaged || kind == fault.Input {
		return errors.Join(err, r.discard(dir))
	}
	return err
}

// beginVersion makes the folder of an unfinished version, unless there is one to continue.
func (r *Rebuild) beginVersion(dir string, want *variants.Record) error {
	if err := os.MkdirAll(filepath.Join(dir, jobsName), 0o777); err != nil {
		return fmt.Errorf("rebuild %s: %w", r.Dir, err)
	}
	if disk.Exists(filepath.Join(dir, variants.RecordName)) {
		return nil
	}
	return disk.WriteJSON(filepath.Join(dir, variants.RecordName), want)
}

// jobsName is the folder of an unfinished version in which workflows note what is done: their notes
// are lost with it.
const jobsName = "jobs"

// Plan is what a workflow must know before it plans its jobs.
type Plan struct {
	Key    string `json:"key"`
	Ready  bool   `json:"ready"`  // the version lies under its key: only Publish has work to do
	Folder string `json:"folder"` // for notes of what is done; "" if it is ready
	Run    string `json:"run"`    // tells the folder from others of the same name
}

// Key returns the key of the version that would be built now, and begins it unless it is ready.
func (r *Rebuild) Key(ctx context.Context, parts int) (*Plan, error) {
	plan := &Plan{}
	err := r.do(ctx, "key", disk.Shared, func() error {
		want, err := r.Record(ReadNew)
		if err != nil {
			return err
		}
		err = r.check(ctx, want.Key, variants.WhatChanged)
		plan.Key, plan.Ready = want.Key, err == nil
		if err == nil || !errors.Is(err, errNoVersion) && fault.KindOf(err) != fault.Damaged {
			return err
		}
		dir := r.unfinished(want.Key, parts)
		if err := r.beginVersion(dir, want); err != nil {
			return err
		}
		begun, err := disk.StampOf(filepath.Join(dir, variants.RecordName))
		plan.Folder, plan.Run = filepath.Join(dir, jobsName), fmt.Sprint(begun.Modified)
		return err
	})
	return plan, err
}

// RunPart builds or verifies a part, unless the version is ready, and returns the manifest of one
// of its datasets. If it finds damage, the whole version has to be built again.
func (r *Rebuild) RunPart(
	ctx context.Context, verify bool, step Step,
) (manifest *store.Manifest, err error) {
	task := map[bool]string{false: "build", true: "verify"}[verify]
	task = fmt.Sprintf("%s %d/%d", task, step.Number, step.Count)
	err = r.do(ctx, task, disk.Shared, func() error {
		want, err := r.wanted(step, ReadNew)
		if err != nil {
			return err
		}
		if r.check(ctx, want.Key, variants.WhatChanged) == nil {
			manifest, err = store.ReadManifest(filepath.Join(r.path(want.Key), string(r.Names[0])))
			return err
		}
		dir := r.unfinished(want.Key, step.Count)
		if err = r.beginVersion(dir, want); err == nil && verify {
			err = r.VerifyPart(ctx, dir, step.Part)
		} else if err == nil {
			err = r.BuildPart(ctx, dir, step.Part)
		}
		if err == nil {
			manifest, err = store.ReadManifest(filepath.Join(dir, r.First()))
		}
		return r.discardIfUseless(dir, err)
	})
	return manifest, err
}

// wanted returns the record of the version to build. Its key must be that of a step.
func (r *Rebuild) wanted(step Step, trust Trust) (*variants.Record, error) {
	now, err := r.Record(trust)
	if err != nil || step.Key == "" || step.Key == now.Key {
		return now, err
	}
	what := "inputs, settings or the program changed"
	if was, err := variants.ReadRecord(r.unfinished(step.Key, step.Count)); err == nil {
		what = strings.Join(was.Differences(now), ", ")
	}
	return nil, fault.New(fault.Busy, "run the whole workflow again",
		"rebuild %s: %w than %s: %s", r.Dir, errOtherKey, step.Key, what)
}

// errOtherKey is wrapped by the error of a step whose key is not the given one.
var errOtherKey = errors.New("the key is another one")

// Pauses are the times that a command waits before it tries again what ended with a fault.Busy:
// workflow engines try every exit code again, or none.
var Pauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute}

// Patiently runs something and, after a pause, runs it again if it is Busy: somebody else is at
// work, or an input changed while it was read. Neither an interruption nor a key that is not the
// given one can be waited for.
func Patiently(ctx context.Context, log *slog.Logger, run func() error) error {
	for _, pause := range Pauses {
		err := run()
		if fault.KindOf(err) != fault.Busy || errors.Is(err, errOtherKey) || ctx.Err() != nil {
			return err
		}
		log.Warn("trying again", "in", pause, "why", err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
	return run()
}
