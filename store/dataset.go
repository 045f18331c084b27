package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/internal/disk"
	"tcbuild/internal/inorder"
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

// Open reads a dataset's manifest. A folder that is not a dataset is a fault.Input. Links in the
// path, such as current, are resolved once: all files are of one version, whatever a rebuild does
// meanwhile. If the version is removed, reading it is a fault.Busy.
func Open(dir string) (*Dataset, error) {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil { // otherwise readManifest says why
		dir = resolved
	}
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
	if err := d.checkGraphFiles(func(name string) bool { return true }); err != nil {
		return nil, err
	}
	files := inputfile.Files{Shared: true}
	defer files.Close()
	var read *ingest.Graph
	opened, err := graph.Open(&files, filepath.Join(d.Dir, graphName))
	if err == nil {
		read, err = opened.Read()
	}
	if err != nil {
		return nil, d.damaged(graphName, "%w", err)
	}
	if digest := read.Digest(); digest != d.Manifest.GraphDigest {
		return nil, d.damaged(graphName, "its digest is %s (manifest: %s)", digest,
			d.Manifest.GraphDigest)
	}
	return read, nil
}

// checkGraphFiles checks the names of all files of the graph, and the content of some.
func (d *Dataset) checkGraphFiles(some func(name string) bool) error {
	if err := d.checkGraphNames(); err != nil {
		return err
	}
	var files []File
	for _, file := range d.Manifest.Files {
		if name, isGraph := strings.CutPrefix(file.Name, graphName+"/"); isGraph && some(name) {
			files = append(files, file)
		}
	}
	return inorder.All(len(files), func(i int) error { return d.CheckFile(files[i]) })
}

// checkGraphSizes compares only the sizes of the graph's files.
func (d *Dataset) checkGraphSizes() error {
	for _, file := range d.Manifest.Files {
		if !strings.HasPrefix(file.Name, graphName+"/") {
			continue
		}
		opened, size, err := d.open(file.Name)
		if err != nil {
			return err
		}
		opened.Close()
		if size != file.Bytes {
			return d.compare(file, size, "")
		}
	}
	return nil
}

// checkGraphNames checks that the graph's folder has no file that the manifest does not list.
func (d *Dataset) checkGraphNames() error {
	check := func(path string, entry fs.DirEntry, err error) error {
		name, outside := filepath.Rel(d.Dir, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return d.damaged(name, "it is missing")
		case err != nil || entry.IsDir():
			return err
		case outside != nil:
			return outside
		}
		if _, err := d.Manifest.file(filepath.ToSlash(name)); err != nil {
			return d.damaged(name, "the manifest does not list it")
		}
		return nil
	}
	return filepath.WalkDir(filepath.Join(d.Dir, graphName), check)
}

// Names reads only the genes of the dataset's graph, and says what their names mean. A file that
// does not match the manifest is a fault.Damaged.
func (d *Dataset) Names() (*names.Resolver, error) {
	noEdges := func(name string) bool { return !strings.HasPrefix(name, "edges/") }
	if err := d.checkGraphFiles(noEdges); err != nil {
		return nil, err
	}
	genes, err := graph.ReadGenes(filepath.Join(d.Dir, graphName))
	if err != nil {
		return nil, d.damaged(graphName, "%w", err)
	}
	return names.Of(genes), nil
}

// CheckGraph returns an error if graph is not the dataset's.
func (d *Dataset) CheckGraph(graph *ingest.Graph, from string) error {
	if digest := graph.Digest(); digest != d.Manifest.GraphDigest {
		return fault.New(fault.Input,
			"give the graph that the dataset was built from, or omit --graph",
			"check graph %s: its digest is %s, but dataset %s was built from %s", from, digest,
			d.Dir, d.Manifest.GraphDigest)
	}
	return nil
}

// Layout is the mask space of the manifest's masks.
func (d *Dataset) Layout() incidence.Layout {
	var layout incidence.Layout
	for _, mask := range d.Manifest.Masks {
		layout.Add(mask.Name, mask.Size, mask.Ends...)
	}
	return layout
}

