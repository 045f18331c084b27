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
	"slices"
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
// ctx ends waiting and copying. What was copied until then, or until the process was killed, is
// checked and used by the next. If the dataset is removed or replaced meanwhile, the error is a
// fault.Busy.
func (d *Dataset) Stage(ctx context.Context, dir string) (staged Staged, err error) {
	dir = filepath.Clean(dir)
	if err := d.checkStageTarget(dir); err != nil {
		return staged, err
	}
	parent, name := filepath.Split(dir)
	if err := os.MkdirAll(filepath.Clean(parent), 0o777); err != nil {
		return staged, fmt.Errorf("stage to %s: %w", dir, err)
	}
	temporary := filepath.Join(parent, "."+name+".staging")
	unlock, err := lockStaging(ctx, temporary+".lock")
	if err != nil {
		return staged, fmt.Errorf("stage to %s: %w", dir, err)
	}
	defer unlock()
	if err := d.takeUp(temporary); err != nil {
		return staged, fmt.Errorf("stage to %s: %w", dir, err)
	}
	if err := d.stageFiles(ctx, dir, temporary, &staged); err != nil {
		if ctx.Err() != nil {
			os.Remove(temporary) // fails unless it is empty
			return staged, err
		}
		err = cmp.Or(d.replaced(), err) // replaced explains err
		return staged, errors.Join(err, os.RemoveAll(temporary))
	}
	if err := replace(dir, temporary); err != nil {
		return staged, fmt.Errorf("stage to %s: %w", dir, errors.Join(err, os.RemoveAll(temporary)))
	}
	return staged, nil
}

// takeUp makes the folder of a copy or, if this user has begun one, removes from it what is not the
// dataset's.
func (d *Dataset) takeUp(temporary string) error {
	if info, err := os.Lstat(temporary); err == nil && (!info.IsDir() || !disk.IsMine(temporary)) {
		if err := os.RemoveAll(temporary); err != nil {
			return err
		}
	}
	if err := os.Mkdir(temporary, 0o777); !errors.Is(err, fs.ErrExist) {
		return err
	}
	var folders []string
	err := filepath.WalkDir(temporary, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(temporary, path)
		if err != nil {
			return err
		}
		if _, err := d.Manifest.file(filepath.ToSlash(name)); err == nil && entry.Type().IsRegular() {
			return nil
		}
		return os.Remove(path)
	})
	for _, folder := range slices.Backward(folders[min(1, len(folders)):]) {
		os.Remove(folder) // fails unless it is empty
	}
	return err
}

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
		return fmt.Errorf("stage to %s: %w", dir, err)
	}
	own, _ := os.Stat(d.Dir) // Stage says so if it is gone
	for below := ""; folder != below; folder, below = filepath.Dir(folder), folder {
		if info, err := os.Stat(folder); err == nil && os.SameFile(info, own) {
			return fault.New(fault.Usage, "name a folder elsewhere",
				"stage to %s: it is the dataset itself, or in it", dir)
		}
	}
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
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		to := filepath.Join(temporary, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
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
		target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		if err := errors.Join(d.copyChecked(ctx, file, target), target.Close()); err != nil {
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

// reuse keeps a file of an interrupted copy, or links one of an earlier copy into the new one, if
// it matches the manifest. It is checked under its new name, where nobody replaces it.
func reuse(from, temporary string, file File) (bool, error) {
	to := filepath.Join(temporary, filepath.FromSlash(file.Name))
	if (&Dataset{Dir: temporary}).CheckFile(file) == nil {
		return true, nil
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
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
	what := "replaced"
	if errors.Is(err, fs.ErrNotExist) {
		what = "removed"
	}
	return fault.New(fault.Busy, "run the same command again, with the version that is current now",
		"stage %s: the dataset was %s while it was copied", d.Dir, what)
}

// replace renames a folder to a path in one step, and removes the folder that had that path.
func replace(dir, with string) error {
	err := unix.Renameat2(unix.AT_FDCWD, with, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE)
	if errors.Is(err, fs.ErrNotExist) {
		return unix.Rename(with, dir)
	}
	return errors.Join(err, os.RemoveAll(with))
}
