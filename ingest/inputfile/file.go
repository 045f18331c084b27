// Package inputfile reads files of the user that a run goes through several times, or at random
// places, and that somebody may change meanwhile. A file is opened once, and its SHA-256 computed
// in the background, while it is read. In the end its path must still lead to the same file, with
// the size and the times that it had before the first byte was read. Then all reads found the bytes
// whose SHA-256 is reported: no way to change a file leaves the time of its last change (ctime) as
// it was, also if its content and its time of modification are put back.
package inputfile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// Input identifies a file that was read.
type Input struct {
	Name   string `json:"name"` // path inside the graph folder, or the file's base name
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the file as it lies, compressed or not
}

// digestBytes is how many bytes are digested at once.
const digestBytes = 1 << 20

// File is an open input file. It is safe for concurrent use, and must be closed.
type File struct {
	path   string
	file   descriptor
	opened stamp
	shared bool // see OpenShared

	digested chan struct{}         // closed when the digest has ended
	sha256   string                // set by then
	closed   atomic.Bool           // ends the digest early
	failed   atomic.Pointer[error] // of the first read that failed
}

// descriptor is an *os.File; tests replace it.
type descriptor interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// ErrChanged is wrapped by the errors, each a fault.Busy, of files that changed while they were
// read.
var ErrChanged = errors.New("the file changed while it was read")

const hintWait = "wait until it is written, then run the same command again"

// Open opens a regular file and starts to digest it, at some 1.7 GB/s where the CPU has
// instructions for SHA-256. What is read of it is certain when Unchanged has returned nil. Anything
// but a regular file is a fault.Input, at once: nobody waits for a writer of a pipe. The error of a
// file that is not there wraps fs.ErrNotExist; the error of a dangling link does not.
func Open(path string) (*File, error) {
	file, _, err := disk.OpenRegular(path)
	if err != nil {
		return nil, openError(path, err)
	}
	f, err := newFile(path, file)
	if err != nil {
		file.Close()
	}
	return f, err
}

func openError(path string, err error) error {
	hint, cause := "", err
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pathError.Err
	}
	_, nowhere := os.Stat(path)
	switch {
	case errors.Is(err, disk.ErrNotRegular) && nowhere == nil:
		return fault.New(fault.Input,
			"give the path of a file; save the content of a pipe to a file first, "+
				"because input is read more than once", "open %s: %w", path, err)
	case errors.Is(err, disk.ErrNotRegular): // a dangling link
		hint = "create the link again"
	case errors.Is(err, fs.ErrNotExist):
		hint, cause = "check the path", missing{}
	}
	return fault.New(fault.Failed, hint, "open %s: %w", path, cause)
}

// missing is fs.ErrNotExist in plainer words.
type missing struct{}

func (missing) Error() string { return "there is no such file" }

func (missing) Is(target error) bool { return target == fs.ErrNotExist }

// OpenShared is Open for a file of a dataset, whose content has a digest of its own. Others may
// link to it meanwhile, which changes the time of its status: Unchanged does not look at that.
func OpenShared(path string) (*File, error) {
	f, err := Open(path)
	if err == nil {
		f.shared = true
	}
	return f, err
}

func newFile(path string, file descriptor) (*File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	f := &File{path: path, file: file, opened: stampOf(info), digested: make(chan struct{})}
	time.Sleep(f.opened.unsettled(time.Now()))
	go func() {
		defer close(f.digested)
		if err := fault.Catch(f.digest)(); err != nil {
			f.fail(err)
		}
	}()
	return f, nil
}

// digest hashes the file from its start to its size.
func (f *File) digest() error {
	sum := sha256.New()
	buffer := make([]byte, min(f.Size(), digestBytes))
	for at := int64(0); at < f.Size(); at += int64(len(buffer)) {
		if f.closed.Load() {
			return nil
		}
		buffer = buffer[:min(f.Size()-at, int64(len(buffer)))]
		if _, err := f.ReadAt(buffer, at); err != nil {
			return err
		}
		sum.Write(buffer)
	}
	f.sha256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 {
		return 0, errors.New("read at a negative offset")
	}
	if at >= f.Size() && len(p) > 0 {
		return 0, io.EOF
	}
	within := p[:min(int64(len(p)), max(f.Size()-at, 0))]
	n, err := f.file.ReadAt(within, at)
	switch {
	case n == len(p):
		return n, nil
	case n == len(within):
		return n, io.EOF
	case err == io.EOF:
		err = f.changed("it ends at byte %d, expected %d bytes", at+int64(n), f.Size())
	default:
		err = fault.New(fault.Failed, "check the disk, then run the same command again",
			"read %s: %w", f.path, err)
	}
	return n, f.fail(err)
}

// Reader reads the file from its start. Readers of a file do not disturb each other.
func (f *File) Reader() *io.SectionReader { return io.NewSectionReader(f, 0, f.Size()) }

// changed is the error of a changed file; the format says what was found and expected.
func (f *File) changed(format string, args ...any) error {
	return fault.New(fault.Busy, hintWait, "read %s: %w: %s", f.path, ErrChanged,
		fmt.Sprintf(format, args...))
}

