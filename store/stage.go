package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// Stage makes dir a copy of the dataset, checked while it is copied and put in place in one step. A
// copy that is there already is checked and kept; copied reports whether it was not. dir must be
// missing, empty, or a copy, perhaps of another dataset. Processes that stage to the same dir wait
// for each other; ctx ends waiting and copying. If the dataset is removed or replaced meanwhile,
// the error is a fault.Busy.
func (d *Dataset) Stage(ctx context.Context, dir string) (copied bool, err error) {
	dir = filepath.Clean(dir)
	if err = d.checkStageTarget(dir); err == nil {
		err = os.MkdirAll(filepath.Dir(dir), 0o777)
	}
	if err == nil {
		copied, err = d.stage(ctx, dir)
	}
	if err != nil {
		return false, fmt.Errorf("stage to %s: %w", dir, err)
	}
	return copied, nil
}

func (d *Dataset) stage(ctx context.Context, dir string) (copied bool, err error) {
	lock := StagingLock(filepath.Base(dir))
	unlock, err := lockStaging(ctx, filepath.Join(filepath.Dir(dir), lock))
	if err != nil {
		return false, err
	}
	defer unlock()
	if d.isCopied(ctx, dir) {
		_ = disk.Sweep(dir) // left by a process killed just after its copy was in place
		return false, nil
	}
	isDataset := disk.Exists(filepath.Join(dir, manifestName))
	isCopy := disk.Exists(filepath.Join(dir, stagedName))
	if isDataset && !isCopy {
		return false, fault.New(fault.Usage, "remove it, or give another folder",
			"found another dataset, which 'tcbuild stage' did not copy there")
	}
	temporary, err := disk.NewTemporary(dir)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, temporary.Discard()) }()
	if err := d.copyTo(ctx, temporary.Path); err != nil {
		return false, cmp.Or(d.replaced(), err) // replaced explains err
	}
	return true, replace(dir, temporary.Path)
}

// stagedName is the file that marks a folder as a copy, which may be replaced.
const (
	stagedName = "staged.json"
	stagedText = "{\"tcbuild\": \"stage\"}\n"
)

// StagingLock is the name of the file beside a copy that processes lock while they make it.
func StagingLock(name string) string { return "." + name + ".staging.lock" }

// lockStaging takes a lock on a file that exists only while a process holds or awaits the lock.
func lockStaging(ctx context.Context, path string) (unlock func(), err error) {
	for {
		lock, err := disk.TryLock(path, disk.Alone)
		switch {
		case err == nil && disk.IsCurrent(lock):
			return func() {
				os.Remove(path)
				lock.Close()
			}, nil
		case err == nil:
			lock.Close() // its last holder removed the file
			continue
		case !errors.Is(err, disk.ErrLocked):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// checkStageTarget refuses the dataset itself, and a folder that holds something else.
func (d *Dataset) checkStageTarget(dir string) error {
	folder, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	own, _ := os.Stat(d.Dir) // Stage says so if it is gone
	for below := ""; folder != below; folder, below = filepath.Dir(folder), folder {
		if info, err := os.Stat(folder); err == nil && os.SameFile(info, own) {
			return fault.New(fault.Usage, "name a folder elsewhere",
				"it is the dataset itself, or inside it")
		}
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, manifestName)); err != nil {
		return fault.New(fault.Usage, "give a folder inside it, which will become the copy",
			"found %s and no %s, expected a dataset or an empty folder", entries[0].Name(),
			manifestName)
	}
	return nil
}

// isCopied reports whether dir is a copy of the dataset, to the byte.
func (d *Dataset) isCopied(ctx context.Context, dir string) bool {
	existing, err := Open(dir)
	if err != nil || !bytes.Equal(existing.text, d.text) || existing.checkGraphNames() != nil {
		return false
	}
	return !slices.ContainsFunc(d.Manifest.Files, func(file File) bool {
		return existing.copyChecked(ctx, file, io.Discard) != nil
	})
}

// copyTo copies the dataset.
func (d *Dataset) copyTo(ctx context.Context, dir string) error {
	run, err := disk.ReadRegular(filepath.Join(d.Dir, runName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d.damaged(runName, "%w", err)
	}
	if err := d.replaced(); err != nil {
		return err // run.json may be another dataset's
	}
	for _, file := range d.Manifest.Files {
		to := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		target, err := os.Create(to)
		if err != nil {
			return err
		}
		if err := errors.Join(d.copyChecked(ctx, file, target), target.Close()); err != nil {
			return err
		}
	}
	if run != nil {
		if err := os.WriteFile(filepath.Join(dir, runName), run, 0o666); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, stagedName), []byte(stagedText), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, manifestName), d.text, 0o666)
}

// replaced returns an error if the folder's manifest is no longer the one that was opened.
func (d *Dataset) replaced() error {
	text, err := disk.ReadRegular(filepath.Join(d.Dir, manifestName))
	switch {
	case err == nil && bytes.Equal(text, d.text):
		return nil
	case fault.System(err):
		return fmt.Errorf("read dataset %s: %w", d.Dir, err)
	}
	what := "replaced"
	if errors.Is(err, fs.ErrNotExist) {
		what = "removed"
	}
	return fault.New(fault.Busy, "run the same command again, with the version that is current now",
		"the dataset %s was %s while it was copied", d.Dir, what)
}

// replace renames a folder to a path in one step; what had that path gets the folder's.
func replace(dir, with string) error {
	err := unix.Renameat2(unix.AT_FDCWD, with, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE)
	if errors.Is(err, fs.ErrNotExist) {
		return unix.Rename(with, dir)
	}
	return err
}
