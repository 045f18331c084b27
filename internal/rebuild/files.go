package rebuild

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteWhole writes a file that is safe on disk, and whole under its name at every moment. One process at a
// time may write a file: what a killed one left beside it, the next overwrites.
func WriteWhole(path string, text []byte) error {
	temporary := filepath.Join(filepath.Dir(path), temporaryPrefix+filepath.Base(path))
	file, err := os.Create(temporary)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return os.Rename(temporary, path)
}

// linkTree makes a file or folder a second time, with hard links to the same files.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		return os.Link(path, filepath.Join(to, name))
	})
}

// syncTree makes all files of a folder safe against power loss.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, syncPath(path))
	})
}

// syncPath makes a file or folder safe against power loss.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
