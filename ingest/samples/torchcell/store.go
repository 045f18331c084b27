// Package torchcell reads LMDB stores built by torchcell: one record per genotype, with its
// experiments as JSON text. The keys are the records' numbers in decimal digits, in earlier stages
// of a build after "data_".
//
// A store of part of a build has a file STORE.json next to its data. Its records keep their numbers
// from the whole build, and may be compressed by zlib.
package torchcell

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/dustin/go-humanize/english"
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

// maxRecordBytes limits the memory that one compressed record can ask for.
const maxRecordBytes = 256 << 20

// Store is an open store. It can be read many times, always with the same result; one that was
// written to meanwhile is a fault.Busy. It must be closed.
type Store struct {
	dir      string
	files    inputfile.Files
	data     *inputfile.File
	manifest *manifest // nil without STORE.json
	keys     func() (keys, error)
}

// manifest is STORE.json.
type manifest struct {
	Keyspace *uint64 `json:"n_records_keyspace"` // records of the whole build
	Codec    string  `json:"codec"`
	Records  *uint64 `json:"n_pool"`
}

// Open opens the store in a folder with data.mdb. A file that is not an LMDB, and an unfinished
// stage of a build, are a fault.Input.
func Open(dir string) (*Store, error) {
	if err := checkComplete(dir); err != nil {
		return nil, err
	}
	s := &Store{dir: dir}
	s.keys = sync.OnceValues(s.readKeys)
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
		return fault.New(fault.Input, "copy the store again",
			"open torchcell store %s: found %s, expected %d as in %s",
			s.dir, english.Plural(int(pages.Entries()), "record", ""), *m.Records, manifestName)
	}
	return nil
}

func (s *Store) openError(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	hint := "use a table or the folder with " + dataName + ", such as processed/lmdb"
	if inner := filepath.Join(s.dir, "lmdb"); exists(filepath.Join(inner, dataName)) {
		hint = "use " + inner
	}
	return fault.New(fault.Input, hint,
		"open perturbations %s: found a folder without %s, expected a table or the lmdb folder "+
			"of a torchcell build", s.dir, dataName)
}

// Inputs identifies the store's files.
func (s *Store) Inputs() []inputfile.Input {
	inputs := s.files.Inputs()
	for i := range inputs {
		inputs[i].Name = filepath.Base(inputs[i].Name)
	}
	return inputs
}

// Unchanged returns a fault.Busy if a file changed since it was opened.
func (s *Store) Unchanged() error { return s.files.Unchanged() }

// Close closes the files.
func (s *Store) Close() error { return s.files.Close() }

// stages are the folders of a build, in the order they are made.
var stages = []string{"raw", "conversion", "deduplication", "aggregation", "processed"}

// checkComplete returns an error for the store of an unfinished stage. The first stage never has a
// mark of completion, and no stage of an older build has; that a build is not older shows in the
// mark of another stage.
func checkComplete(dir string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	stage := filepath.Dir(path)
	if at := slices.Index(stages, filepath.Base(stage)); at < 1 ||
		exists(filepath.Join(stage, completeName)) {
		return nil
	}
	for _, other := range stages {
		if marker := filepath.Join(filepath.Dir(stage), other, completeName); exists(marker) {
			return fault.New(fault.Input, "let torchcell finish its build, or use a complete stage",
				"open torchcell store %s: the stage is unfinished: found no %s next to it, "+
					"although %s exists", dir, completeName, marker)
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
		return fault.New(fault.Input, "write the store with one of these codecs",
			"read %s: found codec %q, expected none or zlib", file.Path(), m.Codec)
	}
	s.manifest = m
	return nil
}

// pages reads data.mdb again.
func (s *Store) pages() (*lmdbfile.File, error) {
	pages, err := lmdbfile.New(s.data, s.data.Size())
	if err != nil {
		err = fault.New(fault.Input, "copy the store again", "open torchcell store %s: %w",
			s.data.Path(), err)
		return nil, inputfile.Explain(err, s)
	}
	return pages, nil
}

// wrong is the error of a bad store, or of one that was changed while it was read.
func (s *Store) wrong(err error) error {
	const hint = "copy the store again, or use the lmdb folder of a stage of a torchcell build"
	err = fault.New(fault.Input, cmp.Or(fault.HintOf(err), hint),
		"read torchcell store %s: %w", s.dir, err)
	return inputfile.Explain(err, s)
}

// text is the text of a record's value.
func (s *Store) text(number int, value []byte) ([]byte, error) {
	m := s.manifest
	if m == nil {
		return value, nil
	}
	if m.Keyspace != nil && uint64(number) >= *m.Keyspace {
		return nil, fmt.Errorf("found record %d, expected a number below %d as in %s", number,
			*m.Keyspace, manifestName)
	}
	if m.Codec == "zlib" {
		return inflate(value)
	}
	return value, nil
}

// recordHint guesses from its first byte what a record is if not JSON.
func recordHint(value []byte) string {
	switch {
	case bytes.HasPrefix(value, []byte{0x80}):
		return "pickled records cannot be read: build the store again with a current torchcell, " +
			"and use its processed/lmdb folder"
	case bytes.HasPrefix(value, []byte{0x78}):
		return "a store of zlib records needs a STORE.json with the codec zlib"
	}
	return "copy the store again, or write it again with torchcell"
}

// inflate decompresses a record.
func inflate(value []byte) ([]byte, error) {
	in, err := zlib.NewReader(bytes.NewReader(value))
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, 8*len(value)))
	if _, err := out.ReadFrom(io.LimitReader(in, maxRecordBytes+1)); err != nil {
		return nil, err
	}
	if out.Len() > maxRecordBytes {
		return nil, fmt.Errorf("found more than %d bytes", maxRecordBytes)
	}
	return out.Bytes(), nil
}
