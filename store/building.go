package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"tcbuild/ingest"
	"tcbuild/internal/disk"
	"tcbuild/internal/fault"
)

// Resume says what a build does with an unfinished one of the same name.
type Resume string

const (
	ResumeNever      Resume = "never"       // start from the beginning
	ResumeIfPossible Resume = "if-possible" // go on when inputs and options are the same, else start from the beginning
	ResumeAlways     Resume = "always"      // go on, or fail
)

// Building is a dataset under construction, in the folder OUT.building beside its
// final name. It is locked against other builds until Close. What only the build needs lies in its
// subfolder .build, which goes when the dataset is published.
type Building struct {
	Manifest *Manifest // complete but for Files
	Resumed  bool      // an earlier build of the same dataset is continued

	out       string
	dir       string
	lock      *flock.Flock // exclusive, or shared when one shard is built apart
	shardLock *flock.Flock // of the shard that is built apart
	scratch   string       // folder of UseScratch
}

// AllShards as the shard given to Begin builds the whole dataset.
const AllShards = -1

// Published returns the manifest of the dataset out if it is the one that manifest describes, nil if
// there is nothing of that name. Something else of that name is a fault.Usage.
func Published(out string, manifest *Manifest) (*Manifest, error) {
	if _, err := os.Lstat(out); err != nil {
		return nil, nil // where it cannot be made either, Begin says why
	}
	if entries, err := os.ReadDir(out); err == nil && len(entries) == 0 {
		return nil, nil
	}
	const hint = "remove it, or choose another --out"
	existing, err := ReadManifest(out)
	if err != nil {
		return nil, fault.New(fault.Usage, hint, "write dataset %s: it exists and is not a dataset of this version", out)
	}
	if difference := existing.Difference(manifest); difference != "" {
		return nil, fault.New(fault.Usage, hint, "write dataset %s: it exists and is another dataset (its %s differs)", out, difference)
	}
	return existing, os.RemoveAll(filepath.Join(out, ".build")) // a build that was killed just after its end leaves it
}

// Begin starts or resumes the dataset out. With shard other than AllShards only that
// shard is locked and built, beside other processes that build other ones.
func Begin(out string, manifest *Manifest, resume Resume, shard int) (*Building, error) {
	b := &Building{Manifest: manifest, out: filepath.Clean(out), dir: filepath.Clean(out) + ".building"}
	if err := b.begin(resume, shard); err != nil {
		b.Close()
		os.Remove(b.path(".build")) // both fail unless they are empty
		os.Remove(b.dir)
		return nil, err
	}
	return b, nil
}

func (b *Building) begin(resume Resume, shard int) error {
	if err := os.MkdirAll(b.path(".build"), 0o755); err != nil {
		return fmt.Errorf("write dataset %s: %w", b.out, err)
	}
	b.lock = flock.New(b.path(".build", "lock"))
	alone, err := lockBriefly(b.lock)
	switch {
	case err != nil:
		return fmt.Errorf("lock dataset %s: %w", b.out, err)
	case alone:
		if err := b.prepare(resume, shard); err != nil {
			return err
		}
	case shard == AllShards:
		return b.busy()
	}
	if shard == AllShards {
		return nil
	}
	return b.joinOthers(resume, shard, alone)
}

// lockBriefly tries to take a lock for a tenth of a second: Status holds one for a moment, to look at it.
func lockBriefly(lock *flock.Flock) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	locked, err := lock.TryLockContext(ctx, 10*time.Millisecond)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fs.ErrNotExist) { // its holder has just published
		return false, nil
	}
	return locked, err
}

func (b *Building) busy() error {
	return fault.New(fault.Busy, "wait until it is done, or choose another --out", "write dataset %s: another build of it is running", b.out)
}

func (b *Building) justEnded() error {
	return fault.New(fault.Busy, "run the same command again", "write dataset %s: another build of it has just ended", b.out)
}

// joinOthers shares the folder with processes that build other shards.
func (b *Building) joinOthers(resume Resume, shard int, prepared bool) error {
	if prepared {
		if err := b.lock.Unlock(); err != nil {
			return err
		}
	}
	// A process that has ended its shard holds the lock for a moment, to look whether it was the last.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if shared, _ := b.lock.TryRLockContext(ctx, 20*time.Millisecond); !shared || !current(b.lock) {
		return b.busy()
	}
	b.shardLock = flock.New(b.path(".build", b.Manifest.Shards[shard].Name+".lock"))
	if locked, err := lockBriefly(b.shardLock); err != nil || !locked {
		return errors.Join(err, b.busy())
	}
	if prepared {
		return nil
	}
	switch difference, begun := b.difference(); {
	case !begun:
		return b.busy()
	case difference != "":
		return b.differs(shard, difference)
	case resume == ResumeNever:
		return b.forgetShard(shard)
	}
	return nil
}

