package rebuild

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

const (
	Current    = "current"      // in a dataset's folder, the symbolic link to its current version
	RecordName = "version.json" // in a version, the record of its inputs
)

const (
	buildingPrefix  = ".build-"
	temporaryPrefix = ".tmp-"
)

// version is a folder with stages' outputs, finished or not. Its JSON form is the record.
type version struct {
	Run    string   `json:"run"`              // id of the run that began it
	Parts  int      `json:"parts,omitempty"`  // of the work; 0 or 1: one process does it all
	Damage string   `json:"damage,omitempty"` // why it cannot be completed; "": it can
	Stages []Record `json:"stages"`

	path string
}

// readVersion reads the record of a folder; nil if it has no readable one.
func readVersion(path string) *version {
	v := &version{path: path}
	if disk.ReadJSON(filepath.Join(path, RecordName), v) != nil {
		return nil
	}
	return v
}

// content identifies the inputs and settings of a version, whatever program made it.
func (v *version) content() string {
	if v == nil {
		return ""
	}
	return content(v.Stages)
}

// has reports whether a version holds the output of a stage, whole.
func (v *version) has(step Step) bool {
	if v == nil {
		return false
	}
	i := slices.IndexFunc(v.Stages, func(r Record) bool { return r.Fingerprint == step.record.Fingerprint })
	if i < 0 {
		return false
	}
	bytes, err := fileBytes(filepath.Join(v.path, step.Output))
	return err == nil && bytes == v.Stages[i].Bytes
}

func (v *version) write() error { return disk.WriteJSON(filepath.Join(v.path, RecordName), v) }

// fileBytes is the size of all files of an output together. A link, pipe or device among them is an
// error.
func fileBytes(output string) (bytes int64, err error) {
	err = filepath.WalkDir(output, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
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

// current is the version that the link names, nil when there is none.
func (c *Chain) current() (*version, error) {
	name, err := os.Readlink(filepath.Join(c.Dir, Current))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil,
			fault.New(fault.Usage, "move it elsewhere, or choose another --root or --dataset",
				"read %s: it is not a symbolic link to a version: %w",
				filepath.Join(c.Dir, Current),
				err)
	}
	return readVersion(filepath.Join(c.Dir, name)), nil
}

var datasetName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// IsName reports whether a text can be the name of a dataset, which is in paths, logs and metrics.
func IsName(text string) bool { return datasetName.MatchString(text) }

var versionName = regexp.MustCompile(`^(\d{6,})-[0-9a-f]{8}$`)

// IsVersion reports whether a name is a version's.
func IsVersion(name string) bool { return versionName.MatchString(name) }

// IsUnfinished reports whether a name is an unfinished version's.
func IsUnfinished(name string) bool { return strings.HasPrefix(name, buildingPrefix) }

// Folders returns the names of a dataset's unfinished and finished versions, the latter oldest
// first.
func Folders(dir string) (unfinished, finished []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		switch name := entry.Name(); {
		case !entry.IsDir():
		case IsUnfinished(name):
			unfinished = append(unfinished, name)
		case IsVersion(name):
			finished = append(finished, name)
		}
	}
	slices.SortFunc(finished, func(a, b string) int { return Number(a) - Number(b) })
	return unfinished, finished, err
}

// Number returns the number in a version's name.
func Number(name string) int {
	n, _ := strconv.Atoi(versionName.FindStringSubmatch(name)[1])
	return n
}

// publish gives the unfinished version its name, and makes it current.
func (c *Chain) publish(plan *Plan) (string, error) {
	if err := c.checkUnchanged(plan); err != nil {
		return "", err
	}
	if err := plan.removeOthers(); err != nil {
		return "", err
	}
	_, names, err := Folders(c.Dir)
	if err != nil {
		return "", err
	}
	next := 1
	if len(names) > 0 {
		next = Number(names[len(names)-1]) + 1
	}
	name := fmt.Sprintf("%06d-%.8s", next, plan.Fingerprint)
	path := filepath.Join(c.Dir, name)
	for _, step := range []func() error{
		func() error { return disk.SyncTree(plan.unfinished.path) },
		func() error { return os.Rename(plan.unfinished.path, path) },
		func() error { return c.makeCurrent(name) },
	} {
		if err := step(); err != nil {
			return "", fmt.Errorf("publish version %s: %w", path, err)
		}
	}
	c.Log.Info("published", "version", name)
	c.prune()
	return path, nil
}

