package store

import (
	"errors"
	"slices"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/internal/lmdbfile"
	"tcbuild/store/internal/sampletable"
)

// Sample is what is stored of a sample.
type Sample struct {
	*ingest.Sample
	// Payload is the masks, as the codec writes them; nil in the incidence variant, and when it
	// cannot be read.
	Payload []byte
}

// Reader reads a dataset's samples. It is for one goroutine, and must be closed.
type Reader struct {
	dataset *Dataset
	rows    *sampletable.Reader // nil: not yet open
	sample  Sample

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

// Row reads a sample's row of the sample table, 0 <= sample < Manifest.Samples. It is a view, valid
// until the next call.
func (r *Reader) Row(sample int) (*ingest.Sample, error) {
	if r.rows == nil {
		samples, err := r.dataset.Samples()
		if err != nil {
			return nil, err
		}
		r.rows = samples.NewReader()
	}
	return r.rows.Row(sample)
}

// Stored reads what is stored of a sample, 0 <= sample < Manifest.Samples. It is a view, valid
// until the next call. If the payload is a fault.Damaged, the sample is returned as well, with the
// payload if that can be read. Damage elsewhere in the files does not matter.
func (r *Reader) Stored(sample int) (*Sample, error) {
	row, err := r.Row(sample)
	if err != nil {
		return nil, err
	}
	r.sample = Sample{Sample: row}
	if r.dataset.Manifest.Variant != Incidence {
		r.sample.Payload, err = r.Payload(sample)
	}
	return &r.sample, err
}

// Payload reads a sample's masks as they are stored, in the variants that store them. It is a view,
// valid until the next call. If its checksum is wrong, it is returned with the fault.Damaged. The
// first sample of a value costs reading the whole value, the others only their checksums.
func (r *Reader) Payload(sample int) ([]byte, error) {
	payload, err := r.payload(sample)
	if err != nil {
		err = r.damaged(sample, err)
	}
	return payload, err
}

// damaged adds the file to the error of a damaged payload. Other errors, of the disk or of a whole
// file, are returned unchanged.
func (r *Reader) damaged(sample int, err error) error {
	if !errors.Is(err, encode.ErrDamaged) && !errors.Is(err, lmdbfile.ErrDamaged) || fault.KindOf(err) == fault.Damaged {
		return err
	}
	return r.dataset.damaged(r.dataset.Manifest.Shards[r.shard].Name+"/"+dataName, "sample %d: %w", sample, err)
}

// payload finds a sample's payload, as encode.Value.Payload does.
func (r *Reader) payload(sample int) ([]byte, error) {
	m := r.dataset.Manifest
	shard, _ := slices.BinarySearchFunc(m.Shards, sample, func(s ShardRange, sample int) int {
		if s.First+s.Samples <= sample {
			return -1
		}
		return 1
	})
	if shard != r.shard {
		if err := r.open(shard); err != nil {
			return nil, err
		}
	}
	within := sample - m.Shards[shard].First
	first := sample - within%m.SamplesPerValue
	if first != r.first {
		if err := r.load(first, min(m.SamplesPerValue, m.Shards[shard].First+m.Shards[shard].Samples-first)); err != nil {
			return nil, err
		}
	}
	value, err := encode.ParseValue(r.value, m.Seed(), first, r.count)
	if err != nil {
		return nil, err
	}
	return value.Payload(sample - first)
}

// openShards is how many shards a reader keeps open: enough to read datasets of any size in random
// order.
const openShards = 64

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
	if r.rows != nil {
		r.rows.Close()
	}
}
