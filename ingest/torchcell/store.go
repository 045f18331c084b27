// Package torchcell reads the LMDB stores that builds of torchcell leave: one record per genotype,
// with the experiments that are known of it as JSON text. The keys are the records' numbers in
// decimal digits, in earlier stages of a build behind "data_".
//
// A store of a part of a build has a file STORE.json beside its data: its records keep the numbers
// that they have in the whole, and may be compressed by zlib.
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

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/lmdbfile"
)

const (
	dataName     = "data.mdb"
	manifestName = "STORE.json"
	completeName = "STAGE_COMPLETE"
)

// maxRecordBytes bounds the memory that one compressed record can ask for.
const maxRecordBytes = 256 << 20

// Store is a store as Open found it. It can be read many times, always with the same result: one
// that is written to meanwhile is a fault.Busy. It must be closed.
type Store struct {
	dir      string
	files    inputfile.Files
	data     *inputfile.File
	manifest *manifest // nil without STORE.json
}

// manifest is STORE.json.
type manifest struct {
	Keyspace *uint64 `json:"n_records_keyspace"` // records of the whole build
	Codec    string  `json:"codec"`
	Records  *uint64 `json:"n_pool"`
}

// Open opens the store in a folder with data.mdb. It refuses, as fault.Input, one that is no LMDB
// and one of a stage of a build that did not end.
func Open(dir string) (*Store, error) {
	if err := checkComplete(dir); err != nil {
		return nil, err
	}
	s := &Store{dir: dir}
	if err := s.open(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Files returns the paths of the files that Open reads.
func Files(dir string) []string {
	files := []string{filepath.Join(dir, dataName)}
	if manifest := filepath.Join(dir, manifestName); exists(manifest) {
		files = append(files, manifest)
	}
	return files
}

func (s *Store) open() (err error) {
	if s.data, err = s.files.Open(filepath.Join(s.dir, dataName)); err != nil {
		return s.openError(err)
	}
	if err := s.readManifest(); err != nil {
		return err
	}
	pages, err := s.pages()
	if err != nil {
		return err
	}
	if m := s.manifest; m != nil && m.Records != nil && *m.Records != pages.Entries() {
		return fault.New(fault.Input, "copy the store again", "open torchcell store %s: found %d records, expected %d, which %s tells",
			s.dir, pages.Entries(), *m.Records, manifestName)
	}
	return nil
}

func (s *Store) openError(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	hint := "give a table or the folder with " + dataName + ", such as processed/lmdb"
	if inner := filepath.Join(s.dir, "lmdb"); exists(filepath.Join(inner, dataName)) {
		hint = "give " + inner
	}
	return fault.New(fault.Input, hint, "open perturbations %s: found a folder without %s, expected a table or the lmdb folder of a torchcell build", s.dir, dataName)
}

// Inputs identifies the store's files.
func (s *Store) Inputs() []inputfile.Input {
	inputs := s.files.Inputs()
	for i := range inputs {
		inputs[i].Name = filepath.Base(inputs[i].Name)
	}
	return inputs
}

// Unchanged makes sure that the files are not longer or shorter than when they were opened: else
// the error is a fault.Busy.
func (s *Store) Unchanged() error { return s.files.Unchanged() }

// Close closes the files.
func (s *Store) Close() error { return s.files.Close() }

// stages are the folders of a build, in the order in which they are made.
var stages = []string{"raw", "conversion", "deduplication", "aggregation", "processed"}

// checkComplete refuses the store of a stage that did not end. The first stage never says that it
// ended, and no stage of an older build does; that a build is not older shows in another stage that
// says it.
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
	_, err := os.Lstat(path)
	return err == nil
}

// readManifest reads STORE.json, if there is one.
func (s *Store) readManifest() error {
	file, err := s.files.Open(filepath.Join(s.dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := io.ReadAll(file.Reader())
	if err != nil {
		return err
	}
	m := &manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return fault.New(fault.Input, "copy the store again", "read %s: %w", file.Path(), err)
	}
	if m.Codec != "none" && m.Codec != "zlib" {
		return fault.New(fault.Input, "write the store with one of these codecs", "read %s: found codec %q, expected none or zlib", file.Path(), m.Codec)
	}
	s.manifest = m
	return nil
}

// pages reads data.mdb anew.
func (s *Store) pages() (*lmdbfile.File, error) {
	pages, err := lmdbfile.New(s.data, s.data.Size())
	if changed := s.data.Failed(); changed != nil {
		return nil, changed
	}
	if err != nil {
		return nil, fault.New(fault.Input, "copy the store again", "open torchcell store %s: %w", s.data.Path(), err)
	}
	return pages, nil
}

// Records reads all records, ascending by number. It stops at the first error of its own or of
// yield. What is wrong with the store is a fault.Input that names the record.
func (s *Store) Records(yield func(*Record) error) error {
	pages, err := s.pages()
	if err != nil {
		return err
	}
	var d decoder
	var inflate inflater
	var yielded error
	err = inOrder(pages, func(number int, value []byte) error {
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
	if yielded != nil {
		return yielded
	}
	if changed := s.Unchanged(); changed != nil {
		return changed // which explains whatever else is wrong
	}
	if err != nil {
		hint := fault.HintOf(err) // of a record
		if hint == "" {
			hint = "copy the store again, or give the lmdb folder of a stage of a torchcell build"
		}
		return fault.New(fault.Input, hint, "read torchcell store %s: %w", s.dir, err)
	}
	return nil
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
