package main

import (
	"context"
	"encoding/json"
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
	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
	"tcbuild/store"
)

// chain has the stages of a rebuild: the input, the datasets, and their verification.
func (o *rebuildOptions) chain(e *env) (*rebuild.Chain, error) {
	program, err := programIdentity()
	if err != nil {
		return nil, err
	}
	chain := &rebuild.Chain{Dir: filepath.Join(o.root, o.dataset), Program: program, Keep: o.keep, Log: e.log}
	input, err := o.inputStage(e)
	if err != nil {
		return nil, err
	}
	if input.Name != "" {
		chain.Stages = append(chain.Stages, input)
	}
	for _, variant := range o.variants {
		stage, err := o.datasetStage(e, variant, input)
		if err != nil {
			return nil, err
		}
		chain.Stages = append(chain.Stages, stage)
	}
	for _, variant := range o.variants {
		chain.Stages = append(chain.Stages, o.verifyStage(e, variant))
	}
	return chain, nil
}

const inputOutput = "input" // folder of a version for input that the chain itself makes

// inputStage makes the input that the chain does not take from outside. It has no name if there is
// none to make.
func (o *rebuildOptions) inputStage(e *env) (rebuild.Stage, error) {
	switch {
	case o.ingest.Config != "" && o.build.Graph != "":
		return rebuild.Stage{}, fault.New(fault.Usage, "omit one of them", "rebuild: found both --graph and a section ingest")
	case o.ingest.Config != "":
		return o.ingestStage(e)
	case o.build.Graph != "":
		return rebuild.Stage{}, nil
	case o.build.Perturbations != "":
		return rebuild.Stage{}, fault.New(fault.Usage, "add graph=DIR", "rebuild: --perturbations is given without --graph")
	}
	return o.synthStage(e)
}

func (o *rebuildOptions) synthStage(e *env) (rebuild.Stage, error) {
	if err := o.synth.check(); err != nil {
		return rebuild.Stage{}, err
	}
	return rebuild.Stage{
		Name: "synth", Output: inputOutput,
		Options: map[string]string{"scale": o.synth.scale, "samples": strconv.Itoa(o.synth.samples), "seed": fmt.Sprint(o.synth.seed)},
		Run: func(ctx context.Context, version string) ([]ingest.Input, error) {
			options := o.synth
			options.out = filepath.Join(version, inputOutput)
			if _, err := os.Stat(options.out); err == nil {
				return nil, nil
			}
			return nil, runSynth(ctx, e, options)
		},
	}, nil
}

// ingestStage builds the graph from public sources.
func (o *rebuildOptions) ingestStage(e *env) (rebuild.Stage, error) {
	if o.build.Perturbations == "" {
		return rebuild.Stage{}, fault.New(fault.Usage, "add perturbations=FILE",
			"rebuild: a section ingest is given without --perturbations")
	}
	spec, err := o.ingest.graphSpec()
	if err != nil {
		return rebuild.Stage{}, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return rebuild.Stage{}, err
	}
	stage := rebuild.Stage{
		Name: "ingest", Output: inputOutput,
		Options: map[string]string{"graph": string(text)},
		Run: func(ctx context.Context, version string) ([]ingest.Input, error) {
			out := filepath.Join(version, inputOutput, "graph")
			if err := os.RemoveAll(out); err != nil { // left by a killed run
				return nil, err
			}
			read, err := runIngestGraph(ctx, e, ingestGraphOptions{out: out}, spec)
			for i := range read {
				read[i].Name = filepath.Clean(read[i].Name)
			}
			return read, err
		},
	}
	for _, path := range spec.Files() {
		stage.Sources = append(stage.Sources, rebuild.Source{Name: filepath.Clean(path), Path: path})
	}
	return stage, nil
}

