package inputfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/testing/testrun"
)

// sizes around the boundaries of what is digested at once.
var sizes = []int{0, 1, 4095, 4096, 200_017, digestBytes - 1, digestBytes, digestBytes + 1, 2*digestBytes + 77}

// content is n pseudo-random bytes.
func content(n int) []byte {
	random := rand.NewChaCha8([32]byte{1})
	text := make([]byte, n)
	random.Read(text)
	return text
}

func create(t testing.TB, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "set.tsv")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestReadsWhatWasDigested(t *testing.T) {
	for _, size := range sizes[:testrun.Cases(len(sizes), len(sizes)-1)] {
		text := content(size)
		f := open(t, create(t, text))
		sum := sha256.Sum256(text)
		if got, want := f.Input("set.tsv"), (Input{"set.tsv", int64(size), hex.EncodeToString(sum[:])}); got != want {
			t.Fatalf("%d bytes: got %+v, want %+v", size, got, want)
		}
		if size < 10_000 { // it reads byte by byte, too
			if err := iotest.TestReader(f.Reader(), text); err != nil {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
		random := rand.New(rand.NewPCG(1, uint64(size)))
		for range 300 {
			at := random.IntN(size + 10)
			p := make([]byte, random.IntN(min(size, 200_000)+10))
			n, err := f.ReadAt(p, int64(at))
			want := text[min(at, size):min(at+len(p), size)]
			if !bytes.Equal(p[:n], want) || (err == io.EOF) != (n < len(p)) || err != nil && err != io.EOF {
				t.Fatalf("%d bytes: read %d at %d: got %d and %v, want %d", size, len(p), at, n, err, len(want))
			}
		}
		if err := f.Unchanged(); err != nil {
			t.Error(err)
		}
	}
}

// Closing does not wait until a large file is digested.
func TestCloseEndsDigest(t *testing.T) {
	path := create(t, nil)
	if err := os.Truncate(path, 1<<36); err != nil {
		t.Fatal(err)
	}
	var files Files
	if _, err := files.Open(path); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Error(err)
	}
}

func TestConcurrentReads(t *testing.T) {
	text := content(2 * digestBytes)
	f := open(t, create(t, text))
	var group sync.WaitGroup
	for worker := range uint64(8) {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, worker))
			for range 500 {
				at := random.IntN(len(text))
				p := make([]byte, min(1+random.IntN(5000), len(text)-at))
				if _, err := f.ReadAt(p, int64(at)); err != nil || !bytes.Equal(p, text[at:at+len(p)]) {
					t.Errorf("read %d at %d: other bytes, %v", len(p), at, err)
				}
			}
		})
	}
	group.Wait()
}

