// Package disk writes files that are whole and safe on disk.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteWhole writes a file that is safe on disk, and whole under its name at every moment; one that is there is
// replaced. Until then it has another name beside it, with a prefix. One process at a time may write a file: what a killed one left there,
// the next overwrites.
func WriteWhole(path, prefix string, text []byte) error {
	temporary := filepath.Join(filepath.Dir(path), prefix+filepath.Base(path))
	file, err := os.Create(temporary)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		failed.Path = path // the name that the user knows
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}

// SyncTree makes all files of a folder safe against power loss.
func SyncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, Sync(path))
	})
}

// Sync makes a file or folder safe against power loss.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
