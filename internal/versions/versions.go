package versions

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
	Stages []Record `json:"stages"`

	name string
	path string
}

// readVersion reads the record of a folder; nil if it has no readable one.
func readVersion(path string) *version {
	v := &version{name: filepath.Base(path), path: path}
	if disk.ReadJSON(filepath.Join(path, RecordName), v) != nil {
		return nil
	}
	return v
}

// has reports whether a version holds the output of a stage with that fingerprint, whole.
func (v *version) has(record Record) bool {
	if v == nil {
		return false
	}
	i := slices.IndexFunc(v.Stages, func(r Record) bool { return r.Fingerprint == record.Fingerprint })
	if i < 0 {
		return false
	}
	bytes, err := fileBytes(filepath.Join(v.path, record.Output), record.added)
	return err == nil && bytes == v.Stages[i].Bytes
}

func (v *version) write(dir string) error { return disk.WriteJSON(filepath.Join(dir, RecordName), v) }

// current is the version that the link names, nil when there is none.
func (c *Chain) current() (*version, error) {
	name, err := os.Readlink(filepath.Join(c.Dir, Current))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Usage, "move it away, or choose another --root or --dataset",
			"read %s: it is not a symbolic link to a version: %w", filepath.Join(c.Dir, Current), err)
	}
	return readVersion(filepath.Join(c.Dir, name)), nil
}

var versionName = regexp.MustCompile(`^(\d{6,})-[0-9a-f]{8}$`)

// IsVersion reports whether a name is that of a version.
func IsVersion(name string) bool { return versionName.MatchString(name) }

// Folders returns the names of a dataset's unfinished and finished versions, the latter oldest
// first.
func Folders(dir string) (unfinished, finished []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		switch name := entry.Name(); {
		case !entry.IsDir():
		case strings.HasPrefix(name, buildingPrefix):
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
	if err := plan.sources.unchanged(); err != nil {
		return "", err
	}
	if err := plan.sweep(); err != nil {
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
		func() error { return disk.SyncTree(plan.building) },
		func() error { return os.Rename(plan.building, path) },
		func() error { return c.makeCurrent(name) },
	} {
		if err := step(); err != nil {
			return "", fmt.Errorf("publish version %s: %w", path, err)
		}
	}
	c.Log.Info("published", "version", name)
	return path, c.prune()
}

// makeCurrent replaces the link atomically: a reader finds the old version or the new one.
func (c *Chain) makeCurrent(name string) error {
	temporary := filepath.Join(c.Dir, temporaryPrefix+Current)
	if err := os.Symlink(name, temporary); err != nil {
		return err
	}
	return errors.Join(os.Rename(temporary, filepath.Join(c.Dir, Current)), disk.Sync(c.Dir))
}

// sweep removes leftovers of killed stages from the unfinished version.
func (p *Plan) sweep() error {
	entries, err := os.ReadDir(p.building)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		made := entry.Name() == RecordName || slices.ContainsFunc(p.Steps,
			func(step Step) bool { return step.stage.Output == entry.Name() })
		if made {
			continue
		}
		if err := os.RemoveAll(filepath.Join(p.building, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// prune removes the versions that are too old to keep, never the current one.
func (c *Chain) prune() error {
	_, names, err := Folders(c.Dir)
	if err != nil {
		return err
	}
	current, err := os.Readlink(filepath.Join(c.Dir, Current))
	if err != nil {
		return err
	}
	for _, name := range names[:max(0, len(names)-c.Keep)] {
		if name == current {
			continue
		}
		if err := c.discard(filepath.Join(c.Dir, name)); err != nil {
			return err
		}
		c.Log.Info("removed", "version", name)
	}
	return nil
}

// removeTemporary removes what killed runs left half created or half removed.
func (c *Chain) removeTemporary() error {
	return c.each(temporaryPrefix, remove)
}

// removeStale removes unfinished versions that will not be resumed. Of several processes that run
// a chain together none does: another chain may wait for this one.
func (c *Chain) removeStale(plan *Plan) error {
	if c.Pin != nil {
		return nil
	}
	return c.each(buildingPrefix, func(path string) error {
		if path == plan.building && plan.ready == nil {
			return nil
		}
		return c.discard(path)
	})
}

// each calls do with every path in the dataset's folder whose name has a prefix.
func (c *Chain) each(prefix string, do func(path string) error) error {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) {
			if err := do(filepath.Join(c.Dir, entry.Name())); err != nil {
				return err
			}
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
	return errors.Join(err, remove(temporary))
}

// temporary makes a folder that every run removes which may write to the dataset's folder.
func (c *Chain) temporary() (path string, err error) {
	path = filepath.Join(c.Dir, temporaryPrefix+rand.Text())
	return path, os.Mkdir(path, 0o777)
}

// remove removes what nobody needs. What another user protected stays, and does no harm.
func remove(path string) error {
	if err := os.RemoveAll(path); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