// TestChanges makes every kind of change to an open file.
func TestChanges(t *testing.T) {
	text := content(200_017)
	other := content(len(text) + 1)[1:]
	write := func(path string, text []byte) error { return os.WriteFile(path, text, 0o666) }
	at := func(path string, offset int64, p []byte) error {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = file.WriteAt(p, offset)
		return errors.Join(err, file.Close())
	}
	modified := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		change func(path string) error
		want   string // error of Unchanged
	}{
		{"nothing", func(path string) error { return nil }, ""},
		{"read", func(path string) error { _, err := os.ReadFile(path); return err }, ""},
		{"a file beside it", func(path string) error { return write(path+".new", other) }, ""},
		{"touched", func(path string) error { return write(path, text) }, "it was written to"},
		{"appended", func(path string) error { return write(path, append(slices.Clone(text), '\n')) },
			fmt.Sprintf("found %d bytes, expected %d", len(text)+1, len(text))},
		{"cut", func(path string) error { return os.Truncate(path, 4096) }, fmt.Sprintf("found 4096 bytes, expected %d", len(text))},
		{"emptied", func(path string) error { return os.Truncate(path, 0) }, fmt.Sprintf("found 0 bytes, expected %d", len(text))},
		{"first byte", func(path string) error { return at(path, 0, []byte{^text[0]}) }, "it was written to"},
		{"last byte", func(path string) error { return at(path, int64(len(text)-1), []byte{^text[len(text)-1]}) }, "it was written to"},
		{"with the old time", func(path string) error {
			return errors.Join(at(path, 0, other), os.Chtimes(path, modified, modified))
		}, "or its status changed"},
		{"written and put back", func(path string) error {
			return errors.Join(at(path, 0, other), at(path, 0, text), os.Chtimes(path, modified, modified))
		}, "or its status changed"},
		{"linked, written, and put back with the old time", func(path string) error {
			return errors.Join(os.Link(path, path+".link"), at(path, 0, other), at(path, 0, text), os.Chtimes(path, modified, modified))
		}, "or its status changed"},
		{"linked and written with the old time", func(path string) error {
			return errors.Join(os.Link(path, path+".link"), at(path, 100_000, []byte{^text[100_000]}), os.Chtimes(path, modified, modified))
		}, "or its status changed"},
		{"replaced", func(path string) error { return errors.Join(write(path+".new", other), os.Rename(path+".new", path)) },
			"it was replaced by another file"},
		{"replaced by a folder", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o777)) },
			"it was replaced by another file"},
		{"removed", os.Remove, "it was removed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := create(t, text)
			if err := os.Chtimes(path, modified, modified); err != nil {
				t.Fatal(err)
			}
			f := open(t, path)
			if err := f.Unchanged(); err != nil {
				t.Fatal(err)
			}
			if err := c.change(path); err != nil {
				t.Fatal(err)
			}
			err := f.Unchanged()
			if c.want == "" && err != nil {
				t.Error(err)
			}
			if c.want != "" && (err == nil || fault.KindOf(err) != fault.Busy || !errors.Is(err, ErrChanged) || fault.HintOf(err) == "" ||
				!strings.Contains(err.Error(), "read "+path+": the file changed while it was read: ") || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A dataset's file may be linked to while it is read, but not written to.
func TestSharedFile(t *testing.T) {
	path := create(t, content(100))
	files := Files{Shared: true}
	defer files.Close()
	if _, err := files.Open(path); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Link(path, path+".link"), files.Unchanged()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path+".link", content(101)[1:], 0o666); err != nil {
		t.Fatal(err)
	}
	if err := files.Unchanged(); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
}

// A file that ends early is one that changed, for its reader, too.
func TestCutWhileItIsRead(t *testing.T) {
	path := create(t, content(200_017))
	f := open(t, path)
	<-f.digested
	if err := os.Truncate(path, 5000); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f.Reader())
	if len(got) != 5000 || fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), "it ends at byte 5000, expected 200017 bytes") || f.Unchanged() != err {
		t.Errorf("got %d bytes, %v, then %v", len(got), err, f.Unchanged())
	}
}

// The first byte is read when every later change has another time than the last one before.
func TestUnsettled(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 5e8, time.UTC)
	for _, c := range []struct {
		changed time.Time
		want    time.Duration
	}{
		{now.Add(-time.Hour), 0}, {now.Add(-21 * time.Millisecond), 0}, {now.Add(-15 * time.Millisecond), 5 * time.Millisecond},
		{now.Add(-time.Nanosecond), 20*time.Millisecond - 1}, {now, 20 * time.Millisecond},
		{now.Add(time.Hour), 20 * time.Millisecond},          // the server's clock
		{now.Truncate(time.Second), 1500 * time.Millisecond}, // times of whole seconds
		{now.Truncate(time.Second).Add(-2 * time.Second), 0},
	} {
		if got := max(stamp{changed: c.changed}.unsettled(now), 0); got != c.want {
			t.Errorf("changed %v ago: wait %v, want %v", now.Sub(c.changed), got, c.want)
		}
	}
}

