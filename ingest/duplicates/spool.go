package duplicates

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tcbuild/ingest"
	"tcbuild/ingest/sampletable"
	"tcbuild/internal/disk"
)

// spool keeps the samples of a source in a temporary folder, for a second pass.
type spool struct {
	*disk.Temporary
	*sampletable.Writer
	columns ingest.Columns
	samples int
}

func newSpool(beside string, columns ingest.Columns) (*spool, error) {
	temporary, err := disk.NewTemporary(beside)
	if err != nil {
		return nil, err
	}
	writer, err := sampletable.Create(temporary.Path, columns)
	if err != nil {
		return nil, errors.Join(temporary.Naming(err), temporary.Discard())
	}
	return &spool{temporary, writer, columns, 0}, nil
}

func (s *spool) add(samples *ingest.Samples) error {
	s.samples += samples.Len()
	return s.Add(samples)
}

// table makes the samples readable. No more may be added.
func (s *spool) table() (*sampletable.Table, error) {
	if err := s.Writer.Close(""); err != nil {
		return nil, err
	}
	checksums, err := os.ReadFile(filepath.Join(s.Path, sampletable.ChecksumsName))
	if err != nil {
		return nil, err
	}
	return sampletable.Open(spoolFiles(s.Path), checksums, s.columns, s.samples, "")
}

// scan passes all samples to yield, in their order, until ctx is done.
func (s *spool) scan(ctx context.Context, table *sampletable.Table,
	yield func(samples *ingest.Samples, i int) error) error {
	reader := table.NewReader()
	defer reader.Close()
	size := sampletable.LayoutOf(s.columns).BatchSamples
	return reader.ScanRange(0, s.samples, size, func(samples *ingest.Samples) error {
		for i := range samples.Len() {
			if err := yield(samples, i); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	})
}

// spoolFiles is the folder of a spool. It implements sampletable.Files.
type spoolFiles string

func (f spoolFiles) Open(name string) (*os.File, int64, error) {
	return disk.OpenRegular(filepath.Join(string(f), name))
}

func (f spoolFiles) Damaged(name string, err error) error {
	return fmt.Errorf("read temporary file %s: %w", filepath.Join(string(f), name), err)
}
