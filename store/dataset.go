package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/ipc"

	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
	"tcbuild/internal/fault"
)

// Dataset is a published dataset, open for reading. It is safe for concurrent use.
type Dataset struct {
	Dir      string
	Manifest *Manifest

	once     sync.Once
	graph    *ingest.Graph
	graphErr error
}

// Open reads a dataset's manifest; a folder that is none is a fault.Input.
func Open(dir string) (*Dataset, error) {
	manifest, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	return &Dataset{Dir: dir, Manifest: manifest}, nil
}

// Graph reads the dataset's graph, once. A graph that is not the manifest's is a fault.Damaged.
func (d *Dataset) Graph() (*ingest.Graph, error) {
	d.once.Do(func() {
		graph, _, err := ingest.ReadGraph(filepath.Join(d.Dir, "graph"))
		if err == nil && graph.Digest() != d.Manifest.GraphDigest {
			err = fmt.Errorf("its digest is %s (manifest: %s)", graph.Digest(), d.Manifest.GraphDigest)
		}
		if err != nil {
			d.graphErr = d.damaged("graph", "%w", err)
			return
		}
		d.graph = graph
	})
	return d.graph, d.graphErr
}

// CheckGraph refuses a graph that is not the dataset's.
func (d *Dataset) CheckGraph(graph *ingest.Graph, from string) error {
	if digest := graph.Digest(); digest != d.Manifest.GraphDigest {
		return fault.New(fault.Input, "give the graph that the dataset was built from, or leave --graph away",
			"check graph %s: its digest is %s, but dataset %s was built from %s", from, digest, d.Dir, d.Manifest.GraphDigest)
	}
	return nil
}

// Layout is the mask space of the manifest's masks.
func (d *Dataset) Layout() incidence.Layout {
	var layout incidence.Layout
	for _, mask := range d.Manifest.Masks {
		layout.Masks = append(layout.Masks, incidence.Mask{Name: mask.Name, Start: layout.Size, Size: mask.Size})
		layout.Size += mask.Size
	}
	return layout
}

// CheckFile compares a data file with its size and digest in the manifest. A difference is a fault.Damaged.
func (d *Dataset) CheckFile(file File) error {
	found, err := hashFile(d.Dir, file.Name)
	switch {
	case os.IsNotExist(err):
		return d.damaged(file.Name, "it is missing (expected %d bytes)", file.Bytes)
	case errors.Is(err, encode.ErrDamaged):
		return d.damaged(file.Name, "%w", err)
	case err != nil:
		return fmt.Errorf("read dataset %s: %w", d.Dir, err)
	case found.Bytes != file.Bytes:
		return d.damaged(file.Name, "it has %d bytes (manifest: %d)", found.Bytes, file.Bytes)
	case found.SHA256 != file.SHA256:
		return d.damaged(file.Name, "its sha256 is %s (manifest: %s)", found.SHA256, file.SHA256)
	}
	return nil
}

func (d *Dataset) damaged(name, format string, args ...any) error {
	return fault.New(fault.Damaged, "build the dataset again, or restore the file from a copy",
		"read %s: %w", filepath.Join(d.Dir, filepath.FromSlash(name)), fmt.Errorf(format, args...))
}

func (d *Dataset) openArrow(name string) (*ipc.FileReader, *os.File, error) {
	file, err := os.Open(filepath.Join(d.Dir, name))
	if os.IsNotExist(err) {
		return nil, nil, d.damaged(name, "it is missing")
	}
	if err != nil {
		return nil, nil, err
	}
	reader, err := table.NewArrowReader(file)
	if err != nil {
		file.Close()
		return nil, nil, d.damaged(name, "%v", err)
	}
	return reader, file, nil
}

// guard turns a panic, with which the Arrow library answers some damaged files, into an error.
func (d *Dataset) guard(name string, err *error) {
	if trouble := recover(); trouble != nil {
		*err = d.damaged(name, "%v", trouble)
	}
}
