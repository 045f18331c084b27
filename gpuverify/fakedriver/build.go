// Package fakedriver builds a CUDA driver for tests, whose devices run on the host: see
// src/driver.cpp.
package fakedriver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Name is the file name of the driver that the system's loader looks for.
const Name = "libcuda.so.1"

// Build compiles the driver into dir and returns its path. It takes some seconds of g++.
func Build(dir string) (path string, err error) {
	_, here, _, _ := runtime.Caller(0)
	folder := filepath.Dir(here)
	source := filepath.Join(folder, "src")
	folders := []string{source, filepath.Join(folder, "../kernels"), filepath.Join(folder, "../../internal/devicespeed")}
	// so that go test notices when its cached result is stale
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			if _, err := os.Stat(file); err != nil {
				return "", err
			}
		}
	}
	path = filepath.Join(dir, Name)
	args := []string{"-std=c++17", "-O2", "-Wall", "-Wno-unknown-pragmas", "-shared", "-fPIC", "-Wl,-soname," + Name, "-Wl,-z,defs",
		filepath.Join(source, "driver.cpp"), filepath.Join(source, "kernels.cpp"), "-o", path}
	for _, folder := range folders {
		args = append(args, "-I"+folder)
	}
	out, err := exec.Command("g++", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the test driver: %w\n%s", err, out)
	}
	return path, nil
}
