package store

import (
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ShardState says how far a shard is.
type ShardState string

const (
	ShardDone    ShardState = "done"
	ShardRunning ShardState = "running" // a process has it locked
	ShardFailed  ShardState = "failed"  // begun, and nobody is at work on it: killed, interrupted or failed
	ShardWaiting ShardState = "waiting" // not begun
)

// ShardStatus is how far a shard is.
type ShardStatus struct {
	ShardRange
	State   ShardState
	Written int // samples in place; those on a scratch folder are not seen
}

// Status returns the shards of the dataset out, published or under construction. It changes nothing and may be
// called while builds run. Where there is neither it returns ReadManifest's error.
func Status(out string) ([]ShardStatus, error) {
	b := &Building{out: filepath.Clean(out), dir: filepath.Clean(out) + ".building"}
	manifest, err := ReadManifest(b.out)
	if err == nil {
		return allDone(manifest), nil
	}
	plan, begun := b.readPlan()
	if !begun || plan == nil {
		return nil, err
	}
	b.Manifest = plan
	whole := heldByOther(b.path(".build", "lock"), (*flock.Flock).TryRLock) // one process builds all shards
	shards := make([]ShardStatus, len(plan.Shards))
	for i, shard := range plan.Shards {
		shards[i] = ShardStatus{ShardRange: shard, State: ShardWaiting}
		if err := b.statusOf(i, whole, &shards[i]); err != nil {
			return nil, err
		}
		if shards[i].State == ShardRunning {
			whole = false // one at a time, in order
		}
	}
	return shards, nil
}

func allDone(manifest *Manifest) []ShardStatus {
	var shards []ShardStatus
	for _, shard := range manifest.Shards {
		shards = append(shards, ShardStatus{ShardRange: shard, State: ShardDone, Written: shard.Samples})
	}
	return shards
}

func (b *Building) statusOf(i int, whole bool, status *ShardStatus) error {
	state, err := b.readState(i)
	if err != nil {
		return err
	}
	if state.File != nil {
		status.State, status.Written = ShardDone, status.Samples
		return nil
	}
	status.Written = b.written(status.ShardRange)
	_, err = os.Stat(b.path(".build", status.Name+".json"))
	switch begun := err == nil; {
	case whole || heldByOther(b.path(".build", status.Name+".lock"), (*flock.Flock).TryLock):
		status.State = ShardRunning
	case begun:
		status.State = ShardFailed
	}
	return nil
}

// heldByOther reports whether a process holds a lock file in a way that keeps try from taking it.
func heldByOther(path string, try func(*flock.Flock) (bool, error)) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	defer lock.Close()
	free, err := try(lock)
	return err == nil && !free
}
