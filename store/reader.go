package store

import (
	"errors"
	"slices"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/internal/lmdbfile"
)

// Reader reads a dataset's samples. It is for one goroutine, and must be closed.
type Reader struct {
	dataset *Dataset
	samples *samplesReader // of the incidence variant
	record  encode.Record

	files map[int]*shardFile // open shards
	shard int                // index of the shard read last; -1 for none
	file  *shardFile

	first int // first sample of value; -1 for none
	count int
	value []byte
}

// NewReader makes a reader; files are opened when they are first needed.
func (d *Dataset) NewReader() *Reader {
	return &Reader{dataset: d, files: map[int]*shardFile{}, shard: -1, first: -1}
}

// Record reads a sample, 0 <= sample < Manifest.Samples. The record is a view, valid until the next
// call; in the incidence variant it has no payload. With a fault.Damaged it also returns what can
// be read of a damaged record, or nil. Damage elsewhere in the file does not matter. The first
// sample of a value costs reading the whole value, the others only their checksums.
func (r *Reader) Record(sample int) (*encode.Record, error) {
	if r.dataset.Manifest.Variant == Incidence {
		return r.fromSamples(sample)
	}
	parsed, err := r.fromShard(sample)
	if !parsed {
		return nil, r.damaged(sample, err)
	}
	if err != nil {
		return &r.record, r.damaged(sample, err)
	}
	return &r.record, nil
}

func (r *Reader) fromSamples(sample int) (*encode.Record, error) {
	if r.samples == nil {
		var err error
		if r.samples, err = r.dataset.openSamples(); err != nil {
			return nil, err
		}
	}
	return r.samples.read(sample)
}

// damaged adds the file to the error of a damaged sample. Other errors, of the disk or of a whole
// file, are returned unchanged.
func (r *Reader) damaged(sample int, err error) error {
	if !errors.Is(err, encode.ErrDamaged) && !errors.Is(err, lmdbfile.ErrDamaged) || fault.KindOf(err) == fault.Damaged {
		return err
	}
	return r.dataset.damaged(r.dataset.Manifest.Shards[r.shard].Name+"/"+dataName, "sample %d: %w", sample, err)
}

// fromShard finds a sample's record and parses it, as encode.Value.Record does.
func (r *Reader) fromShard(sample int) (parsed bool, err error) {
	m := r.dataset.Manifest
	shard, _ := slices.BinarySearchFunc(m.Shards, sample, func(s ShardRange, sample int) int {
		if s.First+s.Samples <= sample {
			return -1
		}
		return 1
	})
	if shard != r.shard {
		if err := r.open(shard); err != nil {
			return false, err
		}
	}
	within := sample - m.Shards[shard].First
	first := sample - within%m.SamplesPerValue
	if first != r.first {
		if err := r.load(first, min(m.SamplesPerValue, m.Shards[shard].First+m.Shards[shard].Samples-first)); err != nil {
			return false, err
		}
	}
	value, err := encode.ParseValue(r.value, m.Seed(), first, r.count)
	if err != nil {
		return false, err
	}
	return value.Record(sample-first, len(m.Phenotypes), &r.record)
}

// openShards is how many shards a reader keeps open: enough to read datasets of any size in random
// order.
const openShards = 8

func (r *Reader) open(shard int) error {
	r.shard, r.file, r.first = -1, nil, -1
	if file := r.files[shard]; file != nil {
		r.shard, r.file = shard, file
		return nil
	}
	for other, file := range r.files {
		if len(r.files) < openShards {
			break
		}
		file.close()
		delete(r.files, other)
	}
	file, err := r.dataset.openShard(shard)
	if err != nil {
		return err
	}
	r.files[shard], r.shard, r.file = file, shard, file
	return nil
}

func (r *Reader) load(first, count int) (err error) {
	r.first = -1
	if r.value, err = r.file.read(first, r.value); err == nil {
		r.first, r.count = first, count
	}
	return err
}

// Close releases the reader's files and invalidates its views.
func (r *Reader) Close() {
	for _, file := range r.files {
		file.close()
	}
	if r.samples != nil {
		r.samples.close()
	}
}
