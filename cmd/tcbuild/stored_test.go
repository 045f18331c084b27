package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/bmatsuo/lmdb-go/lmdb"
)

// stored is the location of a sample in its shard: offsets into data.mdb, found as docs/FORMAT.md
// describes.
type stored struct {
	path      string
	key       []byte
	count     int    // records in the value
	entry     int    // the record's entry in the value's directory
	value     int    // the value
	valueEnd  int    // end of the value
	payload   int    // its payload
	end       int    // end of the payload
	valueData []byte // a copy of the value
}

// find looks a sample of the fixture up, by LMDB's library and then by its bytes.
func (f fixture) find(t *testing.T, dataset string, sample int) stored {
	t.Helper()
	m := manifestOf(t, dataset)
	shard := m.Shards[0]
	for _, s := range m.Shards {
		if s.First <= sample {
			shard = s
		}
	}
	first := sample - (sample-shard.First)%m.SamplesPerValue
	s := stored{path: filepath.Join(dataset, shard.Name, "data.mdb"), key: binary.BigEndian.AppendUint64(nil, uint64(first))}
	withShard(t, filepath.Dir(s.path), lmdb.Readonly, func(txn *lmdb.Txn, dbi lmdb.DBI) (err error) {
		s.valueData, err = txn.Get(dbi, s.key)
		return err
	})
	s.value = bytes.Index([]byte(read(t, s.path)), s.valueData)
	s.valueEnd = s.value + len(s.valueData)
	s.count = int(binary.LittleEndian.Uint32(s.valueData))
	within := sample - first
	s.entry = s.value + 4 + 8*within
	payloads := s.value + 4 + 8*s.count
	s.payload = payloads
	if within > 0 {
		s.payload += int(binary.LittleEndian.Uint32(s.valueData[4+8*(within-1):]))
	}
	s.end = payloads + int(binary.LittleEndian.Uint32(s.valueData[4+8*within:]))
	if s.value < 0 || s.payload > s.end || s.end > s.valueEnd {
		t.Fatalf("sample %d is not found: %+v", sample, s)
	}
	return s
}

// withShard opens a shard with LMDB's library.
func withShard(t *testing.T, dir string, flags uint, do func(txn *lmdb.Txn, dbi lmdb.DBI) error) {
	t.Helper()
	env, err := lmdb.NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	if err := env.Open(dir, flags|lmdb.NoLock, 0o644); err != nil {
		t.Fatal(err)
	}
	run := env.View
	if flags&lmdb.Readonly == 0 {
		run = env.Update
	}
	if err := run(func(txn *lmdb.Txn) error {
		dbi, err := txn.OpenRoot(0)
		if err != nil {
			return err
		}
		return do(txn, dbi)
	}); err != nil {
		t.Fatal(err)
	}
}

// change rewrites the bytes of a file from an offset.
func change(t *testing.T, path string, offset int, edit func(at []byte)) {
	t.Helper()
	data := []byte(read(t, path))
	edit(data[offset:])
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func flip(at []byte) { at[0] ^= 0x10 }

// copied is a copy of a dataset, to be damaged.
func copied(t *testing.T, dataset string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(dataset)); err != nil {
		t.Fatal(err)
	}
	return dir
}
