//go:build !cuda

package gpuverify

import "tcbuild/internal/fault"

// useDevices refuses: this build has no CUDA support.
func (v *verifier) useDevices() error {
	return fault.New(fault.Failed, "build tcbuild with make where a cuda.h of CUDA 12 can be had, or use --device cpu",
		"verify %s on a CUDA device: this build of tcbuild has no CUDA support", v.dataset.Dir)
}
