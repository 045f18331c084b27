package main

import (
	"os"
	"path/filepath"
	"testing"

	"tcbuild/internal/testing/testrun"
)

// The image of release/Containerfile is enough to run the program as another user, on a read-only
// root, without a network.
func TestContainer(t *testing.T) {
	skipShort(t)
	t.Parallel()
	testrun.NeedPrograms(t, "podman", "runc")
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, ok := runIn(t, "../..", os.Environ(), "release/container.sh"); !ok {
		t.Fatal(out)
	}
	// podman needs the options before run, and the limits, on machines that are containers
	run := func(args ...string) {
		t.Helper()
		podman := []string{
			"--cgroup-manager=cgroupfs", "--runtime=runc", "run", "--rm",
			"--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024",
			"--read-only", "--network=none", "--user=12345:12345",
			"--volume=" + dir + ":/data", "--workdir=/data",
			"tcbuild", "tcbuild",
		}
		if out, ok := runIn(t, dir, os.Environ(), "podman", with(podman, args...)...); !ok {
			t.Fatalf("%v: %s", args, out)
		}
	}
	run("synth", "--out", "cell")
	run("rebuild", "root=out", "dataset=cell", "graph=cell/graph",
		"perturbations=cell/perturbations.arrow")
	must(t, dir, "verify", filepath.Join("out/cell/current", "indices"))
}
