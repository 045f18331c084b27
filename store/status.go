package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ShardState says how far a shard is.
type ShardState string

const (
	ShardDone    ShardState = "done"
	ShardRunning ShardState = "running" // a process is at work on it
	// begun, and nobody is at work on it: killed, interrupted or failed
	ShardFailed  ShardState = "failed"
	ShardWaiting ShardState = "waiting" // not begun, or its turn comes in the build that runs
)

// ShardStatus is how far a shard is.
type ShardStatus struct {
	ShardRange
	State   ShardState
	Written int // samples in place; those on a scratch folder are not seen
}

// Status returns the shards of the dataset out, published or under construction; of the incidence
// variant, which has none, one without a name, for the whole dataset. It changes nothing and may be
// called while builds run. Where there is neither it returns ReadManifest's error.
func Status(out string) ([]ShardStatus, error) {
	b := &Building{out: filepath.Clean(out), dir: filepath.Clean(out) + ".building"}
	manifest, err := ReadManifest(b.out)
	if err == nil {
		return statusOf(manifest, func(i int, shard *ShardStatus) error {
			shard.State, shard.Written = ShardDone, shard.Samples
			return nil
		})
	}
	plan, begun := b.readPlan()
	if !begun || plan == nil {
		return nil, err
	}
	b.Manifest = plan
	whole := locked(b.path(".build", "lock")) // one process builds all shards
	return statusOf(plan, func(i int, shard *ShardStatus) error { return b.lookAt(i, &whole, shard) })
}

func statusOf(m *Manifest, look func(i int, shard *ShardStatus) error) ([]ShardStatus, error) {
	ranges := m.Shards
	if m.Variant == Incidence {
		ranges = []ShardRange{{Samples: m.Samples}}
	}
	shards := make([]ShardStatus, len(ranges))
	for i, shard := range ranges {
		shards[i].ShardRange = shard
		if err := look(i, &shards[i]); err != nil {
			return nil, err
		}
	}
	return shards, nil
}

// lookAt finds out how far a shard is. The one process that builds all, of which whole tells, goes
// through the shards in their order: it is at work on the first that has not all its samples, and
// on those before, which it completes.
func (b *Building) lookAt(i int, whole *bool, status *ShardStatus) error {
	if status.Name == "" {
		status.State = ShardFailed
		if *whole {
			status.State = ShardRunning
		}
		return nil
	}
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
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	begun := err == nil
	switch {
	case *whole, locked(b.path(".build", status.Name+".lock")):
		status.State = ShardRunning
		*whole = *whole && status.Written == status.Samples
	case begun && !locked(b.path(".build", "lock")):
		status.State = ShardFailed
	default:
		status.State = ShardWaiting
	}
	return nil
}

// locked reports whether a process holds a lock alone. It needs no right to write.
func locked(path string) bool {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
