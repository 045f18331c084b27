//go:build !cuda

package gpuverify

import (
	"context"
	"fmt"

	"tcbuild/fault"
)

var errNoSupport = fault.New(fault.Failed, "build tcbuild with make on a machine with a cuda.h of CUDA 12, or use --device cpu",
	"this build of tcbuild has no CUDA support")

// useDevices returns errNoSupport.
func (v *verifier) useDevices() error {
	return fmt.Errorf("verify %s on a CUDA device: %w", v.dataset.Dir, errNoSupport)
}

// MeasureDevices returns errNoSupport.
func MeasureDevices(context.Context, SpeedOptions) ([]DeviceSpeed, error) {
	return nil, fmt.Errorf("measure CUDA devices: %w", errNoSupport)
}
