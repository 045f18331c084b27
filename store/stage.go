package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// Staged counts the bytes of a staged dataset's files.
type Staged struct {
	Copied int64
	Reused int64 // already in place
}

// Stage makes dir a copy of the dataset. Files that dir already has, with the manifest's checksum,
// are reused; the others are checked while they are copied. dir must be missing, empty, or a
// dataset; it is replaced in one step. Processes that stage to the same dir wait for each other;
// ctx ends waiting and copying. If the dataset is replaced meanwhile, the error is a fault.Busy.
func (d *Dataset) Stage(ctx context.Context, dir string) (staged Staged, err error) {
	dir = filepath.Clean(dir)
	if err := checkStageTarget(dir); err != nil {
		return staged, err
	}
	parent, name := filepath.Split(dir)
	if err := os.MkdirAll(filepath.Clean(parent), 0o755); err != nil {
		return staged, fmt.Errorf("stage to %s: %w", dir, err)
	}
	temporary := filepath.Join(parent, "."+name+".staging")
	unlock, err := lockStaging(ctx, temporary+".lock")
	if err != nil {
		return staged, fmt.Errorf("stage to %s: %w", dir, err)
	}
	defer unlock()
	err = os.RemoveAll(temporary) // left by a killed process
	if err == nil {
		err = os.Mkdir(temporary, 0o755)
	}
	if err != nil {
		return staged, fmt.Errorf("stage to %s: %w", dir, err)
	}
	if err := d.stageFiles(ctx, dir, temporary, &staged); err != nil {
		if ctx.Err() == nil {
			err = cmp.Or(d.replaced(), err) // replaced explains err
		}
		return staged, errors.Join(err, os.RemoveAll(temporary))
	}
	if err := replace(dir, temporary); err != nil {
		return staged, fmt.Errorf("stage to %s: %w", dir, errors.Join(err, os.RemoveAll(temporary)))
	}
	return staged, nil
}

// lockStaging takes a lock on a file that exists only while a process holds or awaits the lock.
func lockStaging(ctx context.Context, path string) (unlock func(), err error) {
	for {
		lock, err := disk.TryLock(path, disk.Alone)
		switch {
		case err == nil && current(lock):
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

// checkStageTarget refuses a folder that holds something else.
func checkStageTarget(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return fmt.Errorf("stage to %s: %w", dir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, manifestName)); err != nil {
		return fault.New(fault.Usage, "give a folder inside it, which will become the copy",
			"stage to %s: found %s and no %s, expected a dataset or an empty folder",
			dir, entries[0].Name(), manifestName)
	}
	return nil
}

func (d *Dataset) stageFiles(ctx context.Context, dir, temporary string, staged *Staged) error {
	run, err := disk.ReadRegular(filepath.Join(d.Dir, runName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d.damaged(runName, "%w", err)
	}
	if err := d.replaced(); err != nil {
		return err // run.json may be another dataset's
	}
	for _, file := range d.Manifest.Files {
		to := filepath.Join(temporary, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		reused, err := reuse(filepath.Join(dir, filepath.FromSlash(file.Name)), temporary, file)
		if err != nil {
			return err
		}
		if reused {
			staged.Reused += file.Bytes
			continue
		}
		if err := d.stageFile(ctx, file, to); err != nil {
			return err
		}
		staged.Copied += file.Bytes
	}
	if run != nil {
		if err := os.WriteFile(filepath.Join(temporary, runName), run, 0o666); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(temporary, manifestName), d.text, 0o666)
}

// reuse links a file of an earlier copy into the new copy, if it matches the manifest. It is
// checked under its new name, where nobody replaces it.
func reuse(from, temporary string, file File) (bool, error) {
	to := filepath.Join(temporary, filepath.FromSlash(file.Name))
	if os.Link(from, to) != nil {
		return false, nil
	}
	if (&Dataset{Dir: temporary}).CheckFile(file) == nil {
		return true, nil
	}
	return false, os.Remove(to)
}

// replaced returns an error if the folder's manifest is no longer the one that was opened.
func (d *Dataset) replaced() error {
	text, err := disk.ReadRegular(filepath.Join(d.Dir, manifestName))
	switch {
	case err == nil && bytes.Equal(text, d.text):
		return nil
	case fault.System(err):
		return fmt.Errorf("stage %s: %w", d.Dir, err)
	}
	return fault.New(fault.Busy, "run the same command again", "stage %s: the dataset was removed or replaced while it was copied", d.Dir)
}

// stageFile copies one data file. Content that does not match the manifest is a fault.Damaged.
func (d *Dataset) stageFile(ctx context.Context, file File, to string) error {
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(d.copyChecked(ctx, file, target), target.Close())
}

// replace renames a folder to a path in one step, and removes the folder that had that path.
func replace(dir, with string) error {
	err := unix.Renameat2(unix.AT_FDCWD, with, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE)
	if errors.Is(err, fs.ErrNotExist) {
		return unix.Rename(with, dir)
	}
	return errors.Join(err, os.RemoveAll(with))
}
