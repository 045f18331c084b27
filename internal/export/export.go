// Package export writes datasets for readers that do not know tcbuild, as Parquet or as arrays of
// NumPy. Positions count from the start of each mask.
package export

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/inorder"
	"tcbuild/store"
)

// Format is a format of the files.
type Format string

const (
	Parquet Format = "parquet" // reads the samples once
	NPZ     Format = "npz"     // reads the samples twice
)

// Progress is told how many samples were read.
type Progress interface {
	Add(samples int, bytes int64)
}

// exporter writes one dataset.
type exporter struct {
	ctx      context.Context
	dataset  *store.Dataset
	graph    *ingest.Graph
	layout   incidence.Layout
	dir      string
	progress Progress
}

// Write writes a dataset into the new folder dir. The same dataset gives the same bytes.
func Write(ctx context.Context, dataset *store.Dataset, format Format, dir string,
	progress Progress) error {
	graph, err := dataset.Graph()
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	x := &exporter{ctx, dataset, graph, dataset.Layout(), dir, progress}
	if format == NPZ {
		return x.writeNPZ()
	}
	return x.writeParquet()
}

// create makes a file of the folder.
func (x *exporter) create(name string) (*os.File, error) {
	path := filepath.Join(x.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	return os.Create(path)
}

// spanSamples is how many samples a worker reads at a time. A span has whole record batches of the
// sample table.
const spanSamples = 4096

// span is samples first to end-1, and what a worker makes of them.
type span[T any] struct {
	first, end int
	made       T
	err        error
}

// eachSpan has all cores make something of the samples, and passes it to write in order.
func eachSpan[T any](x *exporter, read func(r *store.MaskReader, first, end int) (T, error),
	write func(T) error) error {
	reader, err := x.dataset.NewMaskReader()
	if err != nil {
		return err
	}
	workers := make([]func(*span[T]), runtime.GOMAXPROCS(0))
	for i := range workers {
		r := reader.Clone()
		defer r.Close()
		workers[i] = func(s *span[T]) { s.made, s.err = read(r, s.first, s.end) }
	}
	spans := inorder.Each(x.ctx, workers, func(send func(*span[T]) error) error {
		for first := 0; first < x.dataset.Manifest.Samples && err == nil; first += spanSamples {
			end := min(first+spanSamples, x.dataset.Manifest.Samples)
			err = send(&span[T]{first: first, end: end})
		}
		return err
	})
	for s, err := range spans {
		if err == nil {
			err = s.err
		}
		if err == nil {
			err = write(s.made)
		}
		if err != nil {
			return err
		}
		x.progress.Add(s.end-s.first, 0)
	}
	return nil
}
