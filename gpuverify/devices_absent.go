//go:build !cuda

package gpuverify

import (
	"fmt"

	"tcbuild/fault"
)

// HasCUDA says whether this program was built with CUDA support, the tag cuda.
const HasCUDA = false

// ErrNoSupport says that this program was built without the tag cuda.
var ErrNoSupport = fault.New(fault.Failed,
	"build tcbuild with make on a machine with a cuda.h of CUDA 12, or use --device cpu",
	"this build of tcbuild has no CUDA support")

// useDevices returns ErrNoSupport.
func (v *verifier) useDevices() error {
	return fmt.Errorf("verify %s on a CUDA device: %w", v.dataset.Dir, ErrNoSupport)
}
