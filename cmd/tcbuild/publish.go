package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// publish makes a file or folder that appears under its name whole or not at
// all: build makes it at another path, with the same base name, in a temporary
// folder beside it. The missing parents of path are made and stay. A path that
// exists is a fault.Usage.
func publish(path string, build func(path string) error) error {
	there := fault.New(fault.Usage, "remove it, or choose another --out", "write %s: it exists already", path)
	switch _, err := os.Lstat(path); {
	case err == nil:
		_ = disk.Sweep(path) // of a process that was killed just after it gave the name
		return there
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(path)), 0o777); err != nil {
		return err
	}
	temporary, err := disk.NewTemporary(path)
	if err != nil {
		return err
	}
	if err := build(temporary.Path); err != nil {
		return errors.Join(err, temporary.Discard())
	}
	if err := disk.SyncTree(temporary.Path); err != nil {
		return errors.Join(err, temporary.Discard())
	}
	err = temporary.PublishNew()
	if errors.Is(err, fs.ErrExist) {
		return there
	}
	return err
}
