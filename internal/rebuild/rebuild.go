// Package rebuild is the chain that brings a named dataset up to date: its input, the variants, and
// their verification, as stages of a version (see package versions), run by one process or by the
// jobs of a SLURM cluster. A journal tells those who watch over it how it went.
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

// Options say what is kept up to date.
type Options struct {
	Root, Dataset string // the dataset's folder is ROOT/DATASET
	Program       string // its Identity
	Variants      []string
	Input         Input           // made by the chain; none if Build names graph and perturbations
	Build         tcbuild.Options // of each variant, but for Variant, Out, Shard and Resume
	Method        gpuverify.Method
	Device        string // where masks are verified: cpu or cuda, for the fingerprint
	Keep          int    // versions
	Log           *slog.Logger
	Commands      Commands
}

// Commands do the work of the stages, and show its progress.
type Commands struct {
	Build func(ctx context.Context, o tcbuild.Options) (*tcbuild.Result, error)
	// of a dataset; a report that did not pass is an error
	Verify func(ctx context.Context, dataset string) (*gpuverify.Report, error)
}

// Input is how the chain makes its own input.
type Input struct {
	Stage   string            // name; "" when there is none to make
	Options map[string]string // what it follows from
	Files   []string          // paths of the files that Make reads
	// Make makes the folder out, with graph/ and, unless it comes from elsewhere,
	// perturbations.arrow in it, and returns the files as it read them, by their paths.
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
