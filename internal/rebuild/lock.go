package rebuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"tcbuild/internal/fault"
)

// Sharing says who may be at work on a dataset at the same time.
type Sharing int

const (
	Alone  Sharing = iota // one run
	Shared                // runs that build shards of one version side by side
)

// Lock takes the dataset, or fails at once with a fault.Busy; with wait it waits until it is free or ctx is
// done. The dataset's folder is made if it is not there. The lock goes with the process, however that ends.
func (c *Chain) Lock(ctx context.Context, sharing Sharing, wait bool) (release func() error, err error) {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("rebuild %s: %w", c.Dir, err)
	}
	lock := flock.New(filepath.Join(c.Dir, ".lock"))
	try := lock.TryLock
	if sharing == Shared {
		try = lock.TryRLock
	}
	for {
		locked, err := try()
		switch {
		case locked:
			return lock.Close, nil
		case err != nil:
			return nil, errors.Join(fmt.Errorf("lock %s: %w", c.Dir, err), lock.Close())
		case !wait:
			return nil, errors.Join(fault.New(fault.Busy, "wait until it is done", "rebuild %s: another rebuild of it is running", c.Dir), lock.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), lock.Close())
		case <-time.After(500 * time.Millisecond):
		}
	}
}
