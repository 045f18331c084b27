package store

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/ipc"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/sampletable"
	"tcbuild/ingest/table/arrowfile"
)

// Dataset is a published dataset, open for reading. It is safe for concurrent use.
type Dataset struct {
	Dir      string
	Manifest *Manifest

	text     []byte // of manifest.json
	once     sync.Once
	graph    *ingest.Graph
	graphErr error

	samplesOnce sync.Once
	samples     *sampletable.Table
	samplesErr  error
}

// Open reads a dataset's manifest. A folder that is not a dataset is a fault.Input.
func Open(dir string) (*Dataset, error) {
	manifest, text, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	return &Dataset{Dir: dir, Manifest: manifest, text: text}, nil
}

// Graph reads the dataset's graph, once. Files that do not match the manifest, or a graph with
// another digest, are a fault.Damaged.
func (d *Dataset) Graph() (*ingest.Graph, error) {
	d.once.Do(func() {
		if d.graphErr = d.checkGraphFiles(); d.graphErr != nil {
			return
		}
		graph, _, err := ingest.ReadGraph(filepath.Join(d.Dir, graphName))
		if err == nil && graph.Digest() != d.Manifest.GraphDigest {
			err = fmt.Errorf("its digest is %s (manifest: %s)", graph.Digest(), d.Manifest.GraphDigest)
		}
		if err != nil {
			d.graphErr = d.damaged(graphName, "%w", err)
			return
		}
		d.graph = graph
	})
	return d.graph, d.graphErr
}

// Genes reads the gene table of the dataset's graph alone, without its edges. A file that does not
// match the manifest is a fault.Damaged.
func (d *Dataset) Genes() (*ingest.Nodes, error) {
	name := graphName + "/nodes/" + ingest.Gene + ".arrow"
	if err := d.checkNamed(name); err != nil {
		return nil, err
	}
	genes, err := ingest.ReadNodes(filepath.Join(d.Dir, filepath.FromSlash(name)), ingest.Gene)
	if err != nil {
		return nil, d.damaged(name, "%w", err)
	}
	return genes, nil
}

// checkGraphFiles checks that the graph's files are exactly those of the manifest.
func (d *Dataset) checkGraphFiles() error {
	for _, file := range d.Manifest.Files {
		if strings.HasPrefix(file.Name, graphName+"/") {
			if err := d.CheckFile(file); err != nil {
				return err
			}
		}
	}
	return filepath.WalkDir(filepath.Join(d.Dir, graphName), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(d.Dir, path)
		if err != nil {
			return err
		}
		if _, err := d.Manifest.file(filepath.ToSlash(name)); err != nil {
			return d.damaged(name, "the manifest does not list it")
		}
		return nil
	})
}

// CheckGraph returns an error if graph is not the dataset's.
func (d *Dataset) CheckGraph(graph *ingest.Graph, from string) error {
	if digest := graph.Digest(); digest != d.Manifest.GraphDigest {
		return fault.New(fault.Input, "give the graph that the dataset was built from, or omit --graph",
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

func (d *Dataset) damaged(name, format string, args ...any) error {
	return damagedFile(filepath.Join(d.Dir, filepath.FromSlash(name)), fmt.Errorf(format, args...))
}

// damagedFile is a fault.Damaged of a file that is not what it should be, unless the operating
// system could not read it.
func damagedFile(path string, err error) error {
	return fault.New(fault.Damaged, "build the dataset again, or restore the file from a copy", "read %s: %w", path, err)
}

func (d *Dataset) openArrow(name string) (*ipc.FileReader, *os.File, error) {
	file, size, err := d.open(name)
	if err != nil {
		return nil, nil, err
	}
	reader, err := arrowfile.NewReader(file, size)
	if err != nil {
		file.Close()
		return nil, nil, d.damaged(name, "%w", err)
	}
	return reader, file, nil
}

// guard turns a panic, the Arrow library's response to some damaged files, into an error.
func (d *Dataset) guard(name string, err *error) {
	if trouble := recover(); trouble != nil {
		*err = d.damaged(name, "%w", fault.Recovered(trouble))
	}
}
