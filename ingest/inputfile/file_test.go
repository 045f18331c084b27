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

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/testing/testrun"
)

// sizes around the blocks' boundaries.
var sizes = []int{0, 1, blockSize - 1, blockSize, blockSize + 1, 3*blockSize + 17, digestBytes, digestBytes + 1,
	(recentBlocks + 2) * blockSize}

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
		if err := iotest.TestReader(f.Reader(), text); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		random := rand.New(rand.NewPCG(1, uint64(size)))
		for range 300 {
			at := random.IntN(size + 10)
			p := make([]byte, random.IntN(min(size, 3*blockSize)+10))
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

// A file may be read before it is digested and meanwhile; it is the same as one digested first, or
// the digest finds that it changed after it was read.
func TestDigestBehind(t *testing.T) {
	for _, size := range sizes[:testrun.Cases(len(sizes), len(sizes)-1)] {
		text := content(size)
		path := create(t, text)
		var files Files
		defer files.Close()
		f, err := files.OpenAtOnce(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(f.Reader(), text); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		if want := open(t, path).Input("x"); f.Input("x") != want || f.Unchanged() != nil {
			t.Errorf("got %v and %v, want %v", f.Input("x"), f.Unchanged(), want)
		}
	}
	path := create(t, content(3*blockSize))
	f, err := openUndigested(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.ReadAt(make([]byte, 10), blockSize+5); err != nil {
		t.Fatal(err)
	}
	changed := content(3 * blockSize)
	changed[2*blockSize-1] ^= 1
	if err := os.WriteFile(path, changed, 0o666); err != nil {
		t.Fatal(err)
	}
	f.digestBehind()
	if err := f.Unchanged(); fault.KindOf(err) != fault.Busy || !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "from byte 65536 to 131071") {
		t.Errorf("got %v", err)
	}
}

// Closing does not wait until a large file is digested.
func TestCloseEndsDigest(t *testing.T) {
	path := create(t, nil)
	if err := os.Truncate(path, 1<<36); err != nil {
		t.Fatal(err)
	}
	var files Files
	if _, err := files.OpenAtOnce(path); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Error(err)
	}
}

func TestConcurrentReads(t *testing.T) {
	text := content(2 * recentBlocks * blockSize)
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

// TestChanges makes every kind of change between the digest and a pass.
func TestChanges(t *testing.T) {
	text := content(3*blockSize + 17)
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
	for _, c := range []struct {
		name      string
		change    func(path string) error
		read      string // error of a whole pass; "" if it reads what was digested
		unchanged string // error of Unchanged after the pass
	}{
		{"nothing", func(path string) error { return nil }, "", ""},
		{"touched", func(path string) error { return write(path, text) }, "", ""},
		{"appended", func(path string) error { return write(path, append(slices.Clone(text), '\n')) }, "",
			fmt.Sprintf("found %d bytes, expected %d", len(text)+1, len(text))},
		{"cut", func(path string) error { return os.Truncate(path, blockSize) }, "it ends before byte", "it ends before byte"},
		{"emptied", func(path string) error { return os.Truncate(path, 0) }, "it ends before byte", "it ends before byte"},
		{"first byte", func(path string) error { return at(path, 0, []byte{^text[0]}) }, "from byte 0 to 65535", "from byte 0 to 65535"},
		{"last byte", func(path string) error { return at(path, int64(len(text)-1), []byte{^text[len(text)-1]}) },
			"from byte 196608 to 196624", "from byte 196608 to 196624"},
		{"two blocks change places", func(path string) error {
			return errors.Join(at(path, 0, text[blockSize:2*blockSize]), at(path, blockSize, text[:blockSize]))
		}, "from byte 0 to 65535", "from byte 0 to 65535"},
		{"written in place", func(path string) error { return at(path, 0, other) }, "from byte 0 to 65535", "from byte 0 to 65535"},
		{"written and put back", func(path string) error { return errors.Join(at(path, 0, other), at(path, 0, text)) }, "", ""},
		{"replaced", func(path string) error { return errors.Join(write(path+".new", other), os.Rename(path+".new", path)) }, "", ""},
		{"removed", os.Remove, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := create(t, text)
			f := open(t, path)
			if err := c.change(path); err != nil {
				t.Fatal(err)
			}
			check := func(what string, err error, want string) {
				t.Helper()
				if want == "" && err != nil {
					t.Errorf("%s: %v", what, err)
				}
				if want != "" && (err == nil || fault.KindOf(err) != fault.Busy || !errors.Is(err, ErrChanged) || fault.HintOf(err) == "" ||
					!strings.Contains(err.Error(), "read "+path+": the file changed while it was read") || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s: got %v, want %q", what, err, want)
				}
			}
			got, err := io.ReadAll(f.Reader())
			check("read", err, c.read)
			if !bytes.HasPrefix(text, got) || c.read == "" && len(got) != len(text) {
				t.Errorf("read %d bytes that are not what was digested", len(got))
			}
			check("unchanged", f.Unchanged(), c.unchanged)
		})
	}
}

// An error stays, even if a later read succeeds.
func TestFailureStays(t *testing.T) {
	text := content(100)
	path := create(t, text)
	f := open(t, path)
	if err := os.WriteFile(path, content(101)[1:], 0o666); err != nil {
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
	file, err := os.Open(create(t, content(3*blockSize)))
	if err != nil {
		t.Fatal(err)
	}
	disk := &failingDisk{File: file}
	f, err := newFile("set.tsv", disk)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.digest(); err != nil {
		t.Fatal(err)
	}
	disk.from = blockSize
	if _, err = f.ReadAt(make([]byte, 2*blockSize), 0); !errors.Is(err, syscall.EIO) || fault.KindOf(err) != fault.Failed || f.Unchanged() != err {
		t.Errorf("got %v", err)
	}
	if err := f.digest(); !errors.Is(err, syscall.EIO) {
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

func BenchmarkFile(b *testing.B) {
	text := content(64 << 20)
	path := create(b, text)
	f := open(b, path)
	plain, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	buffer := make([]byte, 256<<10)
	run := func(name string, pass func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := pass(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	sequential := func(r io.ReaderAt, chunk int) func() error {
		return func() error {
			for at := 0; at < len(text); at += chunk {
				if _, err := r.ReadAt(buffer[:min(chunk, len(text)-at)], int64(at)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	run("open", func() error {
		f, err := Open(path)
		if err == nil {
			err = f.Close()
		}
		return err
	})
	for _, chunk := range []int{4096, 100_000, 256 << 10} {
		run(fmt.Sprintf("read/checked=true/chunk=%d", chunk), sequential(f, chunk))
		run(fmt.Sprintf("read/checked=false/chunk=%d", chunk), sequential(plain, chunk))
	}
}
