package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// ShardState is the progress of a shard.
type ShardState string

const (
	ShardDone    ShardState = "done"
	ShardRunning ShardState = "running" // a process is building it
	// begun, but no process is building it: killed, interrupted or failed
	ShardFailed  ShardState = "failed"
	ShardWaiting ShardState = "waiting" // not begun, or queued in the running build
)

// ShardStatus is a shard's state and size.
type ShardStatus struct {
	ShardRange
	State ShardState
}

// Status returns the shards of a published or unfinished dataset. For the incidence variant, which
// has no shards, it returns one without a name, for the whole dataset. It changes nothing and may
// be called while builds run. If there is no dataset, it returns ReadManifest's error.
func Status(out string) ([]ShardStatus, error) {
	b := &Building{out: filepath.Clean(out), dir: filepath.Clean(out) + ".building"}
	whole := false // one process builds all shards
	manifest, err := ReadManifest(b.out)
	published := err == nil
	if !published {
		plan, begun, planErr := b.readPlan()
		switch {
		case planErr != nil:
			return nil, planErr
		case !begun:
			return nil, err
		case plan == nil:
			return nil, fault.New(fault.Damaged, hintNever, "read %s: it is not the plan of a build", b.path(".build", "plan.json"))
		}
		manifest, b.Manifest = plan, plan
		if whole, err = locked(b.path(".build", "lock")); err != nil {
			return nil, err
		}
	}
	ranges := manifest.Shards
	if manifest.Variant == Incidence {
		ranges = []ShardRange{{Samples: manifest.Samples}}
	}
	var shards []ShardStatus
	for i, shard := range ranges {
		status := ShardStatus{shard, ShardDone}
		if !published {
			if err := b.lookAt(i, &whole, &status); err != nil {
				return nil, err
			}
		}
		shards = append(shards, status)
	}
	return shards, nil
}

// lookAt determines the state of a shard. whole reports whether one process builds all shards that
// are left, and has not been found at work yet: it is working on the first of them, and completing
// those before.
func (b *Building) lookAt(i int, whole *bool, status *ShardStatus) error {
	if status.Name == "" {
		status.State = ShardFailed
		if *whole {
			status.State = ShardRunning
		}
		return nil
	}
	if b.complete(i) {
		status.State = ShardDone
		return nil
	}
	apart, err1 := locked(b.path(".build", status.Name+".lock"))
	looked, err2 := locked(b.path(".build", "lock")) // by a process that looks whether all are done
	switch {
	case *whole, apart:
		status.State = ShardRunning
		*whole = false
	case b.begun(status.Name) && !looked:
		status.State = ShardFailed
	default:
		status.State = ShardWaiting
	}
	return errors.Join(err1, err2)
}

// begun reports whether a process has left anything of a shard: half of it, unless that is on
// scratch, or the lock of a shard that is built apart.
func (b *Building) begun(shard string) bool {
	entries, _ := os.ReadDir(b.path(".build"))
	return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		return entry.Name() == shard+".lock" || disk.TemporaryFor(entry.Name(), shard)
	})
}

// locked reports whether a process holds an exclusive lock. It needs no write permission.
func locked(path string) (bool, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		if fault.System(err) {
			return false, err
		}
		return false, nil
	}
	defer file.Close()
	switch err := unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("lock %s: %w", path, err)
	}
	return false, nil
}
