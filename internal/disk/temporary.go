package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// Temporary is a new folder beside a path, in which a file or folder is made before it gets that
// path as its name. Nobody else can foresee the folder's name or write into it. In it lies a file,
// of the folder's own name, that this process has locked: a folder whose lock is free was left by a
// process that was killed; see Sweep.
type Temporary struct {
	Path string // what is to be made; it has the base name of the final path

	final string
	dir   *os.Root
	lock  *os.File
}

// NewTemporary makes the folder for path, whose parent must exist. What killed processes left for
// the same path is removed.
func NewTemporary(path string) (*Temporary, error) {
	path = filepath.Clean(path)
	parent, name := filepath.Dir(path), filepath.Base(path)
	if err := Sweep(path); err != nil {
		return nil, naming(path, err)
	}
	for {
		dir := filepath.Join(parent, temporaryPrefix(name)+rand.Text())
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, naming(path, err)
		}
		lock, err := TryLock(lockOf(dir), Alone)
		switch {
		case err == nil && isCurrent(lock):
		case err == nil:
			lock.Close()
			continue // taken for a leftover before it was locked
		case errors.Is(err, ErrLocked), errors.Is(err, fs.ErrNotExist):
			continue // the same
		default:
			return nil, errors.Join(naming(path, err), os.RemoveAll(dir))
		}
		root, err := openOwn(dir)
		if err != nil {
			return nil, errors.Join(naming(path, err), lock.Close())
		}
		return &Temporary{Path: filepath.Join(dir, name), final: path, dir: root, lock: lock}, nil
	}
}

// Publish gives what was made its final name, in place of a file that has it, and removes the
// folder.
func (t *Temporary) Publish() error { return t.rename(0) }

// PublishNew is Publish for a name that must be free; otherwise the error is a fs.ErrExist.
func (t *Temporary) PublishNew() error { return t.rename(unix.RENAME_NOREPLACE) }

func (t *Temporary) rename(flags uint) error {
	if err := sameFolder(t.dir); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", t.final, err), t.Discard())
	}
	err := unix.Renameat2(unix.AT_FDCWD, t.Path, unix.AT_FDCWD, t.final, flags)
	// a file system that knows no flags
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = unix.Rename(t.Path, t.final)
	}
	if err != nil {
		err = &fs.PathError{Op: "write", Path: t.final, Err: err}
	}
	return errors.Join(err, t.Discard())
}

// Discard removes the folder with what is in it. After Publish there is nothing left to discard.
func (t *Temporary) Discard() error {
	return naming(t.final, errors.Join(removeUnlocked(t.dir), t.dir.Close(), t.lock.Close()))
}

// Sweep removes what killed processes left of the temporary folders for a path. What cannot be
// removed stays: it is in nobody's way.
func Sweep(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		dir := filepath.Join(filepath.Dir(path), entry.Name())
		if TemporaryFor(entry.Name(), filepath.Base(path)) && IsMine(dir) {
			_, _ = RemoveLeftover(dir)
		}
	}
	return nil
}

var temporaryName = regexp.MustCompile(`(?s)^\..*\.tcbuild-[A-Z2-7]{26}$`)

// TemporaryFor reports whether a name is that of a temporary folder for a file or folder of another
// name, "" for any.
func TemporaryFor(temporary, name string) bool {
	return temporaryName.MatchString(temporary) && (name == "" || strings.HasPrefix(temporary, temporaryPrefix(name)))
}

// RemoveLeftover removes a temporary folder, unless a process is at work in it.
func RemoveLeftover(dir string) (removed bool, err error) {
	lock, err := TryLock(lockOf(dir), Alone)
	if errors.Is(err, ErrLocked) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	root, err := openOwn(dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	if !isCurrent(lock) {
		return false, nil // its process has just ended
	}
	return true, removeUnlocked(root)
}

// openOwn opens a folder, so that what is done in it is done there whatever its name leads to
// later.
func openOwn(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := sameFolder(root); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// sameFolder makes sure that a folder's name still leads to it: others may be allowed to rename in
// its parent.
func sameFolder(root *os.Root) error {
	opened, err1 := root.Stat(".")
	named, err2 := os.Lstat(root.Name())
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if !os.SameFile(opened, named) {
		return fmt.Errorf("another process has replaced the folder %s", root.Name())
	}
	return nil
}

// removeUnlocked removes a folder whose lock is held. The lock goes last, so that a folder without
// one is empty.
func removeUnlocked(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	lock := filepath.Base(root.Name())
	for _, entry := range entries {
		if entry.Name() != lock {
			if err := root.RemoveAll(entry.Name()); err != nil {
				return err
			}
		}
	}
	if err := root.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Another process may have made a lock of its own by now: it found this one free, and removes
	// the folder.
	if err := unix.Rmdir(root.Name()); err != nil && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "remove", Path: root.Name(), Err: err}
	}
	return nil
}

// temporaryPrefix begins the names of the temporary folders for a name; they are shorter than the
// 255 bytes of a file's name.
func temporaryPrefix(name string) string { return "." + name[:min(len(name), 200)] + ".tcbuild-" }

func lockOf(dir string) string { return filepath.Join(dir, filepath.Base(dir)) }

// naming has an error name the path that the user knows.
func naming(path string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "write", Path: path, Err: failed.Err}
	}
	return err
}

// Naming has the text of an error name the final path in place of the temporary one.
func (t *Temporary) Naming(err error) error {
	return renamed{err, strings.ReplaceAll(err.Error(), t.Path, t.final)}
}

// renamed is an error with another text.
type renamed struct {
	error
	text string
}

func (r renamed) Error() string { return r.text }

func (r renamed) Unwrap() error { return r.error }

// IsMine reports whether this process's user owns a file or folder; a symbolic link is looked at
// itself.
func IsMine(path string) bool {
	var stat unix.Stat_t
	return unix.Lstat(path, &stat) == nil && int(stat.Uid) == os.Geteuid()
}