// fail remembers the first read error, in case a library in between loses it.
func (f *File) fail(err error) error {
	f.failed.CompareAndSwap(nil, &err)
	return err
}

// Path is the name by which the file was opened.
func (f *File) Path() string { return f.path }

// Size is the number of bytes.
func (f *File) Size() int64 { return f.opened.size }

// Input identifies the file under a name. It waits for the digest, which must not have been ended
// by Close.
func (f *File) Input(name string) Input {
	<-f.digested
	if f.sha256 == "" && f.Failed() == nil {
		panic("the digest of " + f.path + " was given up")
	}
	return Input{Name: name, Bytes: f.Size(), SHA256: f.sha256}
}

// Failed returns the first read error. It is more reliable than the errors of libraries that read
// the file and do not wrap errors.
func (f *File) Failed() error {
	if err := f.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Unchanged checks that all reads until now found the digested bytes. Otherwise somebody has
// written to the file or replaced it, and the error is a fault.Busy. It waits for the digest.
func (f *File) Unchanged() error {
	<-f.digested
	if err := f.Failed(); err != nil {
		return err
	}
	// opened again, because a file server's client then asks it for the times
	again, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return f.fail(f.changed("it was removed"))
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", f.path, err)
	}
	defer again.Close()
	info, err := again.Stat()
	if err != nil {
		return fmt.Errorf("read %s: %w", f.path, err)
	}
	now := stampOf(info)
	if f.shared {
		now.changed = f.opened.changed
	}
	if difference := f.opened.difference(now); difference != "" {
		return f.fail(f.changed("%s", difference))
	}
	return nil
}

// Close closes the file, once. It does not wait until a large file is digested.
func (f *File) Close() error {
	if f.closed.Swap(true) {
		return nil
	}
	<-f.digested
	return f.file.Close()
}

// stamp is what changes with every change of a file.
type stamp struct {
	device, inode uint64
	size          int64
	// of the last modification of the content, which programs can set, and of the last change of
	// anything, which they cannot
	modified, changed time.Time
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), modified: info.ModTime()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		s.device, s.inode, s.changed = stat.Dev, stat.Ino, time.Unix(stat.Ctim.Unix())
	}
	return s
}

// ClockTick is longer than the time between two ticks of the clock that a file system takes times
// from: 10 ms at the slowest. Tests that read thousands of files just after they wrote them, and
// change none meanwhile, set it to 0.
var ClockTick = 20 * time.Millisecond

// unsettled is how long to wait until the next change of the file is sure to have another time.
// Where times are whole seconds, that takes up to 2 s. The wait is also short where a file server's
// clock is ahead.
func (s stamp) unsettled(now time.Time) time.Duration {
	tick := ClockTick
	if s.changed.Nanosecond() == 0 {
		tick = 2 * time.Second
	}
	return min(tick, s.changed.Add(tick).Sub(now))
}

// difference says how a file differs from what it was before; "" if it does not.
func (s stamp) difference(now stamp) string {
	switch {
	case now.device != s.device || now.inode != s.inode:
		return "it was replaced by another file"
	case now.size != s.size:
		return fmt.Sprintf("found %d bytes, expected %d", now.size, s.size)
	case !now.modified.Equal(s.modified) || !now.changed.Equal(s.changed):
		return fmt.Sprintf("it was written to, or its status changed, at %s",
			now.changed.Format("15:04:05.000"))
	}
	return ""
}

// Files are open files, each opened only once. The zero value is empty. It is not safe for
// concurrent use, but its files are. It must be closed.
type Files struct {
	Shared bool // open them by OpenShared
	files  []*File
}

// Open opens a file, unless the path is already open. The file belongs to f.
func (f *Files) Open(path string) (*File, error) {
	for _, file := range f.files {
		if file.path == path {
			return file, nil
		}
	}
	open := Open
	if f.Shared {
		open = OpenShared
	}
	file, err := open(path)
	if err == nil {
		f.files = append(f.files, file)
	}
	return file, err
}

// Inputs identifies the files by their paths, in the order in which they were opened.
func (f *Files) Inputs() []Input {
	inputs := []Input{}
	for _, file := range f.files {
		inputs = append(inputs, file.Input(file.path))
	}
	return inputs
}

// Unchanged checks every file as File.Unchanged does, and returns the first error. Files that are
// all unchanged were, at one moment, there side by side as they were read.
func (f *Files) Unchanged() error {
	for _, file := range f.files {
		if err := file.Unchanged(); err != nil {
			return err
		}
	}
	return nil
}

// Explain returns the error of files that changed in place of an error about their content, which
// may be due to that. It closes the files, so that nobody waits for digests that are of no use.
func Explain(err error, files interface {
	Unchanged() error
	io.Closer
}) error {
	if fault.KindOf(err) != fault.Input {
		return err
	}
	files.Close()
	return cmp.Or(files.Unchanged(), err)
}

// Failed returns the first file's read error, as File.Failed does.
func (f *Files) Failed() error {
	for _, file := range f.files {
		if err := file.Failed(); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files.
func (f *Files) Close() error {
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}
