package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// Shard is a shard under construction, in a temporary folder. It gets its place in the dataset when
// it is complete; one that is not is lost when the build ends. Its methods must be called from one
// OS thread, except Seal.
type Shard struct {
	ShardRange
	building *Building
	folder   *disk.Temporary
	shardWriter
}

// UseScratch has the shards built inside dir, which should be node-local: LMDB's memory maps are
// slow on parallel file systems. What a killed process left there is removed by the next build of
// the same shard there.
func (b *Building) UseScratch(dir string) { b.scratch = dir }

// Unfinished returns the numbers of the shards that are not complete.
func (b *Building) Unfinished() (unfinished []int) {
	for i := range b.Manifest.Shards {
		if !b.complete(i) {
			unfinished = append(unfinished, i)
		}
	}
	return unfinished
}

// complete reports whether a shard is in its place.
func (b *Building) complete(shard int) bool {
	_, err := os.Stat(b.path(b.Manifest.Shards[shard].Name))
	return err == nil
}

// WorthResuming reports whether a shard is complete.
func (b *Building) WorthResuming() bool {
	return len(b.Unfinished()) < len(b.Manifest.Shards)
}

// Shard begins the i-th shard.
func (b *Building) Shard(i int) (*Shard, error) {
	s := &Shard{ShardRange: b.Manifest.Shards[i], building: b}
	root := b.path(".build")
	if b.scratch != "" {
		root = b.scratch
	}
	var err error
	if s.folder, err = disk.NewTemporary(filepath.Join(root, s.Name)); err != nil {
		return nil, err
	}
	if err := os.Mkdir(s.folder.Path, 0o777); err != nil {
		return nil, errors.Join(err, s.folder.Discard())
	}
	s.dir = s.folder.Path
	return s, nil
}

// Discard removes the shard.
func (s *Shard) Discard() error {
	s.abort()
	return s.folder.Discard()
}

// Seal hashes and syncs a committed shard, and gives it its place.
func (s *Shard) Seal() error {
	b := s.building
	file, err := HashFile(s.folder.Path, dataName)
	if err != nil {
		return errors.Join(err, s.folder.Discard())
	}
	file.Name = s.Name + "/" + dataName
	// Of a shard that is in its place the digest is known.
	if err := disk.WriteJSON(b.digestPath(s.Name), file); err != nil {
		return errors.Join(err, s.folder.Discard())
	}
	if b.scratch == "" {
		err = b.adopt(s.folder, s.Name) // after hashing: by then most of it is on disk
	} else {
		err = errors.Join(b.put(s.Name, s.copyTo), s.folder.Discard())
	}
	if err != nil {
		return fmt.Errorf("move shard %s in place: %w", s.Name, err)
	}
	return nil
}

func (b *Building) digestPath(shard string) string { return b.path(".build", shard+".json") }

// copyTo copies the shard from scratch.
func (s *Shard) copyTo(dir string) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	return disk.Copy(filepath.Join(s.folder.Path, dataName), filepath.Join(dir, dataName))
}

// shardFiles returns the shards' files, nil while one is not complete.
func (b *Building) shardFiles() ([]File, error) {
	files := make([]File, len(b.Manifest.Shards))
	for i, shard := range b.Manifest.Shards {
		if !b.complete(i) {
			return nil, nil
		}
		err := disk.ReadJSON(b.digestPath(shard.Name), &files[i])
		if err == nil {
			_, err = os.Stat(b.path(shard.Name, dataName))
		}
		if err != nil {
			return nil, fault.New(fault.Damaged, hintNever, "%w", err)
		}
	}
	return files, nil
}

const hintNever = "to start from the beginning, run the build again, such as 'tcbuild dataset', " +
	"with --resume=never"

// ShardState is the progress of a shard.
type ShardState string

const (
	ShardDone    ShardState = "done"
	ShardRunning ShardState = "running" // a process is building it
	// not begun, queued in the running build, or interrupted, which loses what it had
	ShardWaiting ShardState = "waiting"
)

// ShardStatus is a shard's state and size.
type ShardStatus struct {
	ShardRange
	State ShardState
}

// Status returns the shards of a published or unfinished dataset. For the incidence variant, which
// has no shards, it returns one without a name, for the whole dataset. It changes nothing and may
// be called while builds run. If there is no dataset, it returns ReadManifest's error.
func Status(out string) ([]ShardStatus, error) {
	b := newBuilding(out)
	whole := false // one process builds all shards
	manifest, err := ReadManifest(b.out)
	published := err == nil
	if !published {
		plan, begun, planErr := b.readPlan()
		switch {
		case planErr != nil:
			return nil, planErr
		case !begun:
			return nil, err
		case plan == nil:
			return nil, fault.New(fault.Damaged, hintNever,
				"read %s: it is not the plan of a build", b.path(".build", "plan.json"))
		}
		manifest, b.Manifest = plan, plan
		if whole, err = locked(b.path(".build", "lock")); err != nil {
			return nil, err
		}
	}
	ranges := manifest.Shards
	if manifest.Variant == Incidence {
		ranges = []ShardRange{{Samples: manifest.Samples}}
	}
	var shards []ShardStatus
	for i, shard := range ranges {
		status := ShardStatus{shard, ShardDone}
		if !published && (manifest.Variant == Incidence || !b.complete(i)) {
			status.State = ShardWaiting
			apart, err := locked(b.path(".build", shard.Name+".lock"))
			if err != nil {
				return nil, err
			}
			if whole || apart {
				// one process that builds all works on the first shard that is left
				status.State, whole = ShardRunning, false
			}
		}
		shards = append(shards, status)
	}
	return shards, nil
}

// locked reports whether a process holds an exclusive lock. It needs no write permission.
func locked(path string) (bool, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		if fault.System(err) {
			return false, err
		}
		return false, nil
	}
	defer file.Close()
	switch err := unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("lock %s: %w", path, err)
	}
	return false, nil
}
