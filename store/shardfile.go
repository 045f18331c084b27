package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"tcbuild/encode"
	"tcbuild/internal/lmdbfile"
)

// shardFile is a shard's data.mdb, read by key. It is for one goroutine.
type shardFile struct {
	*lmdbfile.File
	file *os.File
}

// openShard opens a shard. A number of values that differs from the manifest's is a fault.Damaged.
func (d *Dataset) openShard(i int) (*shardFile, error) {
	shard := d.Manifest.Shards[i]
	name := shard.Name + "/" + dataName
	file, size, err := d.open(name)
	if err != nil {
		return nil, err
	}
	pages, err := lmdbfile.New(file, size)
	if want := d.Manifest.valuesOf(shard); err == nil && pages.Entries() != uint64(want) {
		err = fmt.Errorf("it has %d values, expected %d: %w", pages.Entries(), want, encode.ErrDamaged)
	}
	if err == nil {
		return &shardFile{pages, file}, nil
	}
	file.Close()
	if errors.Is(err, encode.ErrDamaged) || errors.Is(err, lmdbfile.ErrDamaged) {
		return nil, d.damaged(name, "samples %d to %d: %w", shard.First, shard.First+shard.Samples-1, err)
	}
	return nil, fmt.Errorf("read dataset %s: %w", d.Dir, err)
}

// valuesOf is the number of LMDB values of a shard.
func (m *Manifest) valuesOf(shard ShardRange) int {
	return (shard.Samples + m.SamplesPerValue - 1) / m.SamplesPerValue
}

// read reads the value that starts with a sample, into dst if it is large enough.
func (s *shardFile) read(first int, dst []byte) ([]byte, error) {
	var target [8]byte
	binary.BigEndian.PutUint64(target[:], uint64(first))
	key, err := s.Seek(target[:])
	if err != nil {
		return dst, err
	}
	if !bytes.Equal(key, target[:]) {
		return dst, fmt.Errorf("no value starts with sample %d: %w", first, encode.ErrDamaged)
	}
	value, err := s.Value(dst)
	if err != nil {
		return dst, err
	}
	return value, nil
}

func (s *shardFile) close() { s.file.Close() }
