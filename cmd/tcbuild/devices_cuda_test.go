//go:build cuda

package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/gpuverify"
	"tcbuild/internal/testing/fakedriver"
)

// The program verifies all variants on two devices of a driver that it finds as it would a real
// one.
func TestVerifyOnDevices(t *testing.T) {
	driver, err := fakedriver.Build()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LD_LIBRARY_PATH", filepath.Dir(driver))
	t.Setenv("FAKE_CUDA_DEVICES", "2")
	f := newFixture(t, 600, 130)
	must(t, f.dir, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "incidence")
	must(t, f.dir, f.dataset("indices", "zstd", "indices")...)
	must(t, f.dir, f.dataset("full-masks", "raw", "full-masks")...)
	for _, dataset := range []string{"incidence", "indices", "full-masks"} {
		for _, method := range []string{"incidence", "edges", "both"} {
			o := must(t, f.dir, "verify", dataset, "--device", "cuda", "--method", method)
			if !strings.Contains(o.stdout, "130 samples x ") || !strings.Contains(o.stdout, " on cuda:0 (Fake A), cuda:1 (Fake B) by ") ||
				!strings.Contains(o.stdout, ": 0 differences, 0 damaged (") ||
				!strings.Contains(o.stdout, "\nFake B: 65 samples, ") {
				t.Errorf("%s by %s: got %s", dataset, method, o.stdout)
			}
		}
	}

	t.Run("planted difference", func(t *testing.T) {
		masks := f.oracle(damagedSample)
		removed, _ := removedOf(masks)
		dir := copied(t, filepath.Join(f.dir, "full-masks"))
		s := f.find(t, dir, damagedSample)
		kept := slices.Max(removed) + 1
		change(t, s.path, s.payload, func(p []byte) { p[removed[0]], p[kept] = 1, 0 })
		o := execute(t, f.dir, "verify", dir, "--device", "cuda:1", "--method", "edges", "--json", "-")
		o.damaged(t, s.path)
		var report struct {
			Differences int                      `json:"differences"`
			First       []difference             `json:"first_differences"`
			Devices     []gpuverify.DeviceReport `json:"devices"`
		}
		if err := json.Unmarshal([]byte(o.stdout), &report); err != nil {
			t.Fatal(err)
		}
		if want := []difference{at(masks, removed[0], 0, 1), at(masks, kept, 1, 0)}; report.Differences != 2 ||
			!slices.Equal(report.First, want) {
			t.Errorf("got %d differences %+v, want %+v", report.Differences, report.First, want)
		}
		if d := report.Devices; len(d) != 1 || d[0].Name != "Fake B" ||
			d[0].UploadedBytes > int64(d[0].Samples)*int64(s.end-s.payload) { // as removed positions
			t.Errorf("got %+v", d)
		}
	})
	t.Run("failing device", func(t *testing.T) {
		t.Setenv("FAKE_CUDA_FAIL", "cuEventSynchronize:1:719")
		execute(t, f.dir, "verify", "indices", "--device", "cuda:1", "--json", "report.json").refused(t, 1,
			"verify indices on cuda:1 (Fake B): cuEventSynchronize: LaunchFailed")
		nothing(t, filepath.Join(f.dir, "report.json"))
	})
	t.Run("no such device", func(t *testing.T) {
		execute(t, f.dir, "verify", "indices", "--device", "cuda:2").refused(t, 2, "found device 2, expected one of the CUDA driver's 2 devices")
	})
	t.Run("too little memory", func(t *testing.T) {
		execute(t, f.dir, "verify", "indices", "--device", "cuda", "--gpu-memory", "1kB").refused(t, 1, "need ", "found 1000 usable")
	})
}
