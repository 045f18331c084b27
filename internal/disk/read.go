package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"tcbuild/fault"
)

// ErrNotRegular is wrapped by the errors for folders, pipes and devices, which could block a reader
// or never end.
var ErrNotRegular = fault.New(fault.Failed, "put a regular file in its place", "it is not a regular file")

// Exists reports whether something is at a path, even a dangling link or what may not be examined.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// OpenRegular opens a regular file, or a link to one, for reading. The error of a dangling link
// wraps ErrNotRegular, not fs.ErrNotExist: something is there.
func OpenRegular(path string) (*os.File, int64, error) {
	// a pipe without a writer would block
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) && Exists(path) {
		err = fmt.Errorf("%w but a dangling symbolic link", ErrNotRegular)
	}
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

// MaxWhole is the size of the largest file that ReadRegular reads: a manifest of 300,000 files.
const MaxWhole = 64 << 20

// ErrTooLarge is wrapped by the errors for files above MaxWhole.
var ErrTooLarge = errors.New("the file is too large")

// ReadRegular reads a regular file whole.
func ReadRegular(path string) ([]byte, error) {
	file, size, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if size > MaxWhole {
		return nil, fmt.Errorf("%w: found %d bytes, expected at most %d", ErrTooLarge, size, MaxWhole)
	}
	return io.ReadAll(io.LimitReader(file, MaxWhole))
}

// ReadJSON reads a regular file of JSON into value.
func ReadJSON(path string, value any) error {
	text, err := ReadRegular(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}
