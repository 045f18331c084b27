//go:build cuda

// Package gpucheck tests gpu-check, the script that proves on a real card what the tests prove on a
// fake one.
package gpucheck

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/gpuverify"
	"tcbuild/gpuverify/fakedriver"
	"tcbuild/internal/bench"
)

// folder is what goes to a machine with a card, and the environment of a run with the fake one.
func folder(t *testing.T) (script string, environment []string) {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-tags", "cuda", "-ldflags", "-s -w", "-o", filepath.Join(dir, "tcbuild"), "tcbuild/cmd/tcbuild").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	text, err := os.ReadFile("gpu-check")
	if err != nil {
		t.Fatal(err)
	}
	script = filepath.Join(dir, "gpu-check")
	if err := os.WriteFile(script, text, 0o755); err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, name := range []string{"tcbuild", "gpu-check"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 60e6 {
		t.Errorf("the folder has %d bytes, want at most 60 MB", size)
	}
	driver, err := fakedriver.Build()
	if err != nil {
		t.Fatal(err)
	}
	return script, append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Dir(driver), "FAKE_CUDA_DEVICES=2", "SCALE=tiny", "SAMPLES=700", "MASKS=300", "PLANTED=50")
}

func TestGPUCheck(t *testing.T) {
	script, environment := folder(t)
	cmd := exec.Command(script)
	cmd.Env = environment
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var result struct {
		Passed  bool
		Reports map[string]gpuverify.Report
		Bench   bench.Results
	}
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	if !result.Passed || len(result.Reports) != 16 {
		t.Errorf("passed %v, %d reports, want 16", result.Passed, len(result.Reports))
	}
	if len(result.Bench.Devices) != 2 || len(result.Bench.Cases) == 0 {
		t.Errorf("measured the devices %+v", result.Bench.Devices)
	}
	for name, report := range result.Reports {
		if found := report.Differences > 0; found != strings.HasPrefix(name, "planted-") || report.CUDA == nil || len(report.CUDA.Devices) != 2 {
			t.Errorf("%s: %d differences on %s", name, report.Differences, report.Device)
		}
	}

	failing := exec.Command(script)
	failing.Env = append(environment, "FAKE_CUDA_FAIL=cuLaunchKernel:3:700")
	if out, err := failing.CombinedOutput(); err == nil || !strings.Contains(string(out), "gpu-check: FAILED: ") || strings.Contains(string(out), `"passed"`) {
		t.Errorf("with a failing card: %v\n%s", err, out)
	}
}
