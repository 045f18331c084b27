package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/internal/disk"
)

// Resume says what a build does about an unfinished build of the same dataset.
type Resume string

const (
	ResumeNever Resume = "never" // start from the beginning
	// resume if inputs and options are the same, else start from the beginning
	ResumeIfPossible Resume = "if-possible"
	ResumeAlways     Resume = "always" // resume, or fail
)

// Building is a dataset under construction, in the folder OUT.building beside its final name. It is
// locked against other builds until Close. Files that only the build needs are in its subfolder
// .build, which is removed when the dataset is published.
type Building struct {
	Manifest *Manifest // complete except for Files
	Resumed  bool      // an earlier build of the same dataset is continued
	// how an unfinished build differed that was removed to start again; "" if none was
	Dropped string

	out       string
	dir       string
	lock      *os.File // exclusive; shared when building a single shard
	shardLock *os.File // of the single shard
	scratch   string   // of UseScratch; "": shards are built in .build
}

// AllShards as the shard given to Begin builds the whole dataset.
const AllShards = -1

// Published returns the manifest of the dataset at out if it is the one that manifest describes,
// whichever version of the program built it; nil if out does not exist. Anything else at out is a
// fault.Usage.
func Published(out string, manifest *Manifest) (*Manifest, error) {
	info, err := os.Lstat(out)
	if err != nil {
		return nil, nil // if it cannot be created either, Begin says why
	}
	// a link to an empty folder cannot be replaced
	if entries, err := os.ReadDir(out); err == nil && len(entries) == 0 && info.IsDir() {
		return nil, nil
	}
	const hint = "remove it, or choose another --out"
	existing, err := ReadManifest(out)
	if err != nil {
		return nil, fault.New(fault.Usage, hint,
			"write dataset %s: the path exists and is not a dataset of this format version", out)
	}
	if difference := existing.Difference(manifest, "program"); difference != "" {
		return nil, fault.New(fault.Usage, hint,
			"write dataset %s: the path exists and is another dataset, which differs in its %s",
			out, difference)
	}
	// left by a build that was killed just after publishing
	_ = disk.Sweep(out)
	removeEmptied(filepath.Clean(out) + ".building")
	return existing, nil
}

// removeEmptied removes a folder under construction after its content was published, unless a
// process uses it.
func removeEmptied(dir string) {
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 || entries[0].Name() != ".build" || !disk.IsMine(dir) {
		return
	}
	if lock, err := disk.TryLock(filepath.Join(dir, ".build", "lock"), disk.Alone); err == nil {
		_ = os.RemoveAll(dir)
		lock.Close()
	}
}

// Begin starts or resumes the dataset out. If shard is not AllShards, only that shard is locked and
// built; other processes may build the others at the same time.
func Begin(out string, manifest *Manifest, resume Resume, shard int) (*Building, error) {
	b := newBuilding(out)
	b.Manifest = manifest
	if err := b.makeFolder(); err != nil {
		return nil, err
	}
	if err := disk.Sweep(b.out); err != nil {
		return nil, fmt.Errorf("write dataset %s: %w", b.out, err)
	}
	if err := b.begin(resume, shard); err != nil {
		b.Close()
		os.Remove(b.path(".build")) // both fail unless they are empty
		os.Remove(b.dir)
		return nil, err
	}
	return b, nil
}

func newBuilding(out string) *Building {
	out = filepath.Clean(out)
	return &Building{out: out, dir: out + ".building"}
}

