// Package disk writes files and folders completely and durably, and takes locks. It never opens a
// predictable name for writing: it may be a link to somebody else's file.
package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
)

// File is a new file that has a temporary name until Publish.
type File struct {
	*os.File
	temporary *Temporary
}

// CheckFile returns an error if something is at path that is not a regular file.
func CheckFile(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().IsRegular() {
		return nil
	}
	hint := "remove it, or name another file"
	if info.IsDir() {
		hint = "name a file, such as one in this folder"
	}
	return fault.New(fault.Failed, hint, "write %s: found %s, expected a file, or none", path,
		kind(info.Mode()))
}

// Create makes a file for path, which must not exist or be a regular file. Its mode follows the
// umask.
func Create(path string) (*File, error) {
	path = filepath.Clean(path) // as NewTemporary does: what is checked is what is replaced
	if err := CheckFile(path); err != nil {
		return nil, err
	}
	temporary, err := NewTemporary(path)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(temporary.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, errors.Join(naming(path, err), temporary.Discard())
	}
	return &File{file, temporary}, nil
}

// Write is like os.File's, but its error names the final path.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, naming(f.temporary.final, err)
}

// Publish gives the file its name, replacing an existing file.
func (f *File) Publish() error {
	if err := f.Close(); err != nil {
		return errors.Join(naming(f.temporary.final, err), f.temporary.Discard())
	}
	return f.temporary.Publish()
}

// Discard removes the file.
func (f *File) Discard() error { return errors.Join(f.Close(), f.temporary.Discard()) }

// WriteWhole writes and syncs a file that is complete under its name at every moment; see Create
// and Publish.
func WriteWhole(path string, text []byte) error {
	file, err := Create(path)
	if err != nil {
		return err
	}
	if _, err := file.Write(text); err != nil {
		return errors.Join(err, file.Discard())
	}
	return file.Publish()
}

// WriteJSON writes a value as a file of indented JSON, as WriteWhole does.
func WriteJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return WriteWhole(path, append(text, '\n'))
}

// SyncTree protects all files of a folder against power loss.
func SyncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, Sync(path))
	})
}

// Sync protects a file or folder against power loss.
func Sync(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe would block
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// kind names what was found instead of a regular file.
func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	default:
		return "a device"
	}
}

// Link gives a file a second name. It copies the bytes where links are refused: by the file system,
// or because the file is another user's and read-only.
func Link(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	return Copy(from, to)
}

// Copy makes a new file with the bytes of another one.
func Copy(from, to string) error {
	in, _, err := OpenRegular(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// ErrNotRegular is wrapped by the errors for folders, pipes and devices, which could block a reader
// or never end.
var ErrNotRegular = fault.New(fault.Failed, "give the path of a file", "expected a file")

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
		err = fmt.Errorf("found a dangling symbolic link, %w", ErrNotRegular)
	}
	if errors.Is(err, syscall.ENXIO) {
		err = fmt.Errorf("found a socket, %w", ErrNotRegular)
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("found %s, %w", kind(info.Mode()), ErrNotRegular)
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
		return nil,
			fmt.Errorf("%w: found %d bytes, expected at most %d", ErrTooLarge, size, MaxWhole)
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
