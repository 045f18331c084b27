// Package torchcell reads the LMDB stores that builds of torchcell leave: one record per genotype, with the experiments
// that are known of it as JSON text. The keys are the records' numbers in decimal digits, in earlier stages of a
// build behind "data_".
//
// A store of a part of a build has a file STORE.json beside its data: its records keep the numbers that
// they have in the whole, and may be compressed by zlib.
package torchcell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zlib"

	"tcbuild/internal/fault"
	"tcbuild/internal/lmdbfile"
)

const (
	dataName     = "data.mdb"
	manifestName = "STORE.json"
	completeName = "STAGE_COMPLETE"
)

// maxRecordBytes bounds the memory that one compressed record can ask for.
const maxRecordBytes = 256 << 20

// Store is a store as Open found it. It can be read many times, always with the same result: a store that was
// written to since is refused.
type Store struct {
	dir         string
	manifest    *manifest // nil without STORE.json
	transaction uint64
}

// manifest is STORE.json.
type manifest struct {
	Keyspace *uint64 `json:"n_records_keyspace"` // records of the whole build
	Codec    string  `json:"codec"`
	Records  *uint64 `json:"n_pool"`
}

// Open opens the store in a folder with data.mdb. It refuses, as fault.Input, one that is no LMDB and one of a stage of a
// build that did not end.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir}
	if err := checkComplete(dir); err != nil {
		return nil, err
	}
	var err error
	if s.manifest, err = readManifest(dir); err != nil {
		return nil, err
	}
	file, err := s.open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s.transaction = file.Transaction()
	if m := s.manifest; m != nil && m.Records != nil && *m.Records != file.Entries() {
		return nil, fault.New(fault.Input, "copy the store again", "open torchcell store %s: found %d records, expected %d, which %s tells",
			dir, file.Entries(), *m.Records, manifestName)
	}
	return s, nil
}

// Files are the paths of the store's files.
func (s *Store) Files() []string {
	files := []string{filepath.Join(s.dir, dataName)}
	if s.manifest != nil {
		files = append(files, filepath.Join(s.dir, manifestName))
	}
	return files
}

// stages are the folders of a build, in the order in which they are made.
var stages = []string{"raw", "conversion", "deduplication", "aggregation", "processed"}

// checkComplete refuses the store of a stage that did not end. The first stage never says that it ended, and no stage of an older
// build does; that a build is not older shows in another stage that says it.
func checkComplete(dir string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	stage := filepath.Dir(path)
	if at := slices.Index(stages, filepath.Base(stage)); at < 1 || exists(filepath.Join(stage, completeName)) {
		return nil
	}
	for _, other := range stages {
		if marker := filepath.Join(filepath.Dir(stage), other, completeName); exists(marker) {
			return fault.New(fault.Input, "let torchcell end its build, or use a stage that is complete",
				"open torchcell store %s: its stage did not end: found no %s beside it, although %s is there", dir, completeName, marker)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readManifest reads STORE.json, nil if there is none.
func readManifest(dir string) (*manifest, error) {
	path := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open torchcell store: %w", err)
	}
	m := &manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fault.New(fault.Input, "copy the store again", "read %s: %w", path, err)
	}
	if m.Codec != "none" && m.Codec != "zlib" {
		return nil, fault.New(fault.Input, "write the store with one of these codecs", "read %s: found codec %q, expected none or zlib", path, m.Codec)
	}
	return m, nil
}

func (s *Store) open() (*lmdbfile.File, error) {
	path := filepath.Join(s.dir, dataName)
	file, err := lmdbfile.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint := "give a table or the folder with " + dataName + ", such as processed/lmdb"
		if inner := filepath.Join(s.dir, "lmdb"); exists(filepath.Join(inner, dataName)) {
			hint = "give " + inner
		}
		return nil, fault.New(fault.Input, hint, "open perturbations %s: found a folder without %s, expected a table or the lmdb folder of a torchcell build", s.dir, dataName)
	case errors.Is(err, lmdbfile.ErrDamaged):
		return nil, fault.New(fault.Input, "copy the store again", "open torchcell store %s: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("open torchcell store: %w", err)
	}
	return file, nil
}

// Records reads all records, ascending by number. It stops at the first error of its own or of yield. What is wrong with
// the store is a fault.Input that names the record.
func (s *Store) Records(yield func(*Record) error) error {
	file, err := s.open()
	if err != nil {
		return err
	}
	defer file.Close()
	if file.Transaction() != s.transaction {
		return s.changed()
	}
	var d decoder
	var inflate inflater
	var yielded error
	err = inOrder(file, func(number int, value []byte) error {
		text, err := value, error(nil)
		if m := s.manifest; m != nil {
			if m.Keyspace != nil && uint64(number) >= *m.Keyspace {
				return fmt.Errorf("record %d: expected a number below %d, as %s tells", number, *m.Keyspace, manifestName)
			}
			if m.Codec == "zlib" {
				text, err = inflate.bytes(value)
			}
		}
		var record *Record
		if err == nil {
			record, err = d.decode(number, text)
		}
		if err != nil {
			return fault.New(fault.Input, recordHint(value), "record %d: %w", number, err)
		}
		yielded = yield(record)
		return yielded
	})
	switch {
	case yielded != nil:
		return yielded
	case !file.Unchanged():
		return s.changed()
	case err != nil:
		hint := fault.HintOf(err) // of a record
		if hint == "" {
			hint = "copy the store again, or give the lmdb folder of a stage of a torchcell build"
		}
		return fault.New(fault.Input, hint, "read torchcell store %s: %w", s.dir, err)
	}
	return nil
}

func (s *Store) changed() error {
	return fault.New(fault.Input, "wait until nothing writes to it", "read torchcell store %s: it was written to while it was read", s.dir)
}

// recordHint tells by a record's first byte what it is if not JSON.
func recordHint(value []byte) string {
	switch {
	case bytes.HasPrefix(value, []byte{0x80}):
		return "records that Python pickled are not read: give the processed/lmdb folder of a torchcell build"
	case bytes.HasPrefix(value, []byte{0x78}):
		return "a store of zlib records needs its STORE.json with the codec zlib"
	}
	return "copy the store again, or have torchcell write it anew"
}

// inflater uncompresses records, into memory that it uses again.
type inflater struct {
	reader io.ReadCloser
	buffer bytes.Buffer
}

// bytes returns a record's text, which lives until the next call.
func (i *inflater) bytes(value []byte) ([]byte, error) {
	var err error
	if i.reader == nil {
		i.reader, err = zlib.NewReader(bytes.NewReader(value))
	} else {
		err = i.reader.(zlib.Resetter).Reset(bytes.NewReader(value), nil)
	}
	if err != nil {
		return nil, err
	}
	i.buffer.Reset()
	if _, err := i.buffer.ReadFrom(io.LimitReader(i.reader, maxRecordBytes+1)); err != nil {
		return nil, err
	}
	if i.buffer.Len() > maxRecordBytes {
		return nil, fmt.Errorf("it has more than %d bytes", maxRecordBytes)
	}
	return i.buffer.Bytes(), nil
}
