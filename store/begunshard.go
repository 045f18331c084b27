package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/internal/disk"
	"tcbuild/internal/lmdbfile"
)

// openBegunShard opens the written part of an unfinished shard; nil if nothing is written. The
// shard may change meanwhile, or be torn, so its pages are read without LMDB's library.
func openBegunShard(dir string) (*shardFile, error) {
	file, size, err := disk.OpenRegular(filepath.Join(dir, dataName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, damagedBegun(dir, err)
	}
	if size == 0 { // killed before LMDB wrote its first pages
		file.Close()
		return nil, nil
	}
	pages, err := lmdbfile.New(file, size)
	if err != nil {
		file.Close()
		return nil, damagedBegun(dir, err)
	}
	return &shardFile{pages, file}, nil
}

const hintNever = "run again with --resume never to start from the beginning"

func damagedBegun(dir string, err error) error {
	if !errors.Is(err, lmdbfile.ErrDamaged) && !errors.Is(err, encode.ErrDamaged) && !noFile(err) {
		return fmt.Errorf("resume shard %s: %w", dir, err)
	}
	return fault.New(fault.Damaged, hintNever, "resume shard %s: %w", dir, err)
}

// next is the first sample that a shard does not hold yet.
func (s *shardFile) next(shard ShardRange, m *Manifest) int {
	values := min(s.Entries(), uint64(m.valuesOf(shard)))
	return shard.First + min(int(values)*m.SamplesPerValue, shard.Samples)
}

// checkValues checks that the values in the shard are its first ones and undamaged, and that LMDB
// can write to it.
func (s *shardFile) checkValues(shard ShardRange, m *Manifest) error {
	next, end := shard.First, shard.First+shard.Samples
	return s.Check(func(key, value []byte) error {
		if len(key) != 8 || binary.BigEndian.Uint64(key) != uint64(next) || next >= end {
			return fmt.Errorf("found key %x, expected that of sample %d (of %d to %d): %w", key, next, shard.First,
				end-1, encode.ErrDamaged)
		}
		count := min(m.SamplesPerValue, end-next)
		parsed, err := encode.ParseValue(value, m.Seed(), next, count)
		for i := 0; i < count && err == nil; i++ {
			if _, err = parsed.Payload(i); err != nil {
				err = fmt.Errorf("sample %d: %w", next+i, err)
			}
		}
		next += count
		return err
	})
}