// makeFolder makes the folder under construction, or takes this user's earlier one. A link, or
// another user's folder, is refused: it would be published. So is a folder that no build made,
// whose content would be lost.
func (b *Building) makeFolder() error {
	if _, err := disk.Resolve(b.out); err != nil {
		return fmt.Errorf("write dataset %s: %w", b.out, err)
	}
	if err := os.MkdirAll(filepath.Dir(b.dir), 0o777); err != nil {
		return fmt.Errorf("write dataset %s: %w", b.out, err)
	}
	entries, _ := os.ReadDir(b.dir)
	isBuild := func(entry fs.DirEntry) bool { return entry.Name() == ".build" }
	if len(entries) > 0 && !slices.ContainsFunc(entries, isBuild) {
		return fault.New(fault.Usage, "move it elsewhere, or choose another --out",
			"write dataset %s: found %s, which no build made", b.out, b.dir)
	}
	for _, dir := range []string{b.dir, b.path(".build")} {
		if err := os.Mkdir(dir, 0o777); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("write dataset %s: %w", b.out, err)
		}
		info, err := os.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return b.justEnded()
		}
		if err != nil || !info.IsDir() || !disk.IsMine(dir) {
			return fault.New(fault.Usage, "remove it, or choose another --out",
				"write dataset %s: found %s, which is a link or another user's, "+
					"expected a folder that you own, or nothing", b.out, dir)
		}
	}
	return nil
}

func (b *Building) begin(resume Resume, shard int) error {
	lock, err := waitForLock(b.path(".build", "lock"), disk.Alone, briefly)
	switch {
	case err == nil:
		b.lock = lock
		if err := b.prepare(resume, shard); err != nil {
			return err
		}
	case shard == AllShards || !errors.Is(err, disk.ErrLocked):
		return b.notLocked(err)
	}
	if shard == AllShards {
		return nil
	}
	return b.joinOthers(resume, shard)
}

// How long to wait for a lock that Status may hold for a moment, to test it. A task of a chain,
// which builds a shard, is not to fail because Status is slow.
var (
	briefly   = 100 * time.Millisecond
	forTask   = 5 * time.Second
	toPublish = 2 * time.Second
)

// waitForLock takes a lock, or gives up after the given time with disk.ErrLocked.
func waitForLock(path string, sharing disk.Sharing, patience time.Duration) (*os.File, error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		lock, err := disk.TryLock(path, sharing)
		if !errors.Is(err, disk.ErrLocked) || time.Now().After(deadline) {
			return lock, err
		}
	}
}

// notLocked is the error of a lock that was not taken: held by another build, gone with the build
// that held it, or unusable.
func (b *Building) notLocked(err error) error {
	if errors.Is(err, disk.ErrLocked) || errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Busy, "wait until it is done, or choose another --out",
			"write dataset %s: another build of it is running", b.out)
	}
	return fmt.Errorf("lock dataset %s: %w", b.out, err)
}

func (b *Building) justEnded() error {
	return fault.New(fault.Busy, "run the same command again",
		"write dataset %s: another build of it has just ended", b.out)
}

// joinOthers takes a shared lock on the folder, beside processes that build other shards, and
// checks that they build the same dataset.
func (b *Building) joinOthers(resume Resume, shard int) error {
	b.lock.Close() // nil if another process has prepared the folder
	// A process that has completed its shard holds the lock for a moment, to check whether it was
	// the last, and longer if it was: it publishes the dataset.
	var err error
	if b.lock, err = waitForLock(b.path(".build", "lock"), disk.Shared, time.Minute); err != nil {
		return b.notLocked(err)
	}
	if !disk.IsCurrent(b.lock) {
		return b.justEnded()
	}
	name := b.Manifest.Shards[shard].Name
	b.shardLock, err = waitForLock(b.path(".build", name+".lock"), disk.Alone, forTask)
	if err != nil {
		return b.notLocked(err)
	}
	switch difference, begun, err := b.difference(); {
	case err != nil:
		return fmt.Errorf("write dataset %s: %w", b.out, err)
	case !begun:
		return b.notLocked(disk.ErrLocked)
	case difference != "":
		return fault.New(fault.Usage, "remove "+b.dir+", or choose another --out",
			"write shard %d of dataset %s: the unfinished build differs in its %s", shard, b.out,
			difference)
	case resume == ResumeNever:
		return os.RemoveAll(b.path(name))
	}
	return nil
}

