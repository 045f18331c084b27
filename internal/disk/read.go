package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrNotRegular is wrapped by the errors for folders, pipes and devices, which could block a reader
// or never end.
var ErrNotRegular = errors.New("it is not a regular file")

// OpenRegular opens a regular file for reading, or a link to one.
func OpenRegular(path string) (*os.File, int64, error) {
	// a pipe without a writer would block
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w (mode %s)", ErrNotRegular, info.Mode())
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// ReadRegular reads a regular file whole.
func ReadRegular(path string) ([]byte, error) {
	file, _, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}
