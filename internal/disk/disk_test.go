package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	_ "tcbuild/internal/testing/testrun"
)

func TestWriteWhole(t *testing.T) {
	defer unix.Umask(unix.Umask(0o027))
	dir := t.TempDir()
	path := filepath.Join(dir, "name.json")
	for _, text := range []string{"first", "second, longer", ""} {
		if err := WriteWhole(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("got %q, %v, expected %q", got, err, text)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("got mode %v, %v, expected -rw-r-----, as the umask says", info.Mode(), err)
	}
	missing := filepath.Join(dir, "missing", "name.json")
	if err := WriteWhole(missing, nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v, expected an error that names %s", err, missing)
	}
	long := filepath.Join(dir, strings.Repeat("é", 127))
	if err := WriteWhole(long, nil); err != nil {
		t.Error(err)
	}
	expectNames(t, dir, "name.json", filepath.Base(long))
}

// Anything but a regular file is an error: a link may lead anywhere.
func TestWriteWholeRefusesOthers(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "name")
	for _, c := range []struct {
		what string
		make func() error
	}{
		{"a symbolic link", func() error { return os.Symlink(victim, path) }},
		{"a symbolic link", func() error { return os.Symlink("nowhere", path) }},
		{"a folder", func() error { return os.Mkdir(path, 0o755) }},
		{"a pipe", func() error { return unix.Mkfifo(path, 0o644) }},
	} {
		if err := c.make(); err != nil {
			t.Fatal(err)
		}
		if err := WriteWhole(path, []byte("x")); err == nil || !strings.Contains(err.Error(), "found "+c.what) {
			t.Errorf("got %v, want an error with %q", err, c.what)
		}
		expectNames(t, dir, "name", "victim")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ := os.ReadFile(victim); string(text) != "precious" {
		t.Errorf("the file that the link led to has %q", text)
	}
}

func TestTryLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	for _, c := range []struct {
		first, second Sharing
		want          error
	}{{Alone, Alone, ErrLocked}, {Alone, Shared, ErrLocked}, {Shared, Alone, ErrLocked}, {Shared, Shared, nil}} {
		first, err := TryLock(path, c.first)
		if err != nil {
			t.Fatal(err)
		}
		second, err := TryLock(path, c.second)
		if !errors.Is(err, c.want) {
			t.Errorf("%v: got %v", c, err)
		}
		first.Close()
		second.Close()
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("made by the lock", link); err != nil {
		t.Fatal(err)
	}
	if _, err := TryLock(link, Alone); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("got %v, want an error of the link", err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := TryLock(fifo, Alone); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("got %v, want an error of the pipe", err)
	}
	expectNames(t, dir, "fifo", "link", "lock")
}

// The group that may write in a folder may take its locks; others learn whom to ask.
func TestLockOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	for _, mode := range []os.FileMode{0o755, 0o770} {
		dir := t.TempDir()
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "lock")
		if err := os.WriteFile(path, nil, 0o600); err != nil { // as with another umask
			t.Fatal(err)
		}
		first, err := TryLock(path, Alone)
		if err != nil {
			t.Fatal(err)
		}
		defer first.Close()
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o060 != mode&0o060 {
			t.Errorf("folder %o: got mode %o of the lock, %v", mode, info.Mode().Perm(), err)
		}
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mine, err := TryLock(filepath.Join(dir, "lock"), Shared)
	if err != nil {
		t.Fatal(err)
	}
	mine.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Setfsuid(65534)
	_, err = TryLock(filepath.Join(dir, "lock"), Shared)
	_ = unix.Setfsuid(0)
	if fault.HintOf(err) == "" || !strings.Contains(err.Error(), "another user") {
		t.Errorf("another user: got %v", err)
	}
}

