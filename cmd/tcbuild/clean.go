package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
)

func newClean(e *env) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "clean [PATH]",
		Short: "Remove what killed runs left behind",
		Long: `Remove what killed runs left behind: temporary folders (.NAME.tcbuild-…), datasets under
construction (NAME.building), unfinished versions of a rebuild (.build-…). PATH is a folder,
searched without its subfolders, or the --out of a killed run; the default is the working
directory. Files that a running process or a chain of SLURM jobs uses, or that belong to
another user, are kept.

An unfinished dataset or version could still be resumed by running the same command again:
look first, with --dry-run.`,
		Example: `  tcbuild clean --dry-run
  tcbuild clean data/yeast`,
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be removed, without removing it")
	return configured(e, cmd, func(ctx context.Context, args []string, _ *conf.Settings) error {
		path := "."
		if len(args) > 0 {
			path = filepath.Clean(args[0])
		}
		return runClean(ctx, e, path, dryRun)
	})
}

func runClean(ctx context.Context, e *env, path string, dryRun bool) error {
	found, err := leftoversOf(path)
	if err != nil {
		return err
	}
	removed := 0
	for _, left := range found {
		free, err := left.remove(ctx, dryRun)
		switch {
		case err != nil:
			return err
		case !free:
			continue
		case dryRun:
			e.say("would remove " + left.path + ": " + left.what)
		default:
			e.say("removed " + left.path + ": " + left.what)
		}
		removed++
	}
	if removed == 0 {
		e.say(path + ": nothing to remove")
	}
	return nil
}

const unfinishedVersion = "an unfinished version"

// leftover is a file or folder that a run works in, whether it is still running or was killed.
type leftover struct {
	path, what string
	lock       string // a file that the run has locked
}

// leftoversOf finds the leftovers of runs that were making path and, if path is a folder, all
// leftovers in it.
func leftoversOf(path string) ([]leftover, error) {
	var found []leftover
	_, missing := os.Stat(path)
	for _, where := range []struct{ dir, name string }{{filepath.Dir(path), filepath.Base(path)}, {path, ""}} {
		entries, err := os.ReadDir(where.dir)
		if where.name == "" && (missing != nil || errors.Is(err, unix.ENOTDIR)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if left, ok := leftoverAt(where.dir, entry.Name(), where.name); ok && isFolder(left.path) && disk.IsMine(left.path) {
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
func leftoverAt(dir, entry, name string) (left leftover, ok bool) {
	left = leftover{path: filepath.Join(dir, entry)}
	dataset, building := strings.CutSuffix(entry, ".building")
	staged, staging := strings.CutSuffix(entry, ".staging")
	switch {
	case disk.TemporaryFor(entry, name):
		left.what, left.lock = "a temporary folder", filepath.Join(left.path, entry)
	case building && (name == "" || name == dataset) && disk.Exists(filepath.Join(left.path, ".build", "lock")):
		left.what, left.lock = "a dataset under construction", filepath.Join(left.path, ".build", "lock")
	case staging && (name == "" || "."+name == staged):
		left.what, left.lock = "an unfinished staged copy", left.path+".lock"
	case name == "" && strings.HasPrefix(entry, ".build-") && disk.Exists(filepath.Join(dir, ".lock")):
		left.what, left.lock = unfinishedVersion, filepath.Join(dir, ".lock")
	case name == "" && strings.HasPrefix(entry, ".tmp-") && disk.Exists(filepath.Join(dir, ".lock")):
		left.what, left.lock = "a temporary folder", filepath.Join(dir, ".lock")
	default:
		return left, false
	}
	return left, true
}

// remove removes a leftover unless a process is using it. With dryRun it only reports whether it
// would.
func (l leftover) remove(ctx context.Context, dryRun bool) (free bool, err error) {
	if _, err := os.Lstat(l.lock); dryRun && errors.Is(err, fs.ErrNotExist) {
		return true, nil // killed before it was locked
	}
	if !dryRun && disk.TemporaryFor(filepath.Base(l.path), "") {
		return disk.RemoveLeftover(l.path)
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
	if l.what == unfinishedVersion { // which the next job of a chain goes on with
		if waiting, err := rebuild.Queue(ctx, filepath.Dir(l.path)); err != nil || len(waiting) > 0 {
			return false, err
		}
	}
	if dryRun {
		return true, nil
	}
	if strings.HasSuffix(l.lock, ".staging.lock") { // exists only while needed
		defer os.Remove(l.lock)
	}
	return true, os.RemoveAll(l.path)
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
