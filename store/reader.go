package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bmatsuo/lmdb-go/lmdb"
	"golang.org/x/sys/unix"

	"tcbuild/encode"
	"tcbuild/internal/fault"
)

// Reader reads a dataset's samples. It is for one goroutine, and must be closed.
type Reader struct {
	dataset *Dataset
	samples *samplesReader // of the incidence variant
	record  encode.Record

	distrust []string // data files to be salvaged
	shard    int      // the open one; -1 for none
	salvaged map[int][]byte
	mapped   []byte    // the file of salvaged
	env      *lmdb.Env // nil when the shard is salvaged
	txn      *lmdb.Txn
	dbi      lmdb.DBI

	first int // first sample of value; -1 for none
	count int
	value []byte
}

// NewReader makes a reader; files are opened when they are first needed. Of the data
// files in distrust, which CheckFile found damaged, it reads what it can without harm.
func (d *Dataset) NewReader(distrust ...string) *Reader {
	return &Reader{dataset: d, distrust: distrust, shard: -1, first: -1}
}

// Record reads a sample, 0 <= sample < Manifest.Samples. The record is a
// view that lives until the next call, its payload until a sample of another shard is
// read or the reader is closed; in the incidence variant it has no payload. Of a
// damaged record (fault.Damaged) it returns what can be read, nil if nothing can.
func (r *Reader) Record(sample int) (*encode.Record, error) {
	if r.dataset.Manifest.Variant == Incidence {
		return r.fromSamples(sample)
	}
	data, err := r.recordBytes(sample)
	if data == nil {
		return nil, r.damaged(sample, err)
	}
	if parseErr := r.record.Parse(data, len(r.dataset.Manifest.Phenotypes)); parseErr != nil {
		return nil, r.damaged(sample, errors.Join(err, parseErr))
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
	err := r.samples.read(sample, &r.record)
	return &r.record, err
}

// damaged says of an error with a sample's bytes where they lie. Failed reads stay what they are.
func (r *Reader) damaged(sample int, err error) error {
	name := filepath.Join(r.dataset.Dir, "shard of it")
	if r.shard >= 0 {
		name = filepath.Join(r.dataset.Dir, r.dataset.Manifest.Shards[r.shard].Name, dataName)
	}
	if fault.KindOf(err) == fault.Damaged {
		return err
	}
	return fault.New(fault.Damaged, "build the dataset again, or restore the file from a copy", "read %s: sample %d: %w", name, sample, err)
}

// recordBytes finds a sample's record. It returns the bytes of a damaged one too.
func (r *Reader) recordBytes(sample int) ([]byte, error) {
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
	value, err := encode.ParseValue(r.value, r.count)
	if err != nil {
		return nil, err
	}
	return value.Record(sample - first)
}

func (r *Reader) open(shard int) error {
	r.closeShard()
	name := r.dataset.Manifest.Shards[shard].Name
	dir := filepath.Join(r.dataset.Dir, name)
	info, err := os.Stat(filepath.Join(dir, dataName))
	if err != nil {
		return r.dataset.damaged(name+"/"+dataName, "it is missing")
	}
	if slices.Contains(r.distrust, name+"/"+dataName) {
		r.salvaged, r.mapped, err = salvage(filepath.Join(dir, dataName))
		r.shard = shard
		return err
	}
	file, err := r.dataset.Manifest.file(name + "/" + dataName)
	if err == nil && info.Size() != file.Bytes { // LMDB would read behind its end, and crash
		err = r.dataset.damaged(file.Name, "it has %d bytes (manifest: %d)", info.Size(), file.Bytes)
	}
	if err != nil {
		return err
	}
	env, err := openReadOnly(dir)
	if err != nil {
		return err
	}
	txn, err := env.BeginTxn(nil, lmdb.Readonly)
	if err != nil {
		env.Close()
		return err
	}
	txn.RawRead = true // values are views of the map
	dbi, err := txn.OpenRoot(0)
	if err != nil {
		txn.Abort()
		env.Close()
		return err
	}
	r.shard, r.env, r.txn, r.dbi = shard, env, txn, dbi
	return nil
}

func (r *Reader) load(first, count int) error {
	r.first = -1
	var key [8]byte
	binary.BigEndian.PutUint64(key[:], uint64(first))
	value, found := r.salvaged[first]
	if r.env != nil {
		var err error
		value, err = r.txn.Get(r.dbi, key[:])
		if err != nil && !lmdb.IsNotFound(err) {
			return err
		}
		found = err == nil
	}
	if !found {
		return fmt.Errorf("no value starts with sample %d: %w", first, encode.ErrDamaged)
	}
	r.first, r.count, r.value = first, count, value
	return nil
}

func (r *Reader) closeShard() {
	if r.env != nil {
		r.txn.Abort()
		r.env.Close()
	}
	if r.mapped != nil {
		unix.Munmap(r.mapped)
	}
	r.shard, r.env, r.salvaged, r.mapped, r.first = -1, nil, nil, nil, -1
}

// Close releases the reader's files; its views die with it.
func (r *Reader) Close() {
	r.closeShard()
	if r.samples != nil {
		r.samples.close()
	}
}
