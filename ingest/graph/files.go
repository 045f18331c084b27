package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// Tables are the files of a graph folder, ascending by file name.
type Tables struct {
	dir        string
	nodes      []*graphFile
	edges      []*graphFile
	names      []*graphFile // of genes outside the graph: none, or one
	properties []*graphFile // graph.json: none, or one
	open       *inputfile.Files
}

// sourcesName is the file that says what a graph is made of. It is no part of the graph.
const sourcesName = "sources.json"

// graphFile is one table: nodes/gene.tsv has the stem gene.
type graphFile struct {
	name string // relative to the graph folder, with slashes
	stem string
	edge ingest.EdgeType // of an edge table

	opened *inputfile.File
}

// Open opens the tables of the cell graph in dir/nodes and dir/edges, or in dir/graph, before any
// is read. They belong to open, whose Unchanged says in the end whether they are what was read.
func Open(open *inputfile.Files, dir string) (*Tables, error) {
	f, err := findGraph(dir)
	if err != nil {
		return nil, err
	}
	return &f, f.openIn(open)
}

func (f *Tables) openIn(open *inputfile.Files) (err error) {
	f.open = open
	for _, file := range f.all() {
		path := filepath.Join(f.dir, filepath.FromSlash(file.name))
		if file.opened, err = open.Open(path); err != nil {
			return err
		}
	}
	return nil
}

// all are the tables, ascending by name.
func (f *Tables) all() []*graphFile {
	return slices.Concat(f.edges, f.properties, f.names, f.nodes)
}

// Inputs identifies the tables. It waits until they are digested.
func (f *Tables) Inputs() (inputs []ingest.Input, err error) {
	for _, file := range f.all() {
		inputs = append(inputs, file.opened.Input(file.name))
	}
	return inputs, f.open.Failed()
}

// Sources is the content of sources.json, which says what the tables are made of; nil without it.
func (f *Tables) Sources() (json.RawMessage, error) {
	path := filepath.Join(f.dir, sourcesName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !json.Valid(text) {
		err = fault.New(fault.Input, "write the graph again, or remove the file",
			"found other text, expected JSON")
	}
	if err != nil {
		return nil, fault.New(fault.KindOf(err), fault.HintOf(err), "read %s: %w", path, err)
	}
	return text, nil
}

// findGraph lists the tables of a graph in dir or in dir/graph.
func findGraph(dir string) (Tables, error) {
	files := Tables{dir: dir}
	_, err := os.Lstat(filepath.Join(dir, "nodes"))
	if errors.Is(err, fs.ErrNotExist) {
		files.dir = filepath.Join(dir, "graph")
		_, err = os.Lstat(filepath.Join(files.dir, "nodes"))
	}
	if fault.System(err) {
		return files, fmt.Errorf("read graph %s: %w", dir, err)
	}
	if err != nil {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return files, fault.New(fault.Failed, "check the path",
				"read graph %s: found no such folder", dir)
		}
		return files, fault.New(fault.Input,
			"name the folder that holds nodes/ and edges/, "+
				"or the folder around it that holds graph/",
			"read graph %s: found no folder nodes in it or in its graph/", dir)
	}
	if files.nodes, err = listTables(files.dir, "nodes"); err != nil {
		return files, err
	}
	if _, err = os.Lstat(filepath.Join(files.dir, propertiesName)); err == nil {
		files.properties = []*graphFile{{name: propertiesName}}
	}
	if _, err = os.Lstat(filepath.Join(files.dir, "names")); err == nil {
		if files.names, err = listTables(files.dir, "names"); err != nil {
			return files, err
		}
	}
	if _, err = os.Lstat(filepath.Join(files.dir, "edges")); errors.Is(err, fs.ErrNotExist) {
		return files, nil // a graph may have no edges
	}
	files.edges, err = listTables(files.dir, "edges")
	return files, err
}

// Files returns the paths of the tables that Read reads in dir, by their names in
// Tables.Inputs.
func Files(dir string) (map[string]string, error) {
	found, err := findGraph(dir)
	if err != nil {
		return nil, err
	}
	paths := make(map[string]string)
	for _, file := range found.all() {
		paths[file.name] = filepath.Join(found.dir, filepath.FromSlash(file.name))
	}
	return paths, nil
}

// check returns an error for a table that is not part of a cell graph, and finds out its type.
func (f *graphFile) check(dir string) (err error) {
	const hint = "rename the file; a type of another meaning needs another name"
	wrong := ""
	if strings.HasPrefix(f.name, "names/") {
		if f.stem != ingest.Gene {
			wrong = fmt.Sprintf("type is %q, expected %s", f.stem, ingest.Gene)
		}
	} else if strings.HasPrefix(f.name, "nodes/") {
		if wrong = WrongNodeType(f.stem); wrong != "" {
			wrong = "type " + wrong
		}
	} else if f.edge, err = ingest.ParseEdgeType(f.stem); err != nil {
		wrong = "name is not SOURCE__RELATION__TARGET, such as gene__physical__gene"
	} else {
		wrong = WrongEdgeType(f.edge)
	}
	if wrong != "" {
		return fault.New(fault.Input, hint, "read graph %s: found table %q: its %s", dir, f.name,
			wrong)
	}
	return nil
}

// listTables lists the tables in a subfolder of a graph. It skips hidden entries; anything else is
// an error, so that no table is missed.
func listTables(dir, part string) ([]*graphFile, error) {
	entries, err := os.ReadDir(filepath.Join(dir, part))
	if err != nil {
		return nil, fault.New(fault.Input, "replace it by a folder", "read graph: %w", err)
	}
	var files []*graphFile
	named := make(map[string]string) // stem -> file name
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		_, _, stem, ok := table.EndingOf(name)
		if !ok {
			return nil, fault.New(fault.Input,
				"write it again as one of these, or move it out of the graph folder",
				"read graph %s: found %q, expected a table with ending %s", dir, part+"/"+name,
				table.Expected)
		}
		if other, twice := named[stem]; twice {
			return nil, fault.New(fault.Input, "keep one of the two files",
				"read graph %s: found both %q and %q, expected one table of this name",
				dir, part+"/"+other, part+"/"+name)
		}
		named[stem] = name
		file := &graphFile{name: part + "/" + name, stem: stem}
		if err := file.check(dir); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}
