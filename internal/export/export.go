// Package export writes datasets for readers that do not know tcbuild, as Parquet or as arrays of
// NumPy. Positions count from the start of each mask.
package export

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/table/parquetfile"
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

// span is samples first to end-1.
type span struct {
	first, end int
	rows       *ingest.Samples
	removed    []*array.List         // of positions, uint32, by mask
	group      *parquetfile.RowGroup // of Parquet: all that is written
	err        error
}

// eachSpan has all cores read the samples and work on them, and passes them to write in order.
func (x *exporter) eachSpan(work, write func(*span) error) error {
	reader, err := x.dataset.NewMaskReader()
	if err != nil {
		return err
	}
	workers := make([]func(*span), runtime.GOMAXPROCS(0))
	for i := range workers {
		r := reader.Clone()
		defer r.Close()
		workers[i] = func(s *span) {
			if s.err = x.read(r, s); s.err == nil {
				s.err = work(s)
			}
		}
	}
	spans := inorder.Each(x.ctx, workers, func(send func(*span) error) error {
		for first := 0; first < x.dataset.Manifest.Samples && err == nil; first += spanSamples {
			end := min(first+spanSamples, x.dataset.Manifest.Samples)
			err = send(&span{first: first, end: end})
		}
		return err
	})
	for s, err := range spans {
		if err == nil {
			err = s.err
		}
		if err == nil {
			err = write(s)
		}
		if err != nil {
			return err
		}
		x.progress.Add(s.end-s.first, 0)
	}
	return nil
}

// read reads the samples of a span, and what they remove.
func (x *exporter) read(r *store.MaskReader, s *span) error {
	s.rows = ingest.NewSamples(s.first, x.dataset.Manifest.Columns(), s.end-s.first)
	lists := make([]*array.ListBuilder, len(x.layout.Masks))
	for mask := range lists {
		lists[mask] = array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Uint32)
	}
	for sample := s.first; sample < s.end; sample++ {
		row, removed, err := r.Sample(sample)
		if err != nil {
			return err
		}
		s.rows.Append(row.ID, row.Genes, row.Phenotypes, row.Attributes)
		mask := 0
		for part, positions := range x.layout.Split(removed) {
			lists[mask].Append(true)
			to := lists[mask].ValueBuilder().(*array.Uint32Builder)
			to.Reserve(len(positions))
			for _, position := range positions {
				to.UnsafeAppend(position - uint32(part.Start))
			}
			mask++
		}
	}
	for _, list := range lists {
		s.removed = append(s.removed, list.NewListArray())
	}
	return nil
}
