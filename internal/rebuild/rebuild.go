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
)

// Options say what to keep up to date.
type Options struct {
	Root, Dataset string // the dataset's folder is ROOT/DATASET
	Program       string // its Identity
	Variants      []string
	Input         Input           // made by the chain; empty if Build names graph and perturbations
	Build         tcbuild.Options // for each variant, without Variant, Out, Shard and Resume
	Method        gpuverify.Method
	Device        string // device that verifies masks: cpu or cuda, for the fingerprint
	Keep          int    // number of versions to keep
	Log           *slog.Logger
	Commands      Commands
}

// Commands do the work of the stages, and show its progress.
type Commands struct {
	Build func(ctx context.Context, o tcbuild.Options) (*tcbuild.Result, error)
	// of a dataset; a failed report is an error
	Verify func(ctx context.Context, dataset string) (*gpuverify.Report, error)
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
	chain := &versions.Chain{Dir: filepath.Join(o.Root, o.Dataset), Program: o.Program, Keep: o.Keep, Log: o.Log}
	if o.Input.Stage != "" {
		chain.Stages = append(chain.Stages, o.inputStage())
	}
	for _, variant := range o.Variants {
		stage, err := o.datasetStage(variant)
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
