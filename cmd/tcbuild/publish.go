package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tcbuild/internal/fault"
)

// publish makes a file or folder that appears under its name whole or not at
// all: build makes it at another path, with the same base name, in a temporary
// folder beside it. The missing parents of path are made and stay. A path that
// exists is a fault.Usage.
func publish(path string, build func(path string) error) error {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return fault.New(fault.Usage, "remove it, or choose another --out", "write %s: it exists already", path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	path = filepath.Clean(path)
	parent, name := filepath.Split(path)
	if err := os.MkdirAll(filepath.Clean(parent), 0o755); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(filepath.Clean(parent), "."+name+".*")
	if err != nil {
		return err
	}
	built := filepath.Join(temporary, name)
	if err := build(built); err != nil {
		return errors.Join(err, os.RemoveAll(temporary))
	}
	if err := os.Rename(built, path); err != nil {
		return errors.Join(err, os.RemoveAll(temporary))
	}
	return os.Remove(temporary)
}