// damaged is the error of a data file that is not what it should be. If the whole dataset was
// removed, it says that instead.
func (d *Dataset) damaged(name, format string, args ...any) error {
	if !disk.Exists(d.Dir) {
		return fault.New(fault.Busy, "run the same command again; if it names a version of a "+
			"rebuild, name current", "read dataset %s: it was removed after it was opened", d.Dir)
	}
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

// open opens a data file. A missing or non-regular file is a fault.Damaged.
func (d *Dataset) open(name string) (*os.File, int64, error) {
	file, size, err := disk.OpenRegular(filepath.Join(d.Dir, filepath.FromSlash(name)))
	switch {
	case err == nil:
		return file, size, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, d.damaged(name, "it is missing")
	case noFile(err):
		return nil, 0, d.damaged(name, "%w", err)
	}
	return nil, 0, fmt.Errorf("read dataset: %w", err)
}

// noFile reports whether err means that the path cannot be a file, as opposed to a disk failure.
func noFile(err error) bool {
	return slices.ContainsFunc([]error{disk.ErrNotRegular, disk.ErrTooLarge, syscall.ELOOP,
		syscall.ENOTDIR, syscall.ENXIO}, func(kind error) bool { return errors.Is(err, kind) })
}

// hashBuffer is how much of a file is read at a time. It fits in the CPU's caches.
const hashBuffer = 1 << 20

var hashBuffers = sync.Pool{New: func() any { return new([hashBuffer]byte) }}

// hashed copies a file and returns its size and digest.
func hashed(from io.Reader, to io.Writer, name string) (File, error) {
	sum := sha256.New()
	buffer := hashBuffers.Get().(*[hashBuffer]byte)
	defer hashBuffers.Put(buffer)
	size, err := io.CopyBuffer(io.MultiWriter(sum, to), from, buffer[:])
	return File{Name: name, Bytes: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// HashFile returns the size and digest of a file that the manifest does not list, or not yet.
func HashFile(dir, name string) (File, error) {
	file, _, err := disk.OpenRegular(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return File{}, err
	}
	defer file.Close()
	// hides WriteTo, which would not use the buffer
	return hashed(struct{ io.Reader }{file}, io.Discard, name)
}

// CheckFile compares a data file with its size and digest in the manifest. A difference is a
// fault.Damaged.
func (d *Dataset) CheckFile(file File) error {
	return d.copyChecked(context.Background(), file, io.Discard)
}

// copyChecked copies a data file and checks it as CheckFile does.
func (d *Dataset) copyChecked(ctx context.Context, file File, to io.Writer) error {
	from, size, err := d.open(file.Name)
	if err != nil {
		return err
	}
	defer from.Close()
	if size != file.Bytes { // no need to read it
		return d.compare(file, size, "")
	}
	if buffer, ok := to.(*bytes.Buffer); ok {
		buffer.Grow(int(size))
	}
	found, err := hashed(untilDone{ctx, from}, to, file.Name)
	if err != nil {
		return fmt.Errorf("read dataset %s: %w", d.Dir, err)
	}
	return d.compare(file, found.Bytes, found.SHA256)
}

// compare compares the size and digest that a data file was found to have with the manifest's.
func (d *Dataset) compare(file File, size int64, sha256 string) error {
	switch {
	case size != file.Bytes:
		return d.damaged(file.Name, "it has %d bytes (manifest: %d)", size, file.Bytes)
	case sha256 != file.SHA256:
		return d.damaged(file.Name, "its sha256 is %s (manifest: %s)", sha256, file.SHA256)
	}
	return nil
}

// readChecked reads a data file whole, and checks it as CheckFile does.
func (d *Dataset) readChecked(name string) ([]byte, error) {
	file, err := d.Manifest.file(name)
	if err != nil {
		return nil, d.damaged(manifestName, "%w", err)
	}
	var content bytes.Buffer
	err = d.copyChecked(context.Background(), file, &content)
	return content.Bytes(), err
}

// untilDone reads until ctx is done.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}
