package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/incidence"
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
	if !isDamage(err) || fault.KindOf(err) == fault.Damaged {
		return err
	}
	name := r.dataset.Manifest.Shards[r.shard].Name + "/" + dataName
	return r.dataset.damaged(name, "sample %d: %w", sample, err)
}

// isDamage reports whether err is of a damaged payload, or a damaged page.
func isDamage(err error) bool {
	return errors.Is(err, encode.ErrDamaged) || errors.Is(err, lmdbfile.ErrDamaged)
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
	s := m.Shards[shard]
	first := sample - (sample-s.First)%m.SamplesPerValue
	if first != r.first {
		if err := r.load(first, min(m.SamplesPerValue, s.First+s.Samples-first)); err != nil {
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
	r.shard, r.first = -1, -1
	if r.files[shard] != nil {
		r.shard = shard
		return nil
	}
	for other, file := range r.files {
		if len(r.files) < openShards {
			break
		}
		file.Close()
		delete(r.files, other)
	}
	file, err := r.dataset.openShard(shard)
	if err != nil {
		return err
	}
	r.files[shard], r.shard = file, shard
	return nil
}

// load reads the value that starts with a sample and has count of them.
func (r *Reader) load(first, count int) error {
	r.first = -1
	file, target := r.files[r.shard], binary.BigEndian.AppendUint64(nil, uint64(first))
	key, err := file.Seek(target)
	if err != nil {
		return err
	}
	if !bytes.Equal(key, target) {
		return fmt.Errorf("no value starts with sample %d: %w", first, encode.ErrDamaged)
	}
	if r.value, err = file.Value(r.value); err == nil {
		r.first, r.count = first, count
	}
	return err
}

// Close releases the reader's files and invalidates its views.
func (r *Reader) Close() {
	for _, file := range r.files {
		file.Close()
	}
	if r.rows != nil {
		r.rows.Close()
	}
}

// shardFile is a shard's data.mdb, read by key. It is for one goroutine.
type shardFile struct {
	*lmdbfile.File
	io.Closer
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
	want := uint64((shard.Samples + d.Manifest.SamplesPerValue - 1) / d.Manifest.SamplesPerValue)
	if err == nil && pages.Entries() != want {
		err = fmt.Errorf("it has %d values, expected %d: %w", pages.Entries(), want,
			encode.ErrDamaged)
	}
	if err == nil {
		return &shardFile{pages, file}, nil
	}
	file.Close()
	if isDamage(err) {
		return nil, d.damaged(name, "samples %d to %d: %w", shard.First,
			shard.First+shard.Samples-1, err)
	}
	return nil, fmt.Errorf("read dataset %s: %w", d.Dir, err)
}

// MaskReader reads samples with their masks: decoded from the stored bytes or, in the incidence
// variant, looked up in the stored incidence cache. It is for one goroutine, and must be closed.
type MaskReader struct {
	*Reader
	codec   encode.Codec       // of the LMDB variants
	decoder encode.Decoder     // of the LMDB variants
	remover *incidence.Remover // of the incidence variant
}

// NewMaskReader makes a reader. In the incidence variant it reads graph and incidence cache.
func (d *Dataset) NewMaskReader() (*MaskReader, error) {
	r := &MaskReader{Reader: d.NewReader()}
	var err error
	if d.Manifest.Variant != Incidence {
		if r.codec, err = encode.Find(d.Manifest.Mode(), d.Manifest.Codec); err != nil {
			return nil, d.damaged(manifestName, "%w", err)
		}
		// whose sizes bound those of the masks, which decoders allocate
		if err := d.checkGraphSizes(); err != nil {
			return nil, err
		}
		r.decoder = r.codec.NewDecoder(d.Layout().Size)
		return r, nil
	}
	r.remover, err = d.NewRemover()
	return r, err
}

// NewRemover makes a Remover from the stored incidence cache of an incidence dataset.
func (d *Dataset) NewRemover() (*incidence.Remover, error) {
	graph, err := d.Graph()
	if err != nil {
		return nil, err
	}
	cache, err := d.Incidence()
	if err != nil {
		return nil, err
	}
	rules, err := incidence.ReadRules(graph, d.Manifest.Options.ReactionRule)
	if err != nil {
		return nil, err
	}
	return incidence.NewRemover(graph, cache, rules), nil
}

// Clone makes a reader for another goroutine; both share the incidence cache.
func (r *MaskReader) Clone() *MaskReader {
	clone := &MaskReader{Reader: r.dataset.NewReader(), codec: r.codec}
	if r.remover != nil {
		clone.remover = r.remover.Clone()
	} else {
		clone.decoder = r.codec.NewDecoder(r.dataset.Layout().Size)
	}
	return clone
}

// Sample returns a sample and its removed positions in the mask space, strictly
// ascending. Both are views that live until the next call. Any damage is an error.
func (r *MaskReader) Sample(sample int) (*Sample, []uint32, error) {
	stored, err := r.Stored(sample)
	if err != nil {
		return nil, nil, err
	}
	if r.remover != nil {
		return stored, r.remover.Removed(stored.Genes), nil
	}
	removed, err := r.decoder.Removed(stored.Payload)
	if err != nil {
		return nil, nil, r.damaged(sample, err)
	}
	return stored, removed, nil
}