// An error stays, even if a later read succeeds.
func TestFailureStays(t *testing.T) {
	text := content(100)
	path := create(t, text)
	f := open(t, path)
	<-f.digested
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	_, first := f.ReadAt(make([]byte, 10), 0)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(make([]byte, 10), 0); err != nil || first == nil || f.Failed() != first || f.Unchanged() != first {
		t.Errorf("got %v, then %v, %v and %v", first, err, f.Failed(), f.Unchanged())
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	pipe, socket, locked := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket"), filepath.Join(dir, "locked")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := os.WriteFile(locked, nil, 0); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		kind fault.Kind
		text string
	}{
		pipe:                         {fault.Input, "found a pipe, expected a file"},
		socket:                       {fault.Input, "found a socket, expected a file"},
		dir:                          {fault.Input, "found a folder, expected a file"},
		"/dev/zero":                  {fault.Input, "found a device, expected a file"},
		"/dev/null":                  {fault.Input, "found a device, expected a file"},
		filepath.Join(dir, "nobody"): {fault.Failed, "there is no such file"},
		locked:                       {fault.Failed, "permission denied"},
	} {
		open := Open
		if path == locked {
			open = func(path string) (*File, error) { return openAsNobody(t, path) }
		}
		f, err := open(path)
		if err == nil {
			f.Close()
		}
		if err == nil || err.Error() != "open "+path+": "+want.text || fault.KindOf(err) != want.kind || fault.HintOf(err) == "" {
			t.Errorf("%s: got kind %d and %v, hint %q", path, fault.KindOf(err), err, fault.HintOf(err))
		}
	}
	if _, err := Open(filepath.Join(dir, "nobody")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// openAsNobody is Open without the rights of root, who can read everything.
func openAsNobody(t *testing.T, path string) (*File, error) {
	t.Helper()
	if os.Geteuid() != 0 {
		return Open(path)
	}
	folder := filepath.Dir(path)
	readable := filepath.Join(folder, "readable")
	if err := errors.Join(os.WriteFile(readable, nil, 0o644), os.Chmod(folder, 0o755), os.Chmod(filepath.Dir(folder), 0o755)); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // whose rights change
	defer runtime.UnlockOSThread()
	if err := unix.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	defer unix.Setfsuid(0)
	f, err := Open(readable)
	if err != nil {
		t.Fatalf("nobody cannot read even what all may: %v", err)
	}
	f.Close()
	return Open(path)
}

// A failing disk is not a change of the file.
func TestDiskFails(t *testing.T) {
	file, err := os.Open(create(t, content(200_017)))
	if err != nil {
		t.Fatal(err)
	}
	disk := &failingDisk{File: file, from: 4096}
	f, err := newFile("set.tsv", disk)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Input("").SHA256 != "" || !errors.Is(f.Failed(), syscall.EIO) || fault.KindOf(f.Failed()) != fault.Failed || f.Unchanged() != f.Failed() {
		t.Errorf("got %v, %v", f.Input(""), f.Failed())
	}
	if _, err = f.ReadAt(make([]byte, 8192), 0); !errors.Is(err, syscall.EIO) || fault.KindOf(err) != fault.Failed {
		t.Errorf("got %v", err)
	}
}

// failingDisk is a disk whose bytes from an offset on, if it is not 0, cannot be read.
type failingDisk struct {
	*os.File
	from int64
}

func (d *failingDisk) ReadAt(p []byte, at int64) (int, error) {
	if d.from > 0 && at+int64(len(p)) > d.from {
		return 0, &fs.PathError{Op: "read", Path: d.Name(), Err: syscall.EIO}
	}
	return d.File.ReadAt(p, at)
}

func TestFiles(t *testing.T) {
	var paths []string
	for _, size := range sizes {
		paths = append(paths, create(t, content(size)))
	}
	var files Files
	defer files.Close()
	for i, path := range paths {
		file, err := files.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if file.Input("") != open(t, path).Input("") {
			t.Errorf("%d bytes: other digests", sizes[i])
		}
		if again, err := files.Open(path); again != file || err != nil {
			t.Errorf("%d bytes: opened again, %v", sizes[i], err)
		}
	}
	if inputs := files.Inputs(); len(inputs) != len(paths) || inputs[1] != open(t, paths[1]).Input(paths[1]) {
		t.Errorf("got %v", inputs)
	}
	if err := files.Unchanged(); err != nil {
		t.Error(err)
	}
	if err := os.Truncate(paths[3], 5); err != nil {
		t.Fatal(err)
	}
	if err := files.Unchanged(); fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), paths[3]) {
		t.Errorf("got %v", err)
	}
}
