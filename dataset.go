package tcbuild

import (
	"context"

	"tcbuild/gpuverify"
	"tcbuild/store"
)

// Open opens a published dataset for reading; see store.Dataset. It reads only the manifest. A
// folder without a dataset is a fault.Input, a damaged manifest a fault.Damaged.
func Open(dir string) (*store.Dataset, error) { return store.Open(dir) }

// Verify regenerates all masks of a dataset and compares them with the stored ones; see
// gpuverify.Verify.
func Verify(ctx context.Context, dataset *store.Dataset, o gpuverify.Options) (*gpuverify.Report, error) {
	return gpuverify.Verify(ctx, dataset, o)
}
