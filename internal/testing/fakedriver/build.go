// Package fakedriver builds a CUDA driver for tests, whose devices run on the host: see
// src/driver.cpp.
package fakedriver

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A driver that changes makes cached results of tests stale; so does a kernel, by its PTX.
//
//go:embed src
var _ embed.FS

// Name is the file name of the driver that the system's loader looks for.
const Name = "libcuda.so.1"

// Build compiles the driver, which takes some seconds of g++, into a folder beside Go's build
// cache, unless a driver from the same sources is there. It returns its path.
func Build() (path string, err error) {
	_, here, _, _ := runtime.Caller(0)
	folder := filepath.Dir(here)
	source := filepath.Join(folder, "src")
	args := []string{"-std=c++17", "-O2", "-Wall", "-Wno-unknown-pragmas", "-shared", "-fPIC", "-Wl,-soname," + Name, "-Wl,-z,defs"}
	content := sha256.New()
	fmt.Fprintln(content, args)
	for _, folder := range []string{source, filepath.Join(folder, "../../../gpuverify/kernels")} {
		files, err := filepath.Glob(filepath.Join(folder, "*.[ch]*"))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(content, "%s %d\n%s", filepath.Base(file), len(text), text)
		}
		args = append(args, "-I"+folder)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return "", fmt.Errorf("find Go's build cache: %w", err)
	}
	path = filepath.Join(strings.TrimSpace(string(cache)), "tcbuild", fmt.Sprintf("fakedriver-%x", content.Sum(nil)[:8]), Name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "made") // the tests of other packages may make it too
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, Name)
	args = append(args, filepath.Join(source, "driver.cpp"), filepath.Join(source, "kernels.cpp"), "-o", made)
	if out, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the test driver: %w\n%s", err, out)
	}
	return path, os.Rename(made, path)
}
