package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// shardState is a build's record of a shard, in .build/<shard>.json.
type shardState struct {
	// BootID identifies the boot of the machine that writes the shard: until the shard is synced,
	// its pages may be only in the page cache, which survives a killed process but not a power
	// loss. Empty once the shard is synced.
	BootID string `json:"boot_id,omitempty"`
	// File is the complete shard.
	File *File `json:"file,omitempty"`
}

// bootID identifies the current boot of this machine. On systems without one, power loss is not
// detected.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

func (b *Building) readState(shard int) (shardState, error) {
	var state shardState
	path := b.path(".build", b.Manifest.Shards[shard].Name+".json")
	err := disk.ReadJSON(path, &state)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return state, fault.New(fault.Damaged, hintNever, "read %s: %w", path, err)
	}
	return state, nil
}

func (b *Building) writeState(shard int, state shardState) error {
	return disk.WriteWhole(b.path(".build", b.Manifest.Shards[shard].Name+".json"), marshal(state))
}

// forgetShard restarts one shard from the beginning.
func (b *Building) forgetShard(shard int) error {
	return errors.Join(b.writeState(shard, shardState{}), os.RemoveAll(b.path(b.Manifest.Shards[shard].Name)))
}

// Shard is a shard under construction. Its methods must be called from one OS thread, except Seal.
type Shard struct {
	ShardRange
	Next     int  // the first sample not yet in it
	Complete bool // nothing is left to do

	index    int
	building *Building
	writer   *shardWriter
	begun    bool // its state is written
}

// shardRoot is the folder in which shards are built.
func (b *Building) shardRoot() string {
	if b.scratch != nil {
		return b.scratch.Path
	}
	return b.dir
}

// Shard returns the i-th shard, with what is already built of it.
func (b *Building) Shard(i int) (*Shard, error) {
	s := &Shard{ShardRange: b.Manifest.Shards[i], index: i, building: b}
	state, err := b.readState(i)
	if err != nil {
		return nil, err
	}
	if state.File != nil {
		s.Next, s.Complete = s.First+s.Samples, true
		return s, nil
	}
	if state.BootID != "" && state.BootID != bootID() { // its file may have lost pages
		if err := b.forgetShard(i); err != nil {
			return nil, err
		}
	}
	if b.scratch != nil {
		if err := b.copyToScratch(s.Name); err != nil {
			return nil, err
		}
	}
	s.writer, s.Next, err = openShardWriter(filepath.Join(b.shardRoot(), s.Name), s.ShardRange, b.Manifest)
	return s, err
}

// Put appends the value that starts with sample first.
func (s *Shard) Put(first int, value []byte) error {
	if !s.begun {
		begun := shardState{BootID: bootID()}
		if s.building.scratch != nil {
			begun = shardState{} // the copy in place is synced
		}
		if err := s.building.writeState(s.index, begun); err != nil {
			return err
		}
		s.begun = true
	}
	return s.writer.put(first, value)
}

// Commit ends writing: everything that was put is in the file, not yet synced.
func (s *Shard) Commit() error { return s.writer.commit() }

// Seal hashes and syncs a committed shard, and marks it complete. If the dataset is larger than
// memory, it also drops the shard from the page cache: the next shards reuse its pages instead of
// evicting other programs'.
func (s *Shard) Seal() error {
	b := s.building
	file, err := HashFile(b.shardRoot(), path.Join(s.Name, dataName))
	if err == nil && b.scratch != nil {
		err = b.moveInPlace(s.Name)
	}
	if err != nil {
		return err
	}
	// after hashing: by then most of it is on disk
	if err := disk.Sync(b.path(file.Name)); err != nil {
		return fmt.Errorf("sync shard %s: %w", s.writer.dir, err)
	}
	if file.Bytes*int64(len(b.Manifest.Shards)) > machineMemory()/2 {
		dropFromPageCache(b.path(file.Name))
	}
	return b.writeState(s.index, shardState{File: &file})
}

// machineMemory is the machine's memory in bytes.
func machineMemory() int64 {
	var machine unix.Sysinfo_t
	if err := unix.Sysinfo(&machine); err != nil {
		return math.MaxInt64
	}
	return int64(machine.Totalram) * int64(machine.Unit)
}

// dropFromPageCache frees the page cache of a synced file, if the file system allows it.
func dropFromPageCache(path string) {
	if f, err := os.Open(path); err == nil {
		_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		f.Close()
	}
}

// Interrupt drops uncommitted values and syncs the rest, so that the shard can be resumed on any
// machine.
func (s *Shard) Interrupt() error {
	s.writer.abort()
	if _, err := os.Stat(filepath.Join(s.writer.dir, dataName)); err != nil {
		return nil // nothing was committed
	}
	if s.building.scratch != nil {
		if err := s.building.moveInPlace(s.Name); err != nil {
			return err
		}
	}
	if err := disk.Sync(s.building.path(s.Name, dataName)); err != nil {
		return err
	}
	return s.building.writeState(s.index, shardState{})
}

// written counts the samples committed to a shard in its place; 0 if it is damaged.
func (b *Building) written(shard ShardRange) (int, error) {
	begun, err := openBegunShard(b.path(shard.Name))
	if fault.System(err) {
		return 0, err
	}
	if begun == nil || err != nil {
		return 0, nil
	}
	defer begun.close()
	return begun.next(shard, b.Manifest) - shard.First, nil
}

// WorthResuming reports whether any shard has committed samples, or cannot be read now.
func (b *Building) WorthResuming() bool {
	return slices.ContainsFunc(b.Manifest.Shards, func(shard ShardRange) bool {
		written, err := b.written(shard)
		return written > 0 || err != nil
	})
}
