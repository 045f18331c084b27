package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// publish makes a file or folder that appears at path complete or not at all: build makes it at
// another path, with the same base name, in a temporary folder beside it. Missing parents of path
// are created. It is a fault.Usage if path exists.
func publish(path string, build func(path string) error) error {
	there := fault.New(fault.Usage, "remove it, or choose another --out", "write %s: it already exists", path)
	switch _, err := os.Lstat(path); {
	case err == nil:
		_ = disk.Sweep(path) // left by a process killed just after the rename
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
		return errors.Join(temporary.Naming(err), temporary.Discard())
	}
	err = temporary.PublishNew(path)
	if errors.Is(err, fs.ErrExist) {
		return there
	}
	return err
}
