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
	"tcbuild/ingest/perturbationset"
	"tcbuild/internal/croissant"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// inputFolder is the folder of a version with the input that its own chain made.
const inputFolder = "input"

func (o *Options) inputStage() Stage {
	stage := Stage{
		Name: o.Input.Stage, Output: inputFolder, Options: o.Input.Options,
		Run: func(ctx context.Context, version string) ([]ingest.Input, error) {
			out := filepath.Join(version, inputFolder)
			if err := os.RemoveAll(out); err != nil { // left by a killed run
				return nil, err
			}
			read, err := o.Input.Make(ctx, out)
			for i := range read {
				read[i].Name = filepath.Clean(read[i].Name)
			}
			return read, err
		},
	}
	for _, path := range o.Input.Files {
		stage.Sources = append(stage.Sources, Source{Name: filepath.Clean(path), Path: path})
	}
	return stage
}

// surveyFolder is the folder of a version with the survey that its variants are built from, if it
// has no incidence variant: graph and samples as an incidence dataset.
const surveyFolder = "survey"

// datasets are the names of a version's datasets. The first one is made of the input, and the
// others of it.
func (o *Options) datasets() []string {
	if slices.Contains(o.Variants, string(store.Incidence)) {
		return o.Variants
	}
	return append([]string{surveyFolder}, o.Variants...)
}

// datasetStage builds one dataset of a version.
func (o *Options) datasetStage(name string) (Stage, error) {
	var outside []string // files of a perturbation set that no stage makes
	stage := Stage{
		Name: name, Output: name, Added: []string{croissant.DescriptionName, croissant.SamplesName},
		Apart: name != o.datasets()[0],
		Options: map[string]string{
			"reaction_rule": string(o.Build.ReactionRule), "unknown_genes": string(o.Build.UnknownGenes),
			"allow_wildtype": strconv.FormatBool(o.Build.AllowWildtype), "allow_duplicate_ids": strconv.FormatBool(o.Build.AllowDuplicateIDs),
			"duplicates": string(o.Build.Duplicates),
		},
		Run: func(ctx context.Context, version string) ([]ingest.Input, error) {
			if o.Pinned && name != o.datasets()[0] {
				manifest, err := o.builtApart(filepath.Join(version, name))
				if err != nil {
					return nil, err
				}
				return o.outsideInputs(manifest, outside), nil
			}
			options, err := o.datasetOptions(name, version)
			if err != nil {
				return nil, err
			}
			result, err := o.Commands.Build(ctx, options)
			if err != nil {
				return nil, err
			}
			return o.outsideInputs(result.Manifest, outside), nil
		},
	}
	for name, columns := range map[string][]string{
		"phenotypes": o.Build.Phenotypes, "not_phenotypes": o.Build.NotPhenotypes, "attributes": o.Build.Attributes, "group_by": o.Build.GroupBy,
	} {
		if columns != nil {
			stage.Options[name] = fmt.Sprintf("%q", columns)
		}
	}
	if o.Build.Where != "" {
		stage.Options["where"] = o.Build.Where
	}
	if o.Input.Stage != "" {
		stage.After = []string{o.Input.Stage}
	}
	if stage.Apart {
		stage.After = append(stage.After, o.datasets()[0])
	}
	if o.Build.Graph != "" {
		files, err := ingest.GraphFiles(o.Build.Graph)
		if err != nil {
			return stage, err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			stage.Sources = append(stage.Sources, Source{Name: graphSource + name, Path: files[name]})
		}
	}
	if o.Build.Perturbations == "" {
		return stage, nil
	}
	set, err := perturbationset.Parse(o.Build.Perturbations)
	if err != nil {
		return stage, err
	}
	o.Build.Perturbations = set.Name // so that no stage reads the settings file again
	if set.Recipe != "" {
		stage.Options["perturbations"] = set.Recipe
	}
	for _, path := range set.Files {
		stage.Sources = append(stage.Sources, Source{Name: filepath.Base(path), Path: path})
	}
	outside = set.Files
	return stage, nil
}

// graphSource is the prefix of graph tables among the sources. Names of perturbation sets have no
// slash.
const graphSource = "graph/"

// outsideInputs are the files from outside the version that a dataset was built from, by the names
// of the stage's sources. perturbations are the paths of the set's files.
func (o *Options) outsideInputs(m *store.Manifest, perturbations []string) (read []ingest.Input) {
	if o.Build.Graph != "" {
		for _, input := range m.Inputs.Graph {
			input.Name = graphSource + input.Name
			read = append(read, input)
		}
	}
	for i, path := range perturbations {
		input := m.Inputs.Perturbations[i]
		input.Name = filepath.Base(path)
		read = append(read, input)
	}
	return read
}

// datasetOptions are the options of one dataset in the folder of a version.
func (o *Options) datasetOptions(name, version string) (options tcbuild.Options, err error) {
	options = o.Build
	options.Variant, options.Out = store.Variant(name), filepath.Join(version, name)
	options.Shard, options.Resume = nil, store.ResumeIfPossible
	if first := o.datasets()[0]; name != first {
		if dir := filepath.Join(version, first); o.base == nil || o.base.Dir != dir {
			o.base, err = store.Open(dir)
		}
		options.Base = o.base
		return options, err
	}
	options.Variant = store.Incidence
	if options.Graph == "" {
		options.Graph = filepath.Join(version, inputFolder, "graph")
	}
	if options.Perturbations == "" {
		options.Perturbations = filepath.Join(version, inputFolder, "perturbations.arrow")
	}
	return options, nil
}

// verifyStage verifies one dataset, checks that its content is that of the version's first dataset,
// and writes the report.
func (o *Options) verifyStage(variant string) Stage {
	first := o.datasets()[0]
	stage := Stage{
		Name: verifyPrefix + variant, Output: ReportName(variant), Apart: true,
		// not the device: it changes nothing of what is proved
		Options: map[string]string{"method": string(o.Method)},
		After:   []string{variant},
	}
	if variant != first {
		stage.After = append(stage.After, first)
	}
	stage.Run = func(ctx context.Context, version string) ([]ingest.Input, error) {
		verify := o.Commands.Verify
		if o.Pinned {
			verify = o.gather
		}
		report, err := verify(ctx, filepath.Join(version, variant))
		if err != nil {
			return nil, err
		}
		if err := sameContent(report, filepath.Join(version, first)); err != nil {
			return nil, err
		}
		return nil, disk.WriteJSON(filepath.Join(version, stage.Output), report)
	}
	return stage
}

// verifyPrefix is the prefix of the names of verify stages.
const verifyPrefix = "verify-"

// ReportName is the name of a variant's verification report in a version.
func ReportName(variant string) string { return verifyPrefix + variant + ".json" }

func sameContent(report *gpuverify.Report, first string) error {
	manifest, err := store.ReadManifest(first)
	if err == nil && report.LogicalContent != manifest.LogicalContent {
		err = fault.New(fault.Damaged, "add --force",
			"compare variants: the logical content of %s differs from that of %s", report.Dataset, first)
	}
	return err
}