// makeCurrent replaces the link atomically: a reader finds the old version or the new one.
func (c *Chain) makeCurrent(name string) error {
	if err := UpdateState(c.Dir, func(s *State) { s.Next = name }); err != nil {
		return err
	}
	temporary := filepath.Join(c.Dir, temporaryPrefix+Current)
	if err := os.Symlink(name, temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, filepath.Join(c.Dir, Current)); err != nil {
		return err
	}
	if err := disk.Sync(c.Dir); err != nil {
		c.Log.Warn("a power failure may undo this", "version", name, "error", err)
	}
	return UpdateState(c.Dir, func(s *State) {
		s.Current, s.Next, s.Content = name, "", readVersion(filepath.Join(c.Dir, name)).content()
	})
}

// removeOthers removes from the unfinished version all but the outputs of finished stages.
func (p *Plan) removeOthers() error {
	entries, err := os.ReadDir(p.unfinished.path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		made := entry.Name() == RecordName || slices.ContainsFunc(p.Steps,
			func(step Step) bool { return step.Action == Done && step.Output == entry.Name() })
		if made {
			continue
		}
		if err := os.RemoveAll(filepath.Join(p.unfinished.path, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// prune removes the versions that are too old to keep, never the current one. The version that was
// made is published whether or not others can be removed.
func (c *Chain) prune() {
	_, names, err := Folders(c.Dir)
	current, linkErr := os.Readlink(filepath.Join(c.Dir, Current))
	if err = errors.Join(err, linkErr); err != nil {
		c.Log.Warn("old versions stay", "error", err)
		return
	}
	for _, name := range names[:max(0, len(names)-c.Keep)] {
		path := filepath.Join(c.Dir, name)
		if name != current && c.warnIfLeft(path, c.discard(path)) {
			c.Log.Info("removed", "version", name)
		}
	}
}

// sweep removes what killed runs left: temporary folders, and unfinished versions except one that
// will be resumed.
func (c *Chain) sweep(resumed string) error {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(c.Dir, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), temporaryPrefix):
			c.warnIfLeft(path, os.RemoveAll(path))
		case IsUnfinished(entry.Name()) && path != resumed:
			c.warnIfLeft(path, c.discard(path))
		}
	}
	return nil
}

// discard removes a folder. It renames the folder first, so that nobody finds half of it.
func (c *Chain) discard(path string) error {
	temporary, err := c.temporary()
	if err != nil {
		return err
	}
	err = os.Rename(path, filepath.Join(temporary, "removed"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(temporary))
}

// temporary makes a folder that every run removes which may write to the dataset's folder.
func (c *Chain) temporary() (path string, err error) {
	path = filepath.Join(c.Dir, temporaryPrefix+rand.Text())
	return path, os.Mkdir(path, 0o777)
}

// warnIfLeft reports whether a path was removed. One that stays, because of err, does no harm: a
// warning says whose it is, and what its owner can do.
func (c *Chain) warnIfLeft(path string, err error) (removed bool) {
	if err == nil {
		return true
	}
	if inside, ok := errors.AsType[*fs.PathError](err); ok {
		for each := inside.Path; len(each) > len(c.Dir); each = filepath.Dir(each) {
			if path = each; disk.IsMine(filepath.Dir(each)) {
				break
			}
		}
	}
	owner := ownerOf(path)
	c.Log.Warn("not removed", "path", path, "owner", owner, "fix",
		fmt.Sprintf("as %s: chmod -R g+w %s", owner, path), "error", err)
	return false
}

func ownerOf(path string) string {
	var stat unix.Stat_t
	if unix.Lstat(path, &stat) != nil {
		return "unknown"
	}
	id := strconv.Itoa(int(stat.Uid))
	if known, err := user.LookupId(id); err == nil {
		return known.Username
	}
	return id
}
