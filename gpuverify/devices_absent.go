//go:build !cuda

package gpuverify

import (
	"context"
	"fmt"

	"tcbuild/fault"
)

// HasCUDA says whether this program was built with CUDA support, the tag cuda.
const HasCUDA = false

// ErrNoSupport says that this program was built without the tag cuda.
var ErrNoSupport = fault.New(fault.Failed,
	"build tcbuild with make on a machine with a cuda.h of CUDA 12, or use --device cpu",
	"this build of tcbuild has no CUDA support")

// devices cannot be used.
type devices struct{ *verifier }

func newDevices(v *verifier) devices { return devices{v} }

// start returns ErrNoSupport.
func (d devices) start() error {
	return fmt.Errorf("verify %s on a CUDA device: %w", d.dataset.Dir, ErrNoSupport)
}

func (devices) compareOnDevices(context.Context) error { return nil }

func (devices) dismiss() {}
