package versions

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tcbuild/internal/disk"
)

// linkTree copies a file or folder with hard links.
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
			return os.MkdirAll(filepath.Join(to, name), 0o777)
		}
		return os.Link(path, filepath.Join(to, name))
	})
}

// fileBytes is the size of all files of an output together, but for those that were added to it. A
// link, pipe or device among them is an error.
func fileBytes(output string, added []string) (bytes int64, err error) {
	err = filepath.WalkDir(output, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Dir(path) == output && slices.Contains(added, entry.Name()) {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: %w", path, disk.ErrNotRegular)
		}
		bytes += info.Size()
		return nil
	})
	return bytes, err
}
