//go:build cuda

package fakedriver

import (
	"os"
	"testing"

	"tcbuild/gpuverify/cuda"
)

// Run runs the tests of a package with the driver, and returns their exit code.
func Run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fakedriver")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if cuda.Driver, err = Build(dir); err != nil {
		panic(err)
	}
	return m.Run()
}
