package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/store/internal/sampletable"
)

// Dataset is a published dataset, open for reading. It is safe for concurrent use.
type Dataset struct {
	Dir      string
	Manifest *Manifest

	text []byte // of manifest.json

	// What is read once:
	graph     func() (*ingest.Graph, error)
	incidence func() (*incidence.Cache, error)
	samples   func() (*sampletable.Table, error)
}

// Open reads a dataset's manifest. A folder that is not a dataset is a fault.Input.
func Open(dir string) (*Dataset, error) {
	manifest, text, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	d := &Dataset{Dir: dir, Manifest: manifest, text: text}
	d.graph, d.incidence = sync.OnceValues(d.readGraph), sync.OnceValues(d.readIncidence)
	d.samples = sync.OnceValues(d.openSamples)
	return d, nil
}

// Graph reads the dataset's graph, once. Files that do not match the manifest, or a graph with
// another digest, are a fault.Damaged.
func (d *Dataset) Graph() (*ingest.Graph, error) { return d.graph() }

func (d *Dataset) readGraph() (*ingest.Graph, error) {
	if err := d.checkGraphFiles(); err != nil {
		return nil, err
	}
	files := inputfile.Files{Shared: true}
	defer files.Close()
	opened, err := graph.Open(&files, filepath.Join(d.Dir, graphName))
	var inputs []ingest.Input
	if err == nil {
		inputs, err = opened.Inputs()
	}
	if err == nil {
		err = d.compareGraph(inputs)
	}
	if fault.KindOf(err) == fault.Damaged {
		return nil, err
	}
	var graph *ingest.Graph
	if err == nil {
		graph, err = opened.Read()
	}
	if err != nil {
		return nil, d.damaged(graphName, "%w", err)
	}
	if digest := graph.Digest(); digest != d.Manifest.GraphDigest {
		return nil, d.damaged(graphName, "its digest is %s (manifest: %s)", digest, d.Manifest.GraphDigest)
	}
	return graph, nil
}

// checkGraphFiles checks that the graph's files have the names and sizes of the manifest, before
// any is read.
func (d *Dataset) checkGraphFiles() error {
	for _, file := range d.graphFiles() {
		opened, size, err := d.open(file.Name)
		if err != nil {
			return err
		}
		opened.Close()
		if size != file.Bytes {
			return d.compare(file, size, "")
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

// compareGraph compares the digests of the graph's files with the manifest's.
func (d *Dataset) compareGraph(found []ingest.Input) error {
	for _, file := range d.graphFiles() {
		i := slices.IndexFunc(found, func(input ingest.Input) bool { return graphName+"/"+input.Name == file.Name })
		err := error(nil)
		if i < 0 {
			err = d.CheckFile(file)
		} else {
			err = d.compare(file, found[i].Bytes, found[i].SHA256)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *Dataset) graphFiles() []File {
	return slices.DeleteFunc(slices.Clone(d.Manifest.Files), func(file File) bool { return !strings.HasPrefix(file.Name, graphName+"/") })
}

// Genes reads only the gene table of the dataset's graph. A file that does not
// match the manifest is a fault.Damaged.
func (d *Dataset) Genes() (*ingest.Nodes, error) {
	name := graphName + "/nodes/" + ingest.Gene + ".arrow"
	if err := d.checkNamed(name); err != nil {
		return nil, err
	}
	genes, err := graph.ReadNodes(filepath.Join(d.Dir, filepath.FromSlash(name)), ingest.Gene)
	if err != nil {
		return nil, d.damaged(name, "%w", err)
	}
	return genes, nil
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
		layout.Add(mask.Name, mask.Size)
	}
	return layout
}

func (d *Dataset) damaged(name, format string, args ...any) error {
	return damagedFile(filepath.Join(d.Dir, filepath.FromSlash(name)), fmt.Errorf(format, args...))
}

// damagedFile is a fault.Damaged of a file that is not what it should be, unless the operating
// system could not read it, or it changed meanwhile.
func damagedFile(path string, err error) error {
	if errors.Is(err, fault.Busy) {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return fault.New(fault.Damaged, "build the dataset again, or restore the file from a copy",
		"read %s: %w", path, err)
}

// guard turns a panic, the Arrow library's response to some damaged files, into an error.
func (d *Dataset) guard(name string, err *error) {
	if trouble := recover(); trouble != nil {
		*err = d.damaged(name, "%w", fault.Recovered(trouble))
	}
}
