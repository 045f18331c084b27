//go:build !cuda

package devicespeed

import (
	"context"
	"fmt"

	"tcbuild/gpuverify"
)

// Measure returns gpuverify.ErrNoSupport.
func Measure(context.Context, Options) ([]Speed, error) {
	return nil, fmt.Errorf("measure CUDA devices: %w", gpuverify.ErrNoSupport)
}
