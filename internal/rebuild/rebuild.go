// Package rebuild keeps a named dataset up to date. A chain of stages makes a version of it: the
// input, the variants, and their verification. Only those stages are run whose inputs, options or
// program have changed since the current version.
//
//	NAME/000007-3fa2c1d0/   a version: the stages' outputs, and version.json with their inputs
//	NAME/current            -> 000007-3fa2c1d0, a symbolic link to the newest version
//	NAME/state.json         what runs, how the last run ended, which version was made current
//	NAME/plan.json          the plan that Prepare pinned
//	NAME/.build-3fa2c1d0…/  a user's unfinished version, named by the fingerprint of its chain
//	NAME/.tmp-…             left by a killed run; the next one removes it
//	NAME/.lock              held by the processes at work; .lock-state, to write state.json
//
// A version gets its name after all stages, including verification, and never changes afterwards.
// current is replaced by a rename, so it names a complete version at every moment.
//
// One process does it all (Run): it compares what the chain would make with what exists (Plan),
// runs the missing stages, and publishes. Or a scheduler runs the steps: Prepare makes the input
// and the first dataset, and pins the plan; parts build and verify ranges of samples (Part), on any
// node, in any order; Publish adds up their reports and publishes. Both leave the same version.
package rebuild

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// inputFolder is the folder of a version with the input that its own chain made.
const inputFolder = "input"

func (r *Rebuild) inputStage() Stage {
	stage := Stage{Name: r.Input.Stage, Output: inputFolder, Options: r.Input.Options}
	for _, path := range r.Input.Files {
		stage.Sources = append(stage.Sources, Source{Name: filepath.Clean(path), Path: path})
	}
	stage.Run = func(ctx context.Context, version string) ([]ingest.Input, error) {
		out := filepath.Join(version, inputFolder)
		if err := os.RemoveAll(out); err != nil { // left by a killed run
			return nil, err
		}
		read, err := r.Input.Make(ctx, out)
		for i := range read {
			read[i].Name = filepath.Clean(read[i].Name)
		}
		return read, err
	}
	return stage
}

// graphSource is the prefix of graph tables among the sources. Names of perturbation sets have no
// slash.
const graphSource = "graph/"

// firstStage builds the first dataset from the input.
func (r *Rebuild) firstStage() (Stage, error) {
	if err := r.Build.Spec.Prepare(); err != nil {
		return Stage{}, err
	}
	stage := Stage{Name: r.first(), Output: r.first(), Options: map[string]string{
		"reaction_rule": string(r.Build.ReactionRule),
	}}
	plain := func(text string) string { return text } // the chain redacts what it records
	for key, value := range r.Build.Spec.Record(plain) {
		text, err := json.Marshal(value)
		if err != nil {
			return stage, err
		}
		stage.Options[key] = string(text)
		if word, ok := value.(string); ok {
			stage.Options[key] = word
		}
	}
	if r.Input.Stage != "" {
		stage.After = []string{r.Input.Stage}
	}
	if r.Build.Graph != "" {
		files, err := graph.Files(r.Build.Graph)
		if err != nil {
			return stage, err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			stage.Sources = append(stage.Sources,
				Source{Name: graphSource + name, Path: files[name]})
		}
	}
	var names []string // of the perturbation set's files
	for _, path := range r.Build.Spec.Files() {
		names = append(names, filepath.Base(path))
		stage.Sources = append(stage.Sources, Source{Name: filepath.Base(path), Path: path})
	}
	stage.Run = func(ctx context.Context, version string) (read []ingest.Input, err error) {
		options := r.options(store.Incidence, filepath.Join(version, r.first()))
		if options.Graph == "" {
			options.Graph = filepath.Join(version, inputFolder, "graph")
		}
		if options.File == "" {
			options.File = filepath.Join(version, inputFolder, "perturbations.arrow")
		}
		result, err := tcbuild.Build(ctx, options)
		if err != nil {
			return nil, err
		}
		if r.Build.Graph != "" {
			for _, input := range result.Manifest.Inputs.Graph {
				input.Name = graphSource + input.Name
				read = append(read, input)
			}
		}
		for i, name := range names {
			input := result.Manifest.Inputs.Perturbations[i]
			input.Name = name
			read = append(read, input)
		}
		return read, nil
	}
	return stage, nil
}

