// Package rebuild keeps a named dataset up to date. A chain of stages makes a version of it: the
// input, the variants, and their verification. Only those stages are run whose inputs, options or
// program have changed since the current version, by one process or by the jobs of a SLURM cluster.
//
//	NAME/000007-3fa2c1d0/   a version: the stages' outputs, and version.json with their inputs
//	NAME/current            -> 000007-3fa2c1d0, a symbolic link to the newest version
//	NAME/.build-3fa2c1d0…/  a user's unfinished version, named by the fingerprint of its chain
//	NAME/.tmp-…             left by a killed run; the next one removes it
//	NAME/.lock              held by the active run; .lock-submit, while a chain is submitted
//	NAME/slurm/000003-…/    a chain that was submitted: its plan, settings and logs
//
// A version gets its name after all stages, including verification, and never changes afterwards.
// current is replaced by a rename, so it names a complete version at every moment.
//
// A run takes the locks (Begin), compares what the chain would make with what there is (Plan), runs
// the stages that are missing (Run), and publishes. On a cluster it submits jobs (Submit), of which
// the first prepares, tasks build and verify shards, and the last one publishes (RunJob). All jobs
// of a dataset have one name, by which squeue finds them.
package rebuild

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tcbuild"
	"tcbuild/gpuverify"
	"tcbuild/ingest"
	"tcbuild/store"
)

// Rebuild is the chain that keeps a dataset up to date, and what its stages make.
type Rebuild struct {
	Chain    // its Stages are made by AddStages
	Variants []string
	Input    Input             // made by the chain; empty if Build names graph and perturbations
	Build    tcbuild.Options   // for each variant, without Variant, Out, Shard and Resume
	Verify   gpuverify.Options // without Progress
	Progress func(stage string, samples int) tcbuild.Progress

	base      *store.Dataset      // of a version that the others are built from; nil before one is needed
	reference gpuverify.Reference // of tasks
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

// AddStages adds the stages of the dataset: the input, the variants, and their verification.
func (r *Rebuild) AddStages() error {
	if r.Input.Stage != "" {
		r.Stages = append(r.Stages, r.inputStage())
	}
	first, err := r.firstStage()
	if err != nil {
		return err
	}
	r.Stages = append(r.Stages, first)
	for _, variant := range r.others() {
		r.Stages = append(r.Stages, r.variantStage(variant))
	}
	for _, variant := range r.Variants {
		r.Stages = append(r.Stages, r.verifyStage(variant))
	}
	return nil
}

// surveyFolder is the folder of a version with the survey that its variants are built from, if it
// has no incidence variant: graph and samples as an incidence dataset.
const surveyFolder = "survey"

// first is the name of a version's first dataset, which is made of the input.
func (r *Rebuild) first() string {
	if slices.Contains(r.Variants, string(store.Incidence)) {
		return string(store.Incidence)
	}
	return surveyFolder
}

// others are the variants that are made of the first dataset.
func (r *Rebuild) others() []string {
	return slices.DeleteFunc(slices.Clone(r.Variants), func(variant string) bool { return variant == r.first() })
}

// Identity is the program's version for fingerprints. If the version does not name a clean commit,
// the executable's digest distinguishes builds.
func Identity(version string) (string, error) {
	if !strings.Contains(version, "commit unknown") && !strings.Contains(version, ", modified") {
		return version, nil
	}
	file, err := store.HashFile("/proc/self", "exe") // what runs, whatever has its name now
	return fmt.Sprintf("%s, sha256 %.24s", version, file.SHA256), err
}
