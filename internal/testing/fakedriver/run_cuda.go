//go:build cuda

package fakedriver

import (
	"testing"

	"tcbuild/gpuverify/cuda"
)

// Run runs the tests of a package with the driver, and returns their exit code.
func Run(m *testing.M) int {
	path, err := Build()
	if err != nil {
		panic(err)
	}
	cuda.Driver = path
	return m.Run()
}
