package main

import (
	"context"

	"github.com/spf13/cobra"

	"tcbuild"
	"tcbuild/conf"
	"tcbuild/store"
)

func newIncidence(e *env) *cobra.Command {
	o := tcbuild.Options{Variant: store.Incidence}
	cmd := &cobra.Command{
		Use:   "incidence --graph DIR [--perturbations FILE] --out DATASET",
		Short: "Build an incidence dataset: the deleted genes, and one incidence cache",
		Long: `Build an incidence dataset: every sample's deleted genes and phenotypes, and one
incidence cache (gene -> edge positions) from which a reader makes the masks.
Without --perturbations, build the cache alone.`,
		Example: `  tcbuild incidence --graph demo/graph --perturbations demo/perturbations.arrow --out demo/incidence`,
	}
	stats := datasetFlags(cmd, &o)
	return configured(e, cmd, func(ctx context.Context, _ []string, _ *conf.Settings) error {
		return runBuild(ctx, e, o, *stats)
	})
}
