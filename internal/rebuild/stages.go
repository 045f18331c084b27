package rebuild

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/samples"
	"tcbuild/internal/croissant"
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

// addedFiles are the files of a dataset that 'tcbuild croissant' adds.
var addedFiles = []string{croissant.DescriptionName, croissant.SamplesName}

// firstStage builds the first dataset from the input.
func (r *Rebuild) firstStage() (Stage, error) {
	stage := Stage{Name: r.first(), Output: r.first(), Added: addedFiles, Options: map[string]string{
		"reaction_rule": string(r.Build.ReactionRule), "unknown_genes": string(r.Build.UnknownGenes),
		"allow_wildtype": strconv.FormatBool(r.Build.AllowWildtype), "allow_duplicate_ids": strconv.FormatBool(r.Build.AllowDuplicateIDs),
		"duplicates": string(r.Build.Duplicates), "where": r.Build.Where,
	}}
	for name, columns := range map[string][]string{
		"phenotypes": r.Build.Phenotypes, "not_phenotypes": r.Build.NotPhenotypes, "attributes": r.Build.Attributes, "group_by": r.Build.GroupBy,
		"controls": r.Build.Controls, "removing_kinds": r.Build.RemovingKinds,
	} {
		if columns != nil {
			stage.Options[name] = fmt.Sprintf("%q", columns)
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
			stage.Sources = append(stage.Sources, Source{Name: graphSource + name, Path: files[name]})
		}
	}
	var names []string // of the perturbation set's files
	if r.Build.Perturbations != "" {
		set, err := samples.Parse(r.Build.Perturbations)
		if err != nil {
			return stage, err
		}
		if set.Recipe != "" {
			stage.Options["perturbations"] = set.Recipe
		}
		for _, path := range set.Files {
			names = append(names, filepath.Base(path))
			stage.Sources = append(stage.Sources, Source{Name: filepath.Base(path), Path: path})
		}
	}
	stage.Run = func(ctx context.Context, version string) (read []ingest.Input, err error) {
		options := r.options(store.Incidence, filepath.Join(version, r.first()))
		if options.Graph == "" {
			options.Graph = filepath.Join(version, inputFolder, "graph")
		}
		if options.Perturbations == "" {
			options.Perturbations = filepath.Join(version, inputFolder, "perturbations.arrow")
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

// variantStage builds another dataset from the first one. In a chain that was submitted, tasks have
// built it.
func (r *Rebuild) variantStage(variant string) Stage {
	return Stage{
		Name: variant, Output: variant, Added: addedFiles, Apart: true, After: []string{r.first()},
		Run: func(ctx context.Context, version string) ([]ingest.Input, error) {
			if r.Submitted != nil {
				return nil, builtByTasks(filepath.Join(version, variant))
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
	options.Base = r.base
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
		report, err := r.verify(ctx, dataset)
		if err != nil {
			return nil, err
		}
		first, err := store.ReadManifest(filepath.Join(version, r.first()))
		switch {
		case err != nil:
			return nil, err
		case !report.Passed():
			findings := report.Findings()
			return nil, fault.New(fault.Damaged, "build it again, with --force if that does not help; 'tcbuild verify' shows more",
				"verify %s: %d differences, %d damaged records or files; first: %s", dataset.Dir, report.Differences, report.Damaged, findings[0])
		case report.LogicalContent != first.LogicalContent:
			return nil, fault.New(fault.Damaged, "add --force",
				"compare variants: the logical content of %s differs from the one of %s", dataset.Dir, r.first())
		}
		return nil, disk.WriteJSON(filepath.Join(version, stage.Output), report)
	}
	return stage
}

// verify verifies a dataset, or adds up what tasks have verified of it.
func (r *Rebuild) verify(ctx context.Context, dataset *store.Dataset) (*gpuverify.Report, error) {
	if r.Submitted != nil {
		return gpuverify.Gather(ctx, dataset, r.parts(dataset), r.Verify)
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
