package kernels

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The PTX that the program carries is what the compiler makes of the sources.
func TestPTXIsOfTheSources(t *testing.T) {
	if _, err := exec.LookPath("clang-14"); err != nil {
		t.Skip("clang-14 is not installed")
	}
	dir := t.TempDir()
	if out, err := exec.Command("./ptx.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("ptx.sh: %v\n%s", err, out)
	}
	sources, err := filepath.Glob("*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatalf("found sources %v, error %v", sources, err)
	}
	for _, source := range append(sources, "kernel.h") {
		// also so that go test sees when its cached result is stale
		if _, err := os.Stat(source); err != nil {
			t.Fatal(err)
		}
	}
	for _, source := range sources {
		name := strings.TrimSuffix(source, ".cu") + ".ptx"
		made, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if carried, _ := os.ReadFile(name); !bytes.Equal(carried, made) {
			t.Errorf("%s is not what clang makes of %s: run go generate ./gpuverify/kernels", name, source)
		}
	}
}
