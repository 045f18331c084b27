package versions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// LockSubmissions locks the dataset against other submissions of chains.
func (c *Chain) LockSubmissions(ctx context.Context) (release func() error, err error) {
	return c.lock(ctx, ".lock-submit", disk.Alone, false)
}

// Lock locks the dataset for one run (disk.Alone), or for parallel runs that build shards of one
// version (disk.Shared). If another process holds the lock, Lock fails at once with a fault.Busy;
// with wait it waits until the lock is free or ctx is done. It creates the dataset's folder if
// necessary. The lock is released when the process ends in any way.
func (c *Chain) Lock(ctx context.Context, sharing disk.Sharing, wait bool) (release func() error, err error) {
	return c.lock(ctx, ".lock", sharing, wait)
}

func (c *Chain) lock(ctx context.Context, name string, sharing disk.Sharing, wait bool) (release func() error, err error) {
	if err := os.MkdirAll(c.Dir, 0o777); err != nil {
		return nil, fmt.Errorf("rebuild %s: %w", c.Dir, err)
	}
	for {
		lock, err := disk.TryLock(filepath.Join(c.Dir, name), sharing)
		switch {
		case err == nil:
			return lock.Close, nil
		case !errors.Is(err, disk.ErrLocked):
			return nil, fmt.Errorf("rebuild %s: %w", c.Dir, err)
		case !wait:
			return nil, fault.New(fault.Busy, "wait until it is done", "rebuild %s: another rebuild of it is running", c.Dir)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(500 * time.Millisecond):
		}
	}
}