// Publish removes what writing files inside a folder left there, or does not publish the folder.
func TestPublishCleans(t *testing.T) {
	dir := t.TempDir()
	for _, busy := range []bool{false, true} {
		path := filepath.Join(dir, fmt.Sprint("busy=", busy))
		temporary, err := NewTemporary(path)
		if err != nil {
			t.Fatal(err)
		}
		name := ".sources.json.tcbuild-ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		left := filepath.Join(temporary.Path, "graph", name)
		if err := os.MkdirAll(filepath.Join(left, "deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		if busy {
			if err := unix.Mount("tmpfs", left, "tmpfs", 0, ""); err != nil {
				t.Skip("a disk cannot be mounted here:", err)
			}
			t.Cleanup(func() { _ = unix.Unmount(left, unix.MNT_DETACH) })
		}
		if err := temporary.PublishNew(path); (err != nil) != busy {
			t.Errorf("busy %v: got %v", busy, err)
		}
		if Exists(path) == busy || Exists(filepath.Join(path, "graph", filepath.Base(left))) {
			t.Errorf("busy %v: it was published with what was left", busy)
		}
	}
}

// A temporary folder is removed by the next one for the same path when its process is gone, and
// only then.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	begin := func(path string) *Temporary {
		temporary, err := NewTemporary(path)
		if err == nil {
			err = os.MkdirAll(filepath.Join(temporary.Path, "half"), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		return temporary
	}
	folder := func(t *Temporary) string { return filepath.Base(filepath.Dir(t.Path)) }
	killed, other, alive := begin(path), begin(filepath.Join(dir, "out.tsv")), begin(path)
	killed.lock.Close()
	other.lock.Close()
	next := begin(path)
	expectNames(t, dir, folder(other), folder(alive), folder(next))
	if err := errors.Join(alive.PublishNew(path), os.Remove(filepath.Join(dir, "out", "half"))); err != nil {
		t.Error(err)
	}
	if err := next.PublishNew(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second folder took the name: %v", err)
	}
	expectNames(t, dir, folder(other), "out")
}

// Whoever may write to folders that a user makes may remove what that user's killed process left.
func TestTemporaryFollowsUmask(t *testing.T) {
	dir := t.TempDir()
	temporary, err := NewTemporary(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer temporary.Discard()
	if err := os.Mkdir(filepath.Join(dir, "plain"), 0o777); err != nil {
		t.Fatal(err)
	}
	found, err1 := os.Stat(filepath.Dir(temporary.Path))
	plain, err2 := os.Stat(filepath.Join(dir, "plain"))
	if err := errors.Join(err1, err2); err != nil || found.Mode() != plain.Mode() {
		t.Errorf("found %v, expected %v as other new folders have: %v", found.Mode(), plain.Mode(), err)
	}
}

// Nothing gets its final name before all of it is synced: what cannot be synced is not published.
func TestPublishSyncs(t *testing.T) {
	dir := t.TempDir()
	for _, publish := range []func(*Temporary) error{(*Temporary).Publish, func(t *Temporary) error { return t.PublishNew(t.final) }} {
		temporary, err := NewTemporary(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		// opening the link, to sync what it leads to, fails
		if err := errors.Join(os.MkdirAll(filepath.Join(temporary.Path, "in"), 0o755), os.Symlink("nowhere", filepath.Join(temporary.Path, "in", "x"))); err != nil {
			t.Fatal(err)
		}
		if err := publish(temporary); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want the error of syncing", err)
		}
		expectNames(t, dir)
	}
}

func TestReadRegularIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sparse")
	if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, MaxWhole+1)); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadRegular(path); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
	if err := os.Truncate(path, MaxWhole); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadRegular(path); len(text) != MaxWhole || err != nil {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
}

// Many processes' worth of temporaries for one path begin and end at once; none loses its folder to
// another.
func TestTemporariesSideBySide(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	failed := make(chan error)
	for range 8 {
		go func() {
			for i := range 20 {
				temporary, err := NewTemporary(path)
				if err == nil {
					if err = os.WriteFile(temporary.Path, fmt.Append(nil, i), 0o644); err == nil {
						err = temporary.Publish()
					}
				}
				if err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	for range 8 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	expectNames(t, dir, "out")
}

// expectNames checks what a folder holds.
func expectNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	left := make(map[string]bool)
	for _, name := range want {
		left[name] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !left[entry.Name()] {
			t.Errorf("%s was left behind", entry.Name())
		}
		delete(left, entry.Name())
	}
	for name := range left {
		t.Errorf("%s is missing", name)
	}
}

func TestSyncTree(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := SyncTree(dir); err != nil {
		t.Error(err)
	}
	if err := SyncTree(filepath.Join(dir, "missing")); err == nil {
		t.Error("a folder that is not there was synced")
	}
}