// variantStage builds another dataset from the first one.
func (r *Rebuild) variantStage(variant string) Stage {
	return Stage{
		Name: variant, Output: variant, Apart: true, After: []string{r.first()},
		Run: func(ctx context.Context, version string) ([]ingest.Input, error) {
			if r.gathering {
				return nil, r.complete(ctx, variant, version)
			}
			options, err := r.optionsOf(variant, version)
			if err == nil {
				_, err = tcbuild.Build(ctx, options)
			}
			return nil, err
		},
	}
}

// optionsOf are the options of a variant in the folder of a version.
func (r *Rebuild) optionsOf(variant, version string) (options tcbuild.Options, err error) {
	if dir := filepath.Join(version, r.first()); r.base == nil || r.base.Dir != dir {
		r.base, err = store.Open(dir)
	}
	options = r.options(store.Variant(variant), filepath.Join(version, variant))
	options.Base, options.Parts = r.base, r.parts
	return options, err
}

func (r *Rebuild) options(variant store.Variant, out string) tcbuild.Options {
	options := r.Build
	options.Variant, options.Out, options.Resume, options.Log = variant, out, store.ResumeIfPossible, r.Log
	options.Progress = func(samples int) tcbuild.Progress {
		if samples == 0 {
			return r.Progress("survey", 0)
		}
		return r.Progress("build", samples)
	}
	return options
}

// verifyStage verifies one dataset, checks that its content equals the version's first dataset's,
// and writes the report.
func (r *Rebuild) verifyStage(variant string) Stage {
	stage := Stage{
		Name: verifyPrefix + variant, Output: ReportName(variant), Apart: true,
		// not the device: it changes nothing of what is proved
		Options: map[string]string{"method": string(r.Verify.Method)},
		After:   []string{variant},
	}
	if variant != r.first() {
		stage.After = append(stage.After, r.first())
	}
	stage.Run = func(ctx context.Context, version string) ([]ingest.Input, error) {
		dataset, err := store.Open(filepath.Join(version, variant))
		if err != nil {
			return nil, err
		}
		report, err := r.verify(ctx, variant, dataset)
		if err != nil {
			return nil, err
		}
		first, err := store.ReadManifest(filepath.Join(version, r.first()))
		switch {
		case err != nil:
			return nil, err
		case !report.Passed():
			return nil, damaged(dataset.Dir, report)
		case report.LogicalContent != first.LogicalContent:
			return nil, fault.New(fault.Damaged, "add --force",
				"compare variants: the logical content of %s differs from the one of %s",
				dataset.Dir, r.first())
		}
		return nil, disk.WriteJSON(filepath.Join(version, stage.Output), report)
	}
	return stage
}

// verify verifies a dataset, or adds up the parts' reports on it.
func (r *Rebuild) verify(
	ctx context.Context, variant string, dataset *store.Dataset,
) (*gpuverify.Report, error) {
	if r.gathering {
		return r.gather(ctx, variant, dataset)
	}
	options := r.Verify
	bar := r.Progress("verify", dataset.Manifest.Samples)
	defer bar.Done()
	options.Progress = bar
	return gpuverify.Verify(ctx, dataset, options)
}

// verifyPrefix is the prefix of the names of verify stages.
const verifyPrefix = "verify-"

// ReportName is the name of a variant's verification report in a version.
func ReportName(variant string) string { return verifyPrefix + variant + ".json" }

// Rebuild is the chain that keeps a dataset up to date, and what its stages make.
type Rebuild struct {
	Chain    // its Stages are made by AddStages
	Variants []string
	Input    Input             // made by the chain; empty if Build names graph and perturbations
	Build    tcbuild.Options   // for each variant, without Variant, Out, Part and Resume
	Verify   gpuverify.Options // without Progress
	Progress Starter

	base      *store.Dataset      // of a version that the others are built from; nil before one is needed
	reference gpuverify.Reference // of parts
	gathering bool                // parts did the work
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
