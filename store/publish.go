package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// Publish gives the dataset its final name if all its shards are complete, and reports whether it
// did. run describes the run and becomes run.json, the only file that differs from run to run.
func (b *Building) Publish(run any) (published bool, err error) {
	if b.shardLock != nil {
		if alone, err := b.becomeAlone(); !alone {
			return false, err
		}
	}
	if published, err = b.publish(run); err != nil {
		return false, fmt.Errorf("publish dataset %s: %w", b.out, err)
	}
	return published, nil
}

func (b *Building) publish(run any) (bool, error) {
	files, err := b.shardFiles()
	if files == nil || err != nil {
		return false, err
	}
	others, err := b.otherFiles()
	if err != nil {
		return false, err
	}
	b.Manifest.Files = append(others, files...)
	slices.SortFunc(b.Manifest.Files,
		func(x, y File) int { return strings.Compare(x.Name, y.Name) })
	if err := b.Manifest.check(); err != nil {
		return false, fault.New(fault.Damaged, hintNever, "%w", err)
	}
	return true, b.rename(run)
}

// becomeAlone takes the exclusive lock on the folder. If another shard's process still holds the
// lock, that process will publish.
func (b *Building) becomeAlone() (bool, error) {
	b.lock.Close()
	var err error
	b.lock, err = waitForLock(b.path(".build", "lock"), disk.Alone, toPublish)
	if errors.Is(err, disk.ErrLocked) {
		return false, nil
	}
	if _, gone := os.Stat(b.dir); gone != nil {
		return false, nil // another process was first
	}
	return err == nil, err
}

// otherFiles syncs and hashes the data files that are not shards.
func (b *Building) otherFiles() ([]File, error) {
	var files []File
	err := filepath.WalkDir(b.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); name == ".build" || strings.HasPrefix(name, "shard-") {
				return fs.SkipDir
			}
			return nil
		}
		name, _ := filepath.Rel(b.dir, path)
		if name == runName || name == manifestName { // of a build that failed to publish
			return nil
		}
		if err := disk.Sync(path); err != nil {
			return err
		}
		file, err := HashFile(b.dir, filepath.ToSlash(name))
		files = append(files, file)
		return err
	})
	return files, err
}

// rename writes run.json and the manifest, moves everything but .build into a temporary folder, and
// gives that the final name. .build holds the lock until then, so no other build can begin. A
// dataset never contains it, even if it cannot be removed.
func (b *Building) rename(run any) error {
	whole, err := disk.NewTemporary(b.out)
	if err != nil {
		return err
	}
	defer whole.Discard()
	steps := []func() error{
		func() error { return b.write(runName, marshal(run)) },
		func() error { return b.write(manifestName, b.Manifest.sealed()) },
		func() error { return os.Mkdir(whole.Path, 0o777) },
		func() error { return moveEntries(b.dir, whole.Path) },
		func() error { return disk.Sync(whole.Path) },
		// os.Rename would refuse to replace an empty folder
		func() error { return unix.Rename(whole.Path, b.out) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return errors.Join(err, moveEntries(whole.Path, b.dir))
		}
	}
	_ = os.RemoveAll(b.dir) // Published removes what stays
	return disk.Sync(filepath.Dir(b.out))
}

// moveEntries moves the entries of a folder, except .build, to another folder on the same file
// system. It does nothing if there is no such folder.
func moveEntries(from, to string) error {
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if name := entry.Name(); err == nil && name != ".build" {
			err = os.Rename(filepath.Join(from, name), filepath.Join(to, name))
		}
	}
	return err
}

// write writes a file of the dataset. What is left of it after a kill lies in .build.
func (b *Building) write(name string, text []byte) error {
	if len(text) > disk.MaxWhole {
		return fmt.Errorf("write %s: it has %d bytes, expected at most %d, which readers accept",
			b.path(name), len(text), disk.MaxWhole)
	}
	if err := disk.WriteWhole(b.path(".build", name), text); err != nil {
		return err
	}
	return os.Rename(b.path(".build", name), b.path(name))
}