func (o *rebuildOptions) datasetStage(e *env, variant string, input rebuild.Stage) (rebuild.Stage, error) {
	var outside []string // files of a perturbation set that no stage makes
	stage := rebuild.Stage{
		Name: variant, Output: variant,
		Options: map[string]string{
			"reaction_rule": string(o.build.ReactionRule), "unknown_genes": string(o.build.UnknownGenes),
			"allow_wildtype": strconv.FormatBool(o.build.AllowWildtype), "allow_duplicate_ids": strconv.FormatBool(o.build.AllowDuplicateIDs),
		},
		Run: func(ctx context.Context, version string) ([]ingest.Input, error) {
			result, err := buildDataset(ctx, e, o.datasetOptions(variant, version))
			if err != nil {
				return nil, err
			}
			return o.outsideInputs(result.Manifest, outside), nil
		},
	}
	for name, columns := range map[string][]string{"phenotypes": o.build.Phenotypes, "not_phenotypes": o.build.NotPhenotypes} {
		if columns != nil {
			stage.Options[name] = fmt.Sprintf("%q", columns)
		}
	}
	if variant != string(store.Incidence) {
		stage.Options["shards"] = strconv.Itoa(o.build.Shards)
	}
	if input.Name != "" {
		stage.After = []string{input.Name}
	}
	if o.build.Graph != "" {
		files, err := ingest.GraphFiles(o.build.Graph)
		if err != nil {
			return stage, err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			stage.Sources = append(stage.Sources, rebuild.Source{Name: graphSource + name, Path: files[name]})
		}
	}
	if o.build.Perturbations == "" {
		return stage, nil
	}
	set, err := perturbationset.Parse(o.build.Perturbations)
	if err != nil {
		return stage, err
	}
	o.build.Perturbations = set.Name // so that no stage reads the settings file again
	if set.Recipe != "" {
		stage.Options["perturbations"] = set.Recipe
	}
	for _, path := range set.Files {
		stage.Sources = append(stage.Sources, rebuild.Source{Name: filepath.Base(path), Path: path})
	}
	outside = set.Files
	return stage, nil
}

// graphSource is the prefix of graph tables among the sources. Names of perturbation sets have no
// slash.
const graphSource = "graph/"

// outsideInputs are the files that a dataset was built from, but for those that the version has
// itself, by the names of the stage's sources. perturbations are the paths of those of the set.
func (o *rebuildOptions) outsideInputs(m *store.Manifest, perturbations []string) (read []ingest.Input) {
	if o.build.Graph != "" {
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

// datasetOptions are those of one dataset in the folder of a version.
func (o *rebuildOptions) datasetOptions(variant, version string) tcbuild.Options {
	options := o.build
	options.Variant, options.Out = store.Variant(variant), filepath.Join(version, variant)
	options.Shard, options.Resume = nil, store.ResumeIfPossible
	if options.Graph == "" {
		options.Graph = filepath.Join(version, inputOutput, "graph")
	}
	if options.Perturbations == "" {
		options.Perturbations = filepath.Join(version, inputOutput, "perturbations.arrow")
	}
	return options
}

// verifyStage verifies one dataset, checks that its content is that of the first, and writes the
// report.
func (o *rebuildOptions) verifyStage(e *env, variant string) rebuild.Stage {
	first := o.variants[0]
	stage := rebuild.Stage{
		Name: verifyPrefix + variant, Output: reportName(variant),
		Options: map[string]string{"method": o.method, "device": o.device},
		After:   []string{variant},
	}
	if variant != first {
		stage.After = append(stage.After, first)
	}
	stage.Run = func(ctx context.Context, version string) ([]ingest.Input, error) {
		path := filepath.Join(version, variant)
		report, err := verifyDataset(ctx, e, path, verifyOptions{method: o.method, device: o.device, workers: o.build.Workers})
		if err != nil {
			return nil, err
		}
		if !report.Passed() {
			return nil, printReport(e, "", report)
		}
		if err := sameContent(report, filepath.Join(version, first)); err != nil {
			return nil, err
		}
		text, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return nil, err
		}
		return nil, disk.WriteWhole(filepath.Join(version, stage.Output), append(text, '\n'))
	}
	return stage
}

// verifyPrefix is the prefix of the names of verify stages.
const verifyPrefix = "verify-"

// reportName is the name of a variant's verification report in a version.
func reportName(variant string) string { return verifyPrefix + variant + ".json" }

func sameContent(report *gpuverify.Report, first string) error {
	manifest, err := store.ReadManifest(first)
	if err == nil && report.LogicalContent != manifest.LogicalContent {
		err = fault.New(fault.Damaged, "add --force",
			"compare variants: the logical content of %s differs from that of %s", report.Dataset, first)
	}
	return err
}
