package kernels

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/internal/testing/testrun"
)

// The PTX that the program contains is the compiler's output for the sources.
func TestPTXIsOfTheSources(t *testing.T) {
	testrun.NeedPrograms(t, "clang-14")
	// also so that go test sees when its cached result is stale
	for _, file := range []string{"kernel.h", "ptx.sh"} {
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if out, err := exec.Command("./ptx.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("ptx.sh: %v\n%s", err, out)
	}
	sources, err := filepath.Glob("*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatalf("found sources %v, error %v", sources, err)
	}
	for _, source := range sources {
		if _, err := os.Stat(source); err != nil { // as above
			t.Fatal(err)
		}
		carried := strings.TrimSuffix(source, ".cu") + ".ptx"
		made, err := os.ReadFile(filepath.Join(dir, carried))
		if err != nil {
			t.Fatal(err)
		}
		if found, _ := os.ReadFile(carried); !bytes.Equal(found, made) {
			t.Errorf("%s is not what clang makes of %s: run make ptx", carried, source)
		}
	}
}
