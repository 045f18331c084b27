package main

import (
	"path/filepath"
	"slices"
	"testing"

	"tcbuild/fault"
)

func TestParseDevices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		device   string
		ordinals []int
	}{{"cuda", nil}, {"cuda:0", []int{0}}, {"cuda:2,0", []int{2, 0}}} {
		devices, err := parseDevices(c.device, "2GiB", "1MB")
		if err != nil || devices == nil || devices.Memory != 2<<30 || devices.Pinned != 1e6 || !slices.Equal(devices.Ordinals, c.ordinals) {
			t.Errorf("%s: got %+v, %v", c.device, devices, err)
		}
	}
	if devices, err := parseDevices("cpu", "", ""); devices != nil || err != nil {
		t.Errorf("cpu: got %+v, %v", devices, err)
	}
	for _, device := range []string{"", "gpu", "cpu:0", "cuda:", "cuda:0,", "cuda:x", "cuda:-1", "cuda:0,0", "cuda:70000"} {
		if _, err := parseDevices(device, "", ""); fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
			t.Errorf("%q: error %v, hint %q", device, err, fault.HintOf(err))
		}
	}
}

func TestParseMemory(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"": 0, "1": 1, "500000": 500000, "1.5GB": 1_500_000_000, "2 GiB": 2 << 30, "3kB": 3000, "1MiB": 1 << 20, "2TB": 2e12, "2gb": 2e9} {
		if got, err := parseMemory("gpu-memory", text); got != want || err != nil {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "GB", "2 B G", "1e30", "NaN", "half"} {
		if got, err := parseMemory("gpu-memory", text); fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
			t.Errorf("%q: got %d, %v", text, got, err)
		}
	}
}

// Without a GPU the program does everything else, and says what is missing; it does not use the CPU
// instead.
func TestNoCUDADevice(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	f := newFixture(t, 300, 20)
	must(t, f.dir, f.dataset("indices", "zstd", "indices")...)
	must(t, f.dir, "verify", "indices")
	for _, device := range []string{"cuda", "cuda:0"} {
		execute(t, f.dir, "verify", "indices", "--device", device, "--json", "report.json").refused(t, 1, "verify indices on ", "CUDA")
	}
	nothing(t, filepath.Join(f.dir, "report.json"))
}
