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
	"sync"
	"syscall"

	"tcbuild/internal/disk"
)

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
	return errors.Is(err, disk.ErrNotRegular) || errors.Is(err, disk.ErrTooLarge) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ENXIO)
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

// checkNamed checks a data file that readers do not check themselves.
func (d *Dataset) checkNamed(name string) error {
	file, err := d.Manifest.file(name)
	if err != nil {
		return d.damaged(manifestName, "%w", err)
	}
	return d.CheckFile(file)
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
