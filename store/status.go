package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
)

// ShardState is the progress of a shard.
type ShardState string

const (
	ShardDone    ShardState = "done"
	ShardRunning ShardState = "running" // a process is building it
	// not begun, queued in the running build, or interrupted, which loses what it had
	ShardWaiting ShardState = "waiting"
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
		if !published && (manifest.Variant == Incidence || !b.complete(i)) {
			status.State = ShardWaiting
			apart, err := locked(b.path(".build", shard.Name+".lock"))
			if err != nil {
				return nil, err
			}
			if whole || apart {
				// one process that builds all works on the first shard that is left
				status.State, whole = ShardRunning, false
			}
		}
		shards = append(shards, status)
	}
	return shards, nil
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
