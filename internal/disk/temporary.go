package disk

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// Temporary is a new folder beside a path, in which a file or folder is made before it is renamed
// to that path. Nobody can predict the folder's name. Its permissions follow the umask, so that
// colleagues who may write to a dataset can remove what a killed process left in it. It contains a
// lock file of the same name, locked by this process: a folder whose lock is free was left by a
// killed process; see Sweep.
type Temporary struct {
	Path string // where to make it; has the base name of the final path

	final string
	dir   *os.Root
	lock  *os.File
}

// NewTemporary makes the folder for path, whose parent must exist. It removes what killed processes
// left for the same path.
func NewTemporary(path string) (*Temporary, error) {
	path = filepath.Clean(path)
	parent, name := filepath.Dir(path), filepath.Base(path)
	if err := Sweep(path); err != nil {
		return nil, naming(path, err)
	}
	for {
		dir := filepath.Join(parent, temporaryPrefix(name)+rand.Text())
		if err := os.Mkdir(dir, 0o777); err != nil {
			return nil, naming(path, err)
		}
		lock, err := TryLock(lockOf(dir), Alone)
		switch {
		case err == nil && IsCurrent(lock):
		case err == nil:
			lock.Close()
			continue // removed as a leftover before it was locked
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

// Publish renames the file or folder to its final path, replacing an existing file, and removes the
// temporary folder. What cannot be removed after the rename is not an error, as the file or folder
// is complete: Sweep removes it later.
func (t *Temporary) Publish() error { return t.rename(0) }

// PublishNew is Publish for a path that must not exist; if it does, the error is a fs.ErrExist.
func (t *Temporary) PublishNew() error { return t.rename(unix.RENAME_NOREPLACE) }

func (t *Temporary) rename(flags uint) error {
	if err := sameFolder(t.dir); err != nil {
		return errors.Join(naming(t.final, err), t.Discard())
	}
	err := unix.Renameat2(unix.AT_FDCWD, t.Path, unix.AT_FDCWD, t.final, flags)
	// a file system without rename flags
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = unix.Rename(t.Path, t.final)
	}
	if err != nil {
		return errors.Join(&fs.PathError{Op: "write", Path: t.final, Err: err}, t.Discard())
	}
	_ = t.Discard()
	return nil
}

// Discard removes the folder and its content. After Publish it does nothing.
func (t *Temporary) Discard() error {
	return naming(t.final, errors.Join(removeUnlocked(t.dir), t.dir.Close(), t.lock.Close()))
}

// Sweep removes temporary folders for a path that killed processes left. What cannot be removed
// stays: it does no harm.
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

// TemporaryFor reports whether a name is that of a temporary folder for a file or folder of the
// given name, "" for any.
func TemporaryFor(temporary, name string) bool {
	return temporaryName.MatchString(temporary) && (name == "" || strings.HasPrefix(temporary, temporaryPrefix(name)))
}

// RemoveLeftover removes a temporary folder, unless a process is using it.
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
	if !IsCurrent(lock) {
		return false, nil // its process has just ended
	}
	return true, removeUnlocked(root)
}

// openOwn opens a folder, so that later operations stay in it whatever its name leads to by then.
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

// sameFolder checks that a folder's name still leads to it: others may be allowed to rename in its
// parent.
func sameFolder(root *os.Root) error {
	opened, err1 := root.Stat(".")
	named, err2 := os.Lstat(root.Name())
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if !os.SameFile(opened, named) {
		return &fs.PathError{Op: "write", Path: root.Name(), Err: errors.New("another process has replaced the temporary folder")}
	}
	return nil
}

// removeUnlocked removes a folder whose lock this process holds. The lock file goes last, so that a
// folder without one is empty.
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
	// Another process may have created its own lock by now: it found this one free, and will remove
	// the folder.
	if err := unix.Rmdir(root.Name()); err != nil && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "remove", Path: root.Name(), Err: err}
	}
	return nil
}

// temporaryPrefix is the prefix of temporary folder names for a name. They stay below 255 bytes,
// the limit of a file name.
func temporaryPrefix(name string) string { return "." + name[:min(len(name), 200)] + ".tcbuild-" }

func lockOf(dir string) string { return filepath.Join(dir, filepath.Base(dir)) }

// naming makes an error name the path that the user knows.
func naming(path string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "write", Path: path, Err: failed.Err}
	}
	return err
}

// Naming makes the text of an error name the final path, not the temporary one.
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

// IsMine reports whether this process's user owns a file, folder or symbolic link; it does not
// follow links.
func IsMine(path string) bool {
	var stat unix.Stat_t
	return unix.Lstat(path, &stat) == nil && int(stat.Uid) == os.Geteuid()
}
