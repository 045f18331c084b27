//go:build !cuda

package gpuverify

import (
	"context"
	"fmt"

	"tcbuild/fault"
)

var errNoSupport = fault.New(fault.Failed, "build tcbuild with make where a cuda.h of CUDA 12 can be had, or use --device cpu",
	"this build of tcbuild has no CUDA support")

// useDevices refuses.
func (v *verifier) useDevices() error {
	return fmt.Errorf("verify %s on a CUDA device: %w", v.dataset.Dir, errNoSupport)
}

// MeasureDevices refuses.
func MeasureDevices(context.Context, SpeedOptions) ([]DeviceSpeed, error) {
	return nil, fmt.Errorf("measure CUDA devices: %w", errNoSupport)
}
