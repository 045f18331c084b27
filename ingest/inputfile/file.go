// Package inputfile reads files of the user that a run goes through several times, and that
// somebody may change meanwhile. A file is opened once and digested first, or while it is read.
// Every read is compared with what was digested, block by block. So all that is made from the file
// follows from the bytes whose SHA-256 is reported: whether the file was replaced by another of its
// name (the descriptor keeps the old one), written in place, written and put back, extended, or
// cut.
package inputfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cespare/xxhash/v2"

	"tcbuild/fault"
)

// blockSize is how many bytes are compared by one checksum. The checksums take 8 bytes of memory
// per block, 1 MB per 8 GB of file.
const blockSize = 64 << 10

// digestBytes is how many bytes are digested at once.
const digestBytes = 16 * blockSize

// Input identifies a file that was read.
type Input struct {
	Name   string `json:"name"` // path inside the graph folder, or the file's base name
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the file as it lies, compressed or not
}

// File is an open input file. It is safe for concurrent use, and must be closed.
type File struct {
	path   string
	file   descriptor
	size   int64
	sha256 string
	sums   []atomic.Uint64 // XXH64 of each block; 0 until it was read

	digested chan struct{} // closed when a digest in the background has ended; nil without one
	closing  atomic.Bool   // ends that digest early

	mutex  sync.Mutex // of recent
	recent recent
	failed atomic.Pointer[error] // of the first read that failed
}

// descriptor is an *os.File; tests replace it.
type descriptor interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// ErrChanged is wrapped by the errors, each a fault.Busy, of files that are no longer what was
// digested.
var ErrChanged = errors.New("the file changed while it was read")

const hintWait = "wait until it is written, then run the same command again"

// Open opens a regular file and reads it whole, to digest it: at some 1.7 GB/s where the CPU has
// instructions for SHA-256. Anything but a regular file is a fault.Input, at once: nobody waits for
// a writer of a pipe. The error of a file that is not there wraps fs.ErrNotExist; that of a link to
// nowhere does not.
func Open(path string) (*File, error) {
	f, err := openUndigested(path)
	if err != nil {
		return nil, err
	}
	if err := f.digest(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func openUndigested(path string) (*File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, openError(path, err)
	}
	f, err := newFile(path, file)
	if err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

func openError(path string, err error) error {
	// a socket cannot be opened
	if info, statErr := os.Stat(path); statErr == nil && !info.Mode().IsRegular() {
		return checkRegular(path, info)
	}
	hint, cause := "", err
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pathError.Err
	}
	_, statErr := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && statErr == nil:
		return fault.New(fault.Failed, "create the link again", "open %s: found a dangling symbolic link, expected a file", path)
	case errors.Is(err, fs.ErrNotExist):
		hint, cause = "check the path", missing{}
	}
	return fault.New(fault.Failed, hint, "open %s: %w", path, cause)
}

// missing is fs.ErrNotExist in plainer words.
type missing struct{}

func (missing) Error() string { return "there is no such file" }

func (missing) Is(target error) bool { return target == fs.ErrNotExist }

func newFile(path string, file descriptor) (*File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := checkRegular(path, info); err != nil {
		return nil, err
	}
	return &File{path: path, file: file, size: info.Size(), sums: make([]atomic.Uint64, (info.Size()+blockSize-1)/blockSize)}, nil
}

// checkRegular returns an error unless the file is regular.
func checkRegular(path string, info fs.FileInfo) error {
	found, hint := "", "give a regular file"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		found, hint = "a folder", "give a regular file, such as one inside it"
	case mode&fs.ModeNamedPipe != 0:
		found, hint = "a pipe", "write its content to a file: input is read more than once"
	case mode&fs.ModeSocket != 0:
		found = "a socket"
	default:
		found = "a device"
	}
	return fault.New(fault.Input, hint, "open %s: found %s, expected a file", path, found)
}

// digest reads the file from its start to its size. SHA-256 takes most of the time, so it has a
// goroutine of its own.
func (f *File) digest() error {
	sum := sha256.New()
	var hashing sync.WaitGroup
	defer hashing.Wait()
	buffer, hashed := make([]byte, min(f.size, digestBytes)), make([]byte, min(max(f.size-digestBytes, 0), digestBytes))
	for at := int64(0); at < f.size && !f.closing.Load(); at += int64(len(hashed)) {
		buffer = buffer[:min(f.size-at, digestBytes)]
		if err := f.readFull(buffer, at); err != nil {
			return err
		}
		hashing.Wait()
		buffer, hashed = hashed, buffer
		hashing.Go(func() { sum.Write(hashed) })
		for start := 0; start < len(hashed); start += blockSize {
			if err := f.confirm(hashed[start:min(start+blockSize, len(hashed))], (at+int64(start))/blockSize); err != nil {
				return err
			}
		}
	}
	hashing.Wait()
	f.sha256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// digestBehind digests the file in the background, while it is read already. Whichever comes to a
// block first sets its checksum, and the other must find the same bytes.
func (f *File) digestBehind() {
	f.digested = make(chan struct{})
	go func() {
		defer close(f.digested)
		_ = f.digest() // Failed has the error
	}()
}

// wait waits for a digest in the background.
func (f *File) wait() {
	if f.digested != nil {
		<-f.digested
	}
}

// confirm returns an error unless a block's bytes are those that were read before, if any were.
func (f *File) confirm(p []byte, block int64) error {
	sum := max(xxhash.Sum64(p), 1) // 0 means none
	if f.sums[block].CompareAndSwap(0, sum) || f.sums[block].Load() == sum {
		return nil
	}
	return f.fail(f.changed("found other bytes than before from byte %d to %d", block*blockSize, block*blockSize+int64(len(p))-1))
}

// readFull reads from disk, unchecked.
func (f *File) readFull(p []byte, at int64) error {
	n, err := f.file.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == io.EOF {
		return f.fail(f.changed("it ends before byte %d, expected %d bytes", at+int64(len(p)), f.size))
	}
	return f.fail(fault.New(fault.Failed, "check the disk, then run the same command again", "read %s: %w", f.path, err))
}

// changed is the error of a changed file; the format says what was found and expected.
func (f *File) changed(format string, args ...any) error {
	return fault.New(fault.Busy, hintWait, "read %s: %w: %s", f.path, ErrChanged, fmt.Sprintf(format, args...))
}

// fail remembers the first read error, in case a library in between loses it.
func (f *File) fail(err error) error {
	f.failed.CompareAndSwap(nil, &err)
	return err
}

// Path is the name by which the file was opened.
func (f *File) Path() string { return f.path }

// Size is the number of bytes.
func (f *File) Size() int64 { return f.size }

// Input identifies the file under a name. It waits for the digest.
func (f *File) Input(name string) Input {
	f.wait()
	return Input{Name: name, Bytes: f.size, SHA256: f.sha256}
}

// Failed returns the first read error. It is more reliable than the errors of libraries that read
// the file and do not wrap errors.
func (f *File) Failed() error {
	if err := f.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Unchanged checks that all reads returned the digested bytes, and that the file's size has not
// changed since. Otherwise the file may have been opened while it was being written, and the error
// is a fault.Busy. It does not read the file, but waits for its digest.
func (f *File) Unchanged() error {
	f.wait()
	if err := f.Failed(); err != nil {
		return err
	}
	info, err := f.file.Stat()
	if err != nil {
		return fmt.Errorf("read %s: %w", f.path, err)
	}
	if info.Size() != f.size {
		return f.fail(f.changed("found %d bytes, expected %d", info.Size(), f.size))
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error {
	f.closing.Store(true)
	f.wait()
	return f.file.Close()
}