func (b *Building) path(elements ...string) string {
	return filepath.Join(append([]string{b.dir}, elements...)...)
}

// prepare checks that the folder belongs to this dataset, and empties it to start again if it does
// not.
func (b *Building) prepare(resume Resume, shard int) error {
	if !disk.IsCurrent(b.lock) {
		return b.justEnded()
	}
	difference, begun, err := b.difference()
	if err != nil {
		return fmt.Errorf("write dataset %s: %w", b.out, err)
	}
	if !begun {
		if _, err := os.Lstat(filepath.Join(b.out, manifestName)); err == nil {
			return errors.Join(b.justEnded(), b.Abandon())
		}
	}
	switch {
	case begun && shard != AllShards: // joinOthers compares the two
		b.Resumed = resume != ResumeNever
		return nil
	case begun && difference == "" && resume != ResumeNever:
		b.Resumed = true
		return nil
	case resume == ResumeAlways && !begun:
		os.Remove(b.lock.Name())
		return fault.New(fault.Usage, "omit --resume to start from the beginning",
			"resume dataset %s: found no unfinished build of it", b.out)
	case resume == ResumeAlways:
		return fault.New(fault.Usage, "omit --resume to start from the beginning",
			"resume dataset %s: the unfinished build differs in its %s", b.out, difference)
	}
	b.Dropped = difference
	if err = b.empty(); err == nil {
		err = disk.WriteWhole(b.path(".build", "plan.json"), marshal(b.Manifest))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write dataset %s: %w", b.out, err), b.Abandon())
	}
	return nil
}

// difference compares the manifest with the unfinished build's, if one has begun.
func (b *Building) difference() (difference string, begun bool, err error) {
	plan, begun, err := b.readPlan()
	switch {
	case !begun || err != nil:
		return "", begun, err
	case plan == nil:
		return "plan", true, nil
	}
	return b.Manifest.Difference(plan), true, nil
}

// readPlan reads the manifest of the unfinished build, if one has begun; it is nil when it is
// damaged.
func (b *Building) readPlan() (plan *Manifest, begun bool, err error) {
	switch err := disk.ReadJSON(b.path(".build", "plan.json"), &plan); {
	case fault.System(err):
		return nil, false, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, true, nil
	}
	return plan, true, nil
}

func (b *Building) empty() error {
	for _, folder := range []string{"", ".build"} {
		entries, err := os.ReadDir(b.path(folder))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			name := entry.Name()
			if name == ".build" || name == "lock" || filepath.Ext(name) == ".lock" {
				continue
			}
			if err := os.RemoveAll(b.path(folder, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteGraph writes the graph into the dataset, unless an earlier build did.
func (b *Building) WriteGraph(g *ingest.Graph) error {
	return b.put(graphName, func(path string) error { return graph.Write(path, g) })
}

// put makes a folder of the dataset, which appears complete and synced: a resumed build does not
// check it. It does nothing if an earlier build or another shard's process has made it.
func (b *Building) put(name string, make func(path string) error) error {
	if _, err := os.Stat(b.path(name)); err == nil {
		return nil
	}
	temporary, err := disk.NewTemporary(b.path(".build", name))
	if err != nil {
		return err
	}
	if err := make(temporary.Path); err != nil {
		return errors.Join(err, temporary.Discard())
	}
	return b.adopt(temporary, name)
}

// adopt moves a complete folder into the dataset, unless another shard's process was first.
func (b *Building) adopt(folder *disk.Temporary, name string) error {
	err := folder.PublishNew(b.path(name))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Abandon removes the folder under construction, after a build that failed with nothing worth
// keeping.
func (b *Building) Abandon() error {
	return os.RemoveAll(b.dir)
}

// Close releases the locks. Unless published or abandoned, the folder stays, to be resumed.
func (b *Building) Close() {
	b.shardLock.Close() // either may be nil
	b.lock.Close()
}
