package disk

import (
	"cmp"
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
// to that path. Unlike os.MkdirTemp's, its permissions follow the umask, so that colleagues who may
// write to a dataset can remove what a killed process left in it. It contains a lock file of the
// same name, locked by this process: a folder whose lock is free was left by a killed process; see
// Sweep.
type Temporary struct {
	Path string // where to make it; has the base name of the final path

	final string
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
			return &Temporary{Path: filepath.Join(dir, name), final: path, lock: lock}, nil
		case err == nil:
			lock.Close() // removed as a leftover before it was locked
		case !errors.Is(err, ErrLocked) && !errors.Is(err, fs.ErrNotExist): // the same
			return nil, errors.Join(naming(path, err), os.RemoveAll(dir))
		}
	}
}

// Publish cleans and syncs the file or folder, renames it to its final path, replacing an existing
// file, and removes the temporary folder.
func (t *Temporary) Publish() error { return t.rename(t.final, 0) }

// PublishNew is Publish for a path, in the same file system, that must not exist; if it does, the
// error is a fs.ErrExist.
func (t *Temporary) PublishNew(path string) error {
	return t.rename(filepath.Clean(path), unix.RENAME_NOREPLACE)
}

func (t *Temporary) rename(path string, flags uint) error {
	err := t.clean()
	if err == nil {
		err = SyncTree(t.Path)
	}
	if err == nil {
		err = unix.Renameat2(unix.AT_FDCWD, t.Path, unix.AT_FDCWD, path, flags)
	}
	// a file system without rename flags
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = unix.Rename(t.Path, path)
	}
	if err == nil {
		err = Sync(filepath.Dir(path))
	}
	if err != nil {
		return errors.Join(&fs.PathError{Op: "write", Path: path, Err: cause(err)}, t.Discard())
	}
	_ = t.Discard() // the file or folder is complete: Sweep removes the rest later
	return nil
}

// clean removes temporary folders inside the folder, left by files written there, so that none is
// published.
func (t *Temporary) clean() error {
	return filepath.WalkDir(t.Path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || !TemporaryFor(entry.Name(), "") {
			return err
		}
		return cmp.Or(os.RemoveAll(path), fs.SkipDir)
	})
}

// Discard removes the folder and its content. After Publish it does nothing.
func (t *Temporary) Discard() error {
	return naming(t.final, errors.Join(removeLocked(t.lock), t.lock.Close()))
}

// removeLocked removes a temporary folder whose lock this process holds.
func removeLocked(lock *os.File) error {
	err := os.RemoveAll(filepath.Dir(lock.Name()))
	if errors.Is(err, unix.ENOTEMPTY) {
		return nil // another process found it without its lock, and is removing it, too
	}
	return err
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
		if TemporaryFor(entry.Name(), filepath.Base(path)) && entry.IsDir() && IsMine(dir) {
			_, _ = RemoveLeftover(dir)
		}
	}
	return nil
}

var temporaryName = regexp.MustCompile(`(?s)^\..*\.tcbuild-[A-Z2-7]{26}$`)

// TemporaryFor reports whether a name belongs to a temporary folder for a file or folder of the
// given name, "" for any.
func TemporaryFor(temporary, name string) bool {
	return temporaryName.MatchString(temporary) && (name == "" || strings.HasPrefix(temporary,
		temporaryPrefix(name)))
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
	if !IsCurrent(lock) {
		return false, nil // its process has just ended
	}
	return true, removeLocked(lock)
}

// temporaryPrefix is the prefix of temporary folder names for a name. They stay below 255 bytes,
// the limit of a file name.
func temporaryPrefix(name string) string { return "." + name[:min(len(name), 200)] + ".tcbuild-" }

func lockOf(dir string) string { return filepath.Join(dir, filepath.Base(dir)) }

// naming makes an error name the path that the user knows.
func naming(path string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "write", Path: path, Err: cause(err)}
	}
	return err
}

func cause(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}

// Naming makes the text of an error name the final path, not the temporary one.
func (t *Temporary) Naming(err error) error {
	return renamed{err, strings.ReplaceAll(err.Error(), t.Path, t.final)}
}

type renamed struct {
	error
	text string
}

func (r renamed) Error() string { return r.text }

func (r renamed) Unwrap() error { return r.error }
