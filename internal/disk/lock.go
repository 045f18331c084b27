package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
)

// ErrLocked is the error if another process holds a lock.
var ErrLocked = errors.New("another process holds the lock")

// Sharing says who may hold a lock at the same time.
type Sharing int

const (
	Alone  Sharing = unix.LOCK_EX // one process
	Shared Sharing = unix.LOCK_SH // all processes that share it
)

// TryLock takes the lock of a file, which it creates if necessary. If another process holds the
// lock, it fails at once with ErrLocked. The lock is released when the file is closed or the
// process ends in any way. A symbolic link is refused: it may lead to somebody else's file.
func TryLock(path string, sharing Sharing) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o666)
	if errors.Is(err, unix.ELOOP) {
		return nil, notLockable(path, fs.ModeSymlink)
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, fault.New(fault.Failed,
			"ask its owner to let your group write to the folder: chmod -R g+w, and g+s for its folders",
			"lock %s: it belongs to another user, and you cannot write to it", path)
	}
	if err != nil {
		return nil, err
	}
	shareWithGroup(file)
	err = lockFile(file, sharing)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// LockWithin is TryLock, but tries again until the patience is over.
func LockWithin(path string, sharing Sharing, patience time.Duration) (*os.File, error) {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		file, err := TryLock(path, sharing)
		if !errors.Is(err, ErrLocked) || time.Since(begin) > patience {
			return file, err
		}
	}
}

// IsLocked reports whether a process holds a lock, or may hold it. It changes nothing.
func IsLocked(path string) bool {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}

// shareWithGroup lets the group that may write in a lock's folder take the lock, too, whatever the
// umask of whoever creates it. It does nothing about another user's file.
func shareWithGroup(file *os.File) {
	var folder, lock unix.Stat_t
	if unix.Stat(filepath.Dir(file.Name()), &folder) != nil || unix.Fstat(int(file.Fd()),
		&lock) != nil {
		return
	}
	if missing := folder.Mode & 0o060 &^ lock.Mode; missing != 0 && int(lock.Uid) == os.Geteuid() {
		_ = file.Chown(-1, int(folder.Gid))
		_ = file.Chmod(os.FileMode(lock.Mode&0o777 | missing))
	}
}

func lockFile(file *os.File, sharing Sharing) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return notLockable(file.Name(), info.Mode())
	}
	for {
		switch err := unix.Flock(int(file.Fd()), int(sharing)|unix.LOCK_NB); {
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return &fs.PathError{Op: "lock", Path: file.Name(), Err: err}
		}
		return nil
	}
}

func notLockable(path string, mode fs.FileMode) error {
	return fault.New(fault.Failed, "remove it",
		"lock %s: found %s, expected a regular file, or none", path, kind(mode))
}

// IsCurrent reports whether an open file still has its name: a lock that is not current was
// removed, or published with its folder, between opening and locking.
func IsCurrent(file *os.File) bool {
	open, err1 := file.Stat()
	named, err2 := os.Lstat(file.Name())
	return err1 == nil && err2 == nil && os.SameFile(open, named)
}
