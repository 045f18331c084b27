package rebuild

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// Leftover is a folder that a run works in, or its lock, whether it is still running or was killed.
type Leftover struct {
	Path, What string
	lock       string // a file that the run has locked
}

// Leftovers finds this user's leftovers of runs that were making path and, if path is a folder, all
// leftovers in it.
func Leftovers(path string) (found []Leftover, err error) {
	_, missing := os.Stat(path)
	for _, where := range []struct{ dir, name string }{
		{filepath.Dir(path), filepath.Base(path)},
		{path, ""},
	} {
		entries, err := os.ReadDir(where.dir)
		if where.name == "" && (missing != nil || errors.Is(err, unix.ENOTDIR)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			left := leftoverAt(where.dir, entry.Name(), where.name)
			isLock := left.lock == left.Path
			if left.What != "" && entry.IsDir() != isLock && disk.IsMine(left.Path) {
				found = append(found, left)
			}
		}
	}
	if len(found) == 0 && missing != nil {
		return nil, fault.New(fault.Failed, "give a folder, or the --out of the killed run",
			"clean %s: %w", path, missing)
	}
	return found, nil
}

// leftoverAt classifies an entry of a folder by its name. name is the output it must belong to, ""
// for any.
func leftoverAt(dir, entry, name string) Leftover {
	path := filepath.Join(dir, entry)
	isFor := func(output string) bool { return name == "" || name == output }
	staged := strings.TrimSuffix(strings.TrimPrefix(entry, "."), ".staging.lock")
	dataset, building := strings.CutSuffix(entry, ".building")
	shardLock, versionLock := filepath.Join(path, ".build", "lock"), filepath.Join(dir, lockName)
	switch {
	case disk.TemporaryFor(entry, name):
		return Leftover{path, "a temporary folder", filepath.Join(path, entry)}
	case building && isFor(dataset) && disk.Exists(shardLock):
		return Leftover{path, "a dataset under construction", shardLock}
	case name == "" && IsUnfinished(entry) && disk.Exists(versionLock):
		return Leftover{path, "an unfinished version", versionLock}
	case entry == store.StagingLock(staged) && isFor(staged):
		return Leftover{path, "the lock of a copy", path}
	}
	return Leftover{}
}

// Remove removes a leftover unless a process is using it. With dryRun it only reports whether it
// would.
func (l Leftover) Remove(dryRun bool) (free bool, err error) {
	if dryRun && !disk.Exists(l.lock) {
		return true, nil // killed before it was locked
	}
	if !dryRun && disk.TemporaryFor(filepath.Base(l.Path), "") {
		return disk.RemoveLeftover(l.Path)
	}
	lock, err := disk.TryLock(l.lock, disk.Alone)
	// in use, or just published
	if errors.Is(err, disk.ErrLocked) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if dryRun {
		return true, nil
	}
	return true, os.RemoveAll(l.Path)
}
