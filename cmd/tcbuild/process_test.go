package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/store"
)

// outcome is how a run of the program ended.
type outcome struct {
	code           int // -1 when a signal ended it
	stdout, stderr string
}

// execute runs the program as its own process in a folder. One that hangs fails the test.
func execute(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	return finish(t, begin(t, dir, args...))
}

// begin starts the program as its own process in a folder; finish waits for its end.
func begin(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := program(t, "main", args...)
	cmd.Dir = dir
	return start(t, cmd)
}

// start starts a command for finish.
func start(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	cmd.Stdout, cmd.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{
		cmd.ProcessState.ExitCode(), cmd.Stdout.(*bytes.Buffer).String(),
		cmd.Stderr.(*bytes.Buffer).String(),
	}
}

// must is execute for runs that have to end well.
func must(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	o := execute(t, dir, args...)
	if o.code != 0 {
		t.Fatalf("tcbuild %s: got exit code %d, stderr:\n%s", strings.Join(args, " "), o.code,
			o.stderr)
	}
	return o
}

// refused checks that a run failed with an exit code, and with one line that has all of want and
// with a hint at the end of stderr.
func (o outcome) refused(t *testing.T, code int, want ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("got exit code %d, want %d; stderr:\n%s", o.code, code, o.stderr)
	}
	lines := strings.Split(strings.TrimSuffix(o.stderr, "\n"), "\n")
	if len(lines) < 2 || strings.Count("\n"+o.stderr, "\ntcbuild: ") != 1 ||
		!strings.HasPrefix(lines[len(lines)-2], "tcbuild: ") {
		t.Errorf("got stderr:\n%s\nwant it to end with one line of error and one of hint", o.stderr)
		return
	}
	message, hint := lines[len(lines)-2], lines[len(lines)-1]
	if len(hint) < len("hint: x") || !strings.HasPrefix(hint, "hint: ") {
		t.Errorf("got %q, want a hint", hint)
	}
	for _, text := range want {
		if !strings.Contains(message, text) {
			t.Errorf("got  %s\nwant %s", message, text)
		}
	}
}

// hints checks the hint of a run that was refused.
func (o outcome) hints(t *testing.T, want string) {
	t.Helper()
	if _, hint, _ := strings.Cut(o.stderr, "\nhint: "); !strings.Contains(hint, want) {
		t.Errorf("got hint %q, want %q in it", hint, want)
	}
}

// prints checks the exit code, and that stdout contains some texts.
func (o outcome) prints(t *testing.T, code int, want ...string) {
	t.Helper()
	missing := func(text string) bool { return !strings.Contains(o.stdout, text) }
	if o.code != code || slices.ContainsFunc(want, missing) {
		t.Errorf("got %d, %s%s\nwant %d and %q", o.code, o.stdout, o.stderr, code, want)
	}
}

// warns checks that stderr contains a text.
func (o outcome) warns(t *testing.T, want string) {
	t.Helper()
	if !strings.Contains(o.stderr, want) {
		t.Errorf("got stderr:\n%s\nwant %q in it", o.stderr, want)
	}
}

// nothing checks that there is none of the files.
func nothing(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was left behind", path)
		}
	}
}

// writeFiles writes files into a folder; a file with empty text is not written.
func writeFiles(t *testing.T, dir string, files ...map[string]string) {
	t.Helper()
	all := make(map[string]string)
	for _, some := range files {
		for name, text := range some {
			all[name] = text
		}
	}
	for name, text := range all {
		if text == "" {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// manifestOf reads the manifest of a dataset.
func manifestOf(t *testing.T, dataset string) *store.Manifest {
	t.Helper()
	manifest, err := store.ReadManifest(dataset)
	if err != nil {
		t.Fatal(err)
	}
	return manifest
}

// dataOf returns the SHA-256 of every file of a dataset, by name, except the files about a run.
func dataOf(t *testing.T, dataset string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dataset, func(path string, entry os.DirEntry, err error) error {
		names := []string{"run.json", "staged.json"}
		aboutRun := entry != nil && slices.Contains(names, entry.Name())
		if err != nil || entry.IsDir() || aboutRun {
			return err
		}
		name, err := filepath.Rel(dataset, path)
		files[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, path))))
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	return files
}

// sameData checks that two datasets have the same files with the same bytes, except run.json.
func sameData(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is one file too many", name)
		}
	}
	for name, sum := range want {
		if got[name] != sum {
			t.Errorf("%s has the sha256 %q, expected %s", name, got[name], sum)
		}
	}
}

// patience is how long tests wait for what has to come. A hang takes as long, a slow machine never.
const patience = 20 * time.Minute

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for pause := 200 * time.Microsecond; !holds(); pause = min(2*pause, 20*time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("%s: it never came", what)
		}
		time.Sleep(pause)
	}
}

// stopVariable is how a process stops itself for its test, as with SIGSTOP: by the time that the
// test could stop it, it may be done. "N PATTERN" stops it when a file has N bytes.
const stopVariable = "TCBUILD_TEST_STOP"

// stopAt stops this process when a file has so many bytes. This goroutine, and the one that
// receives signals, need not wait for those that build: there are more threads than goroutines, and
// all others let this one go first, also on a busy machine.
func stopAt(size int64, pattern string) {
	runtime.GOMAXPROCS(64)
	runtime.LockOSThread()
	threads, _ := filepath.Glob("/proc/self/task/*")
	for _, thread := range threads {
		if id, _ := strconv.Atoi(filepath.Base(thread)); id != unix.Gettid() {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, 5) // threads to come inherit it
		}
	}
	for {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && info.Size() >= size {
				syscall.Kill(os.Getpid(), syscall.SIGSTOP)
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// stopped waits until a process has stopped itself.
func stopped(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "the stop of the process", func() bool {
		if isIn(pid, "Z") {
			t.Fatal("the process ended before it stopped")
		}
		return isIn(pid, "T")
	})
}

func countLines(text string) int { return strings.Count(text, "\n") }

func hasHint(stderr string) bool { return strings.Contains(stderr, "\nhint: ") }

// skipShort skips a test that starts many processes, or waits for them, where only quick ones are
// wanted.
func skipShort(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it starts many processes")
	}
}
