package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tcbuild/internal/testing/testrun"
)

// A failure of the operating system exits 1 and says nothing about a dataset: whatever the limit on
// open files, a command is right or exits 1.
func TestTooManyOpenFiles(t *testing.T) {
	skipShort(t)
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	must(t, dir, buildArgs...)
	must(t, dir, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "inc")
	const fewest = 8 // that Go's runtime starts with
	for _, run := range []string{"verify out", "verify inc", "inspect inc --samples :", "diff out inc", "status out"} {
		t.Run(run, func(t *testing.T) {
			for limit := fewest; limit < fewest+16; limit++ {
				args := strings.Fields(run)
				cmd := program(t, "main", args...)
				cmd.Dir = dir
				// without what the test was started with, such as flock's file
				cmd.Args = append([]string{"sh", "-c", `exec 3>&- 4>&- 5>&-; ulimit -n $0 && exec "$@"`, strconv.Itoa(limit), cmd.Path}, args...)
				cmd.Path = "/bin/sh"
				if text, err := cmd.CombinedOutput(); err != nil {
					outcome{cmd.ProcessState.ExitCode(), "", string(text)}.refused(t, 1, "too many open files")
				}
			}
		})
	}
}

// A right that is missing is a failure (1): neither damage, nor no dataset, nor no unfinished
// build.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		run, path string
		mode      os.FileMode
	}{
		{"status out", "out", 0},
		{"status out", "out/manifest.json", 0},
		{"status new", "new.building/.build", 0},
		{"status new", "new.building/.build/plan.json", 0},
		{"verify out", "out/graph/nodes", 0o300},
		{"verify out", "out/graph/nodes", 0},
		{"incidence --graph graph --perturbations in/perturbations.arrow --out z", "in", 0o600},
		{"incidence --graph in --out y", "in", 0o600},
		{"incidence --graph in --out y", "in/graph", 0o600},
		{"inspect out --samples 0", "out/graph/edges", 0o300},
		{"dataset --mode indices --graph graph --perturbations sets.tsv --out new", "new.building/.build/plan.json", 0},
	} {
		t.Run(c.run+" "+c.path, func(t *testing.T) {
			testrun.OneIn(t, 4)
			t.Parallel()
			dir := t.TempDir()
			writeFiles(t, dir, sound, map[string]string{"new.building/.build/plan.json": "{}", "new.building/shard": "precious"})
			must(t, dir, "synth", "--out", "in", "--samples", "2")
			must(t, dir, buildArgs...)
			path := filepath.Join(dir, c.path)
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(path, 0o700)
			cmd := program(t, "main", strings.Fields(c.run)...)
			cmd.Dir = dir
			text, err := withoutPrivileges(t, cmd)
			if err == nil {
				t.Fatalf("got exit code 0: %s", text)
			}
			outcome{cmd.ProcessState.ExitCode(), "", text}.refused(t, 1, c.path[:2], "permission denied")
			if text := read(t, filepath.Join(dir, "new.building/shard")); text != "precious" {
				t.Error("the unfinished build was removed")
			}
		})
	}
}

// withoutPrivileges runs a program that may read no more than its files' modes allow, also as root.
func withoutPrivileges(t *testing.T, cmd *exec.Cmd) (output string, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread has lost its capabilities
		for _, capability := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
			if e := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); e != nil && os.Geteuid() == 0 {
				err = e
				return
			}
		}
		var text []byte
		text, err = cmd.CombinedOutput()
		output = string(text)
	}()
	<-done
	if err != nil && cmd.ProcessState == nil {
		t.Skip("capabilities cannot be dropped:", err)
	}
	return output, err
}

// A file of a dataset, or of an unfinished build, that is no regular file is damage.
func TestPipeInADataset(t *testing.T) {
	t.Parallel()
	build := "dataset --mode indices --graph graph --perturbations sets.tsv --out new"
	for _, c := range []struct {
		run, path string
		code      int
	}{
		{"status out", "out/manifest.json", 4},
		{build, "new.building/.build/plan.json", 0},
		{"status new", "new.building/.build/plan.json", 4},
	} {
		t.Run(c.run+" "+c.path, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFiles(t, dir, sound)
			must(t, dir, buildArgs...)
			path := filepath.Join(dir, c.path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			os.Remove(path)
			if err := syscall.Mkfifo(path, 0o644); err != nil {
				t.Fatal(err)
			}
			o := execute(t, dir, strings.Fields(c.run)...)
			if c.code != 0 {
				o.refused(t, c.code, c.path[:3])
			} else if o.code != 0 {
				t.Errorf("got exit code %d: %s", o.code, o.stderr)
			}
		})
	}
}

// Messages name the output as the user did, not by its temporary name.
func TestOutputIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	must(t, dir, "synth", "--out", "in", "--samples", "2000")
	mountDisk(t, dir, 1<<16)
	for _, run := range []string{
		"synth --out disk/synth --samples 2000",
	} {
		o := execute(t, dir, strings.Fields(run)...)
		o.failed(t, "disk/")
		if strings.Contains(o.stderr, ".tcbuild-") {
			t.Errorf("%s: got %s", run, o.stderr)
		}
	}
}

// The status of versions says so where current is no link, or leads to no version.
func TestStatusOfVersions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const version = "0123456789abcdef"
	writeFiles(t, dir, map[string]string{"d/" + version + "/key.json": "{}", "d/.build-x": "x"})
	status := func(want string) {
		t.Helper()
		execute(t, dir, "status", "d").prints(t, 4, "  PROBLEM   "+want)
	}
	status("there are versions, but no current one")
	writeFiles(t, dir, map[string]string{"d/current": "x"})
	status("read d/current: it is not a symbolic link to a version")
	current := filepath.Join(dir, "d/current")
	if err := errors.Join(os.Remove(current), os.Symlink(version, current)); err != nil {
		t.Fatal(err)
	}
	status("check version d/" + version)
}
