package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tcbuild/internal/disk"
)

// UseScratch has the shards built in a new folder inside dir, which should be node-local: LMDB's
// memory maps are slow on parallel file systems. A complete or interrupted shard is copied to its
// place in the dataset under construction; what a killed process left on scratch is lost: the next
// build of the same name there removes it, and so does 'tcbuild clean'. Call it before the first
// Shard.
func (b *Building) UseScratch(dir string) error {
	scratch, err := disk.NewTemporary(filepath.Join(dir, filepath.Base(b.out)))
	if err != nil {
		return fmt.Errorf("build shards on scratch: %w", err)
	}
	b.scratch = scratch
	return nil
}

// copyToScratch copies the part of a shard that an interrupted build left in place.
func (b *Building) copyToScratch(shard string) error {
	dir := filepath.Join(b.scratch.Path, shard)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	err := copyFile(b.path(shard, dataName), filepath.Join(dir, dataName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// moveInPlace copies a shard from scratch into the dataset under construction, where it appears
// complete and synced.
func (b *Building) moveInPlace(shard string) error {
	if err := os.RemoveAll(b.path(shard)); err != nil {
		return err
	}
	err := b.put(shard, func(path string) error {
		if err := os.Mkdir(path, 0o777); err != nil {
			return err
		}
		return copyFile(filepath.Join(b.scratch.Path, shard, dataName), filepath.Join(path, dataName))
	})
	if err != nil {
		return fmt.Errorf("move shard %s in place: %w", shard, err)
	}
	return os.RemoveAll(filepath.Join(b.scratch.Path, shard))
}

// copyFile makes or replaces a file.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
