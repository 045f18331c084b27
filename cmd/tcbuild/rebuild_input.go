package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/build"
	"tcbuild/internal/rebuild"
)

// input is how the chain makes the input that is not given.
func (o *rebuildOptions) input(e *env) (rebuild.Input, error) {
	switch public, graph := o.ingest.Config != "", o.build.Graph != ""; {
	case public && graph:
		return rebuild.Input{}, fault.New(fault.Usage, "omit one of them",
			"rebuild: found both --graph and a section ingest")
	case (public || graph) && o.build.File == "":
		return rebuild.Input{}, fault.New(fault.Usage, "add perturbations=FILE",
			"rebuild: a graph is given without --perturbations")
	case public:
		return o.ingest.input(e)
	case graph:
		return rebuild.Input{}, nil
	case o.build.File != "":
		return rebuild.Input{}, fault.New(fault.Usage, "add graph=DIR",
			"rebuild: --perturbations is given without --graph")
	case !o.given.Changed("scale"):
		return rebuild.Input{}, fault.New(fault.Usage,
			"add graph=DIR perturbations=FILE; scale=tiny makes a synthetic input",
			"rebuild: found no input, expected --graph and --perturbations")
	}
	if err := o.synth.check(); err != nil {
		return rebuild.Input{}, err
	}
	return rebuild.Input{
		Stage: "synth",
		Options: map[string]string{"scale": o.synth.scale, "samples": strconv.Itoa(o.synth.samples),
			"seed": fmt.Sprint(o.synth.seed)},
		Make: func(ctx context.Context, out string) ([]ingest.Input, error) {
			options := o.synth
			options.out = out
			return nil, runSynth(ctx, e, options)
		},
	}, nil
}

// ingestSection is the top-level key of the settings for public sources.
const ingestSection = "ingest"

// ingestSettings is that section: the settings file of 'tcbuild ingest graph', and changes to its
// settings.
type ingestSettings struct {
	Config    string
	overrides []string
	place     string         // of the section
	settings  *conf.Settings // once they are loaded
}

func (s *ingestSettings) read(settings *conf.Settings) error {
	var section struct{ Ingest map[string]string }
	if err := settings.Decode(&section); err != nil || section.Ingest == nil {
		return err
	}
	entry, _ := settings.Entry(ingestSection)
	s.place = conf.Where(entry.Value)
	if s.Config = section.Ingest["config"]; s.Config == "" {
		return fault.New(fault.Usage, "add config: yeast, or your own settings file",
			"read settings %s: the section ingest has no config", s.place)
	}
	for _, key := range slices.Sorted(maps.Keys(section.Ingest)) {
		if key != "config" {
			s.overrides = append(s.overrides, key+"="+section.Ingest[key])
		}
	}
	return nil
}

// input builds the graph from public sources. An override must be for ingest graph, or for a value
// of the file's own.
func (s *ingestSettings) input(e *env) (rebuild.Input, error) {
	settings, err := conf.Load(s.Config, s.overrides)
	if err != nil {
		return rebuild.Input{}, err
	}
	s.settings = settings
	known, unknown := conf.Keys(&build.Spec{}), ""
	for _, entry := range settings.Entries() {
		switch {
		case entry.Referenced:
			known = append(known, entry.Key)
		case entry.IsOverride() && !slices.Contains(known, entry.Key):
			unknown = cmp.Or(unknown, entry.Key)
		}
	}
	if unknown != "" {
		return rebuild.Input{}, fault.New(fault.Usage, fault.DidYouMean(unknown, known,
			"the keys here are config, "+strings.Join(known, ", ")),
			"read settings %s: ingest: unknown setting %q", s.place, unknown)
	}
	var spec build.Spec
	if err := settings.Decode(&spec); err != nil {
		return rebuild.Input{}, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return rebuild.Input{}, err
	}
	return rebuild.Input{
		Stage: "ingest", Options: map[string]string{"graph": string(text)}, Files: spec.Files(),
		Make: func(ctx context.Context, out string) ([]ingest.Input, error) {
			return runIngestGraph(ctx, e, filepath.Join(out, "graph"), spec)
		},
	}, nil
}