func (b *Building) differs(shard int, difference string) error {
	return fault.New(fault.Usage, "remove "+b.dir+", or choose another --out",
		"write shard %d of dataset %s: the unfinished build differs in its %s", shard, b.out, difference)
}

// current tells a lock on the file that now has its name from one on the lock file of a build that was
// published between the file's opening and its locking.
func current(lock *flock.Flock) bool {
	held, err1 := lock.Stat()
	named, err2 := os.Stat(lock.Path())
	return err1 == nil && err2 == nil && os.SameFile(held, named)
}

// path is a file inside the folder under construction.
func (b *Building) path(elements ...string) string {
	return filepath.Join(append([]string{b.dir}, elements...)...)
}

// prepare makes sure that the folder is of this dataset, and empties it where it is to start anew.
func (b *Building) prepare(resume Resume, shard int) error {
	if !current(b.lock) {
		return b.justEnded()
	}
	difference, begun := b.difference()
	if !begun {
		if _, err := os.Lstat(filepath.Join(b.out, manifestName)); err == nil {
			return errors.Join(b.justEnded(), b.Abandon())
		}
	}
	switch {
	case begun && difference == "" && resume != ResumeNever:
		b.Resumed = true
		return nil
	case resume == ResumeAlways && !begun:
		os.Remove(b.lock.Path())
		return fault.New(fault.Usage, "leave --resume away to start from the beginning", "resume dataset %s: there is no unfinished build of it", b.out)
	case resume == ResumeAlways:
		return fault.New(fault.Usage, "leave --resume away to start from the beginning",
			"resume dataset %s: the unfinished build differs in its %s", b.out, difference)
	case begun && difference == "" && shard != AllShards:
		return b.forgetShard(shard)
	case begun && shard != AllShards:
		return b.differs(shard, difference)
	}
	err := b.empty()
	if err == nil {
		err = b.writeWhole(filepath.Join(".build", "plan.json"), marshal(b.Manifest))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write dataset %s: %w", b.out, err), b.Abandon())
	}
	return nil
}

// difference compares the manifest with that of the unfinished build, if one has begun.
func (b *Building) difference() (difference string, begun bool) {
	plan, begun := b.readPlan()
	switch {
	case !begun:
		return "", false
	case plan == nil:
		return "plan", true
	}
	return b.Manifest.Difference(plan), true
}

// readPlan reads the manifest of the unfinished build, if one has begun; it is nil when it is damaged.
func (b *Building) readPlan() (plan *Manifest, begun bool) {
	text, err := os.ReadFile(b.path(".build", "plan.json"))
	if err != nil {
		return nil, false
	}
	if json.Unmarshal(text, &plan) != nil {
		return nil, true
	}
	return plan, true
}

// empty removes everything but the locks.
func (b *Building) empty() error {
	for _, folder := range []string{"", ".build"} {
		entries, err := os.ReadDir(b.path(folder))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if name := entry.Name(); name == ".build" || name == "lock" || filepath.Ext(name) == ".lock" {
				continue
			}
			if err := os.RemoveAll(b.path(folder, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeWhole writes a file that appears under its name complete.
func (b *Building) writeWhole(name string, text []byte) error {
	temporary, err := os.CreateTemp(b.path(".build"), "part-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Chmod(0o644), temporary.Sync(), temporary.Close()); err != nil {
		return fmt.Errorf("write %s: %w", b.path(name), err)
	}
	return os.Rename(temporary.Name(), b.path(name))
}

// WriteGraph puts the graph into the dataset, unless a build before did.
func (b *Building) WriteGraph(graph *ingest.Graph) error {
	if _, err := os.Stat(b.path(graphName)); err == nil {
		return nil
	}
	temporary, err := os.MkdirTemp(b.path(".build"), "graph-")
	if err != nil {
		return err
	}
	whole := filepath.Join(temporary, graphName)
	if err := ingest.WriteGraph(whole, graph); err != nil {
		return err
	}
	if err := disk.SyncTree(whole); err != nil { // a resumed build takes it as it is
		return err
	}
	err = os.Rename(whole, b.path(graphName))
	if errors.Is(err, fs.ErrExist) {
		return nil // a shard built beside this one was first
	}
	return err
}

// Abandon removes the folder under construction: for a build that failed with nothing in it worth keeping.
func (b *Building) Abandon() error {
	return os.RemoveAll(b.dir)
}

// Close releases the locks and removes what is on scratch. The folder stays, to be resumed, unless it was published or abandoned.
func (b *Building) Close() {
	if b.scratch != "" {
		os.RemoveAll(b.scratch)
	}
	for _, lock := range []*flock.Flock{b.shardLock, b.lock} {
		if lock != nil {
			lock.Close()
		}
	}
}
