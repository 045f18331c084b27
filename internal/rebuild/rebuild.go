// Package rebuild keeps a named dataset up to date. Its chain of stages makes a version (see
// package versions): the input, the variants, and their verification. One process or the jobs of a
// SLURM cluster run it. A journal reports each run to its operators.
package rebuild

import (
	"context"
	"log/slog"
	"path/filepath"

	"tcbuild"
	"tcbuild/gpuverify"
	"tcbuild/ingest"
	"tcbuild/internal/versions"
	"tcbuild/store"
)

// Options say what to keep up to date.
type Options struct {
	Root, Dataset string // the dataset's folder is ROOT/DATASET
	Program       string // its Identity
	Variants      []string
	Input         Input           // made by the chain; empty if Build names graph and perturbations
	Build         tcbuild.Options // for each variant, without Variant, Out, Shard and Resume
	Method        gpuverify.Method
	Keep          int  // number of versions to keep
	Force         bool // make everything anew
	Pinned        bool // this process runs a step of a submitted chain
	Log           *slog.Logger
	Commands      Commands

	base      *store.Dataset      // that of a version which the others are built from; nil before one is needed
	reference gpuverify.Reference // of gather
}

// Commands do the work of the stages, and show its progress.
type Commands struct {
	Build func(ctx context.Context, o tcbuild.Options) (*tcbuild.Result, error)
	// of a dataset; a failed report is an error
	Verify func(ctx context.Context, dataset string) (*gpuverify.Report, error)
	// VerifyPart is gpuverify.VerifyPart.
	VerifyPart func(ctx context.Context, dataset *store.Dataset, part gpuverify.Part, reference *gpuverify.Reference, save func(gpuverify.Part) error) error
	// Gather is gpuverify.Gather; a failed report is an error.
	Gather func(ctx context.Context, dataset *store.Dataset, parts []gpuverify.Part, reference *gpuverify.Reference) (*gpuverify.Report, error)
}

// Input is how the chain makes its own input.
type Input struct {
	Stage   string            // name; "" if the chain makes no input
	Options map[string]string // what determines it
	Files   []string          // paths of the files that Make reads
	// Make makes the folder out, with graph/ in it and, unless it comes from elsewhere,
	// perturbations.arrow. It returns the files as it read them, by path.
	Make func(ctx context.Context, out string) (read []ingest.Input, err error)
}

// Chain is the stages of the dataset: the input, the variants, and their verification.
func (o *Options) Chain() (*versions.Chain, error) {
	chain := &versions.Chain{Dir: filepath.Join(o.Root, o.Dataset), Program: o.Program, Keep: o.Keep, Force: o.Force, Log: o.Log}
	if o.Input.Stage != "" {
		chain.Stages = append(chain.Stages, o.inputStage())
	}
	for _, name := range o.datasets() {
		stage, err := o.datasetStage(name)
		if err != nil {
			return nil, err
		}
		chain.Stages = append(chain.Stages, stage)
	}
	for _, variant := range o.Variants {
		chain.Stages = append(chain.Stages, o.verifyStage(variant))
	}
	return chain, nil
}
