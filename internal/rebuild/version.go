package rebuild

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
	"tcbuild/internal/variants"
)

const (
	currentName = "current"
	holdName    = "hold"

	unfinishedPrefix = ".build-"
	temporaryPrefix  = ".tmp-"
	damagedSuffix    = ".damaged"
)

var datasetName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// IsName reports whether a text can be the name of a dataset, which is in paths, logs and metrics.
func IsName(text string) bool { return datasetName.MatchString(text) }

// IsVersion reports whether a name is a version's, finished or not, sound or damaged.
func IsVersion(name string) bool {
	return variants.IsKey(strings.TrimSuffix(name, damagedSuffix)) ||
		strings.HasPrefix(name, unfinishedPrefix)
}

func (r *Rebuild) path(name string) string { return filepath.Join(r.Dir, name) }

// unfinished is the folder of an unfinished version.
func (r *Rebuild) unfinished(key string, parts int) string {
	return r.path(fmt.Sprintf("%s%s-%d", unfinishedPrefix, key, parts))
}

// current is what the link names; "" without a link.
func (r *Rebuild) current() (string, error) {
	target, err := os.Readlink(r.path(currentName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fault.New(fault.Usage, "move it, or choose another --root or --dataset",
			"read %s: it is not a symbolic link to a version: %w", r.path(currentName), err)
	}
	return filepath.Base(target), nil
}

// errNoVersion is the error if there is no version.
var errNoVersion = errors.New("there is no such version")

// check checks a version in the dataset's folder, which may be missing: an errNoVersion.
func (r *Rebuild) check(ctx context.Context, name string, depth variants.Depth) error {
	if !disk.Exists(r.path(name)) {
		return fmt.Errorf("check %s: %w", r.path(name), errNoVersion)
	}
	return variants.Check(ctx, r.path(name), depth)
}

// giveName gives a folder the name of a version. One that has the name, damaged or built again, is
// moved aside at the same moment, so that current names a version all the time.
func (r *Rebuild) giveName(dir, key string) error {
	if err := disk.SyncTree(dir); err != nil {
		return err
	}
	version, aside := r.path(key), r.path(key+damagedSuffix)
	if !disk.Exists(version) {
		return errors.Join(os.Rename(dir, version), disk.Sync(r.Dir))
	}
	if err := r.discard(aside); err != nil {
		return err
	}
	old := dir
	err := unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, version, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // such as NFS
		old = aside
		if err = os.Rename(version, aside); err == nil {
			err = os.Rename(dir, version)
		}
	}
	switch {
	case err == nil && r.Force:
		err = r.discard(old)
	case err == nil && old != aside:
		err = os.Rename(old, aside)
	}
	return errors.Join(err, disk.Sync(r.Dir))
}

// makeCurrent makes a checked version current, unless an operator holds current where it is.
func (r *Rebuild) makeCurrent(ctx context.Context, key string) (linked, held bool, err error) {
	now, err := r.current()
	if err != nil || now == key {
		return false, false, err
	}
	if now != "" && disk.Exists(r.path(holdName)) {
		r.Log.Warn("the file hold keeps current", "current", now, "newest", key)
		return false, true, r.check(ctx, now, variants.WhatIsDue)
	}
	when := time.Now()
	_ = os.Chtimes(filepath.Join(r.path(key), variants.RecordName), when, when) // for tidy, status
	temporary := r.path(temporaryPrefix + rand.Text())
	if err := os.Symlink(key, temporary); err != nil {
		return false, false, err
	}
	if err := os.Rename(temporary, r.path(currentName)); err != nil {
		return false, false, err
	}
	return true, false, disk.Sync(r.Dir)
}

// abandoned is the age at which nobody continues an unfinished version.
const abandoned = 3 * 24 * time.Hour

// tidy removes unfinished versions of a key that lies there now, abandoned ones, what killed runs
// left, and the oldest versions, never the current one. What stays does no harm.
func (r *Rebuild) tidy(key string) {
	current, _ := r.current()
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		r.Log.Warn("old versions stay", "error", err)
	}
	age := make(map[string]time.Duration) // since it became current, or was begun
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(r.path(entry.Name()), variants.RecordName))
		if err == nil {
			age[entry.Name()] = time.Since(info.ModTime())
		}
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int {
		return cmp.Compare(age[a.Name()], age[b.Name()])
	})
	versions, damaged := 0, 0
	for _, entry := range entries {
		name := entry.Name()
		remove := strings.HasPrefix(name, temporaryPrefix)
		switch {
		case strings.HasPrefix(name, unfinishedPrefix):
			isDone := strings.HasPrefix(name, unfinishedPrefix+key)
			remove = isDone || age[name] > abandoned
		case strings.HasSuffix(name, damagedSuffix):
			damaged++
			remove = damaged > 1
		case variants.IsKey(name):
			versions++
			remove = versions > r.Keep && name != current && name != key
		}
		if !remove {
			continue
		}
		if err := r.discard(r.path(name)); err != nil {
			r.Log.Warn("not removed", "path", r.path(name), "error", err,
				"fix", "its owner runs: chmod -R g+w "+r.path(name))
		}
	}
}

// discard removes a folder. It renames the folder first, so that nobody finds half of it.
func (r *Rebuild) discard(path string) error {
	aside := r.path(temporaryPrefix + rand.Text())
	err := os.Rename(path, aside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, os.RemoveAll(aside))
}
