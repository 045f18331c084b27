package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOutputNotWritable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	disk := mountDisk(t, dir, 1<<20)
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skip("cannot make a mount read-only:", err)
	}
	for _, args := range [][]string{buildArgs, {"incidence", "--graph", "graph"}, {"synth"}} {
		execute(t, dir, with(args, "--out", "disk/out")...).failed(t, "out", "read-only file system")
	}
}

// On a disk of any size, a build either publishes a sound dataset or fails and leaves nothing under
// its name; once there is room, the same command succeeds.
func TestDiskFull(t *testing.T) {
	skipShort(t)
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	for name, args := range map[string][]string{"dataset": buildArgs, "incidence": {"incidence", "--graph", "graph", "--perturbations", "sets.tsv"}} {
		t.Run(name, func(t *testing.T) {
			disk := mountDisk(t, dir, 1<<20)
			out := filepath.Join(disk, "out")
			failures := 0
			for pages := 1; ; pages++ {
				if pages > 200 {
					t.Fatal("no disk is large enough")
				}
				resize(t, disk, pages*os.Getpagesize())
				o := execute(t, dir, with(args, "--out", "disk/out")...)
				if o.code == 0 {
					break
				}
				failures++
				o.refused(t, 1, "the disk is full: ", "no space left on device")
				nothing(t, out)
				if t.Failed() {
					t.Fatalf("on a disk of %d pages", pages)
				}
			}
			must(t, dir, "verify", out)
			nothing(t, out+".building", filepath.Join(out, ".build"))
			if failures < 8 {
				t.Errorf("only %d disks were too small", failures)
			}
		})
	}
}

// The error of a build that fills a disk with masks says so.
func TestDiskFullOfMasks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, "synth", "--out", "in", "--samples", "2000")
	disk := mountDisk(t, dir, 1<<20)
	args := []string{"dataset", "--mode", "full-masks", "--codec", "raw", "--graph", "in", "--perturbations", "in/perturbations.arrow", "--out", "disk/out"}
	execute(t, dir, args...).refused(t, 1, "the disk is full: write dataset disk/out: ")
	nothing(t, filepath.Join(disk, "out"), filepath.Join(disk, "out.building"))
	resize(t, disk, 16<<20)
	must(t, dir, args...)
}

// failed checks that a run ended with exit code 1, and with one line that has all of want at the
// end of stderr. There need not be a hint.
func (o outcome) failed(t *testing.T, want ...string) {
	t.Helper()
	if !hasHint(o.stderr) {
		o.stderr += "hint: none\n"
	}
	o.refused(t, 1, want...)
}

// mountDisk mounts a small disk at dir/disk. Without the right to do so, the test is skipped.
func mountDisk(t *testing.T, dir string, bytes int) string {
	t.Helper()
	disk := filepath.Join(dir, "disk")
	if err := os.MkdirAll(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprint("size=", bytes)); err != nil {
		t.Skip("a small disk cannot be mounted here:", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return disk
}

func resize(t *testing.T, disk string, bytes int) {
	t.Helper()
	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, fmt.Sprint("size=", bytes)); err != nil {
		t.Fatal(err)
	}
}
