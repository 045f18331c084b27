package main

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/source"
	"tcbuild/internal/rebuild"
)

// ingestSection is the top-level key of the settings for public sources.
const ingestSection = "ingest"

// ingestSettings is that section: the settings file of 'tcbuild ingest graph', and changes to its
// settings.
type ingestSettings struct {
	Config    string
	overrides []string
}

func (s *ingestSettings) read(settings *conf.Settings) error {
	var section struct{ Ingest map[string]string }
	if err := settings.Decode(&section); err != nil || section.Ingest == nil {
		return err
	}
	if s.Config = section.Ingest["config"]; s.Config == "" {
		return fault.New(fault.Usage, "add config: yeast, or your own settings file", "read settings: the section ingest has no config")
	}
	for _, key := range slices.Sorted(maps.Keys(section.Ingest)) {
		if key != "config" {
			s.overrides = append(s.overrides, key+"="+section.Ingest[key])
		}
	}
	return nil
}

// load reads the settings. An override must be for ingest graph, or for a value of the file's own.
func (s *ingestSettings) load() (*conf.Settings, error) {
	settings, err := conf.Load(s.Config, s.overrides)
	if err != nil {
		return nil, err
	}
	for _, entry := range settings.Entries() {
		if known := conf.Keys(&source.GraphSpec{}); entry.IsOverride() && !entry.Referenced && !slices.Contains(known, entry.Key) {
			return nil, unknownSetting(entry, settings, known)
		}
	}
	return settings, nil
}

// input builds the graph from public sources.
func (s *ingestSettings) input(e *env) (rebuild.Input, error) {
	settings, err := s.load()
	if err != nil {
		return rebuild.Input{}, err
	}
	var spec source.GraphSpec
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
