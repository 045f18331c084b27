package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
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
	node := settings.Node(ingestSection)
	s.Config = section.Ingest["config"]
	if s.Config == "" {
		return fault.New(fault.Usage, "add config: yeast, or your own settings file",
			"read settings %s: the section ingest has no config", conf.Where(node))
	}
	base, err := conf.Load(s.Config, nil)
	if err != nil {
		return err
	}
	known := append(conf.Keys(&source.GraphSpec{}), "config")
	for _, entry := range base.Entries() {
		known = append(known, entry.Key)
	}
	for pair := range slices.Chunk(node.Content, 2) {
		key := pair[0].Value
		if !slices.Contains(known, key) {
			return fault.New(fault.Usage, fmt.Sprintf("did you mean %s?", cmp.Or(fault.Nearest(key, known), "config")),
				"read settings %s: ingest: unknown setting %q", conf.Where(pair[0]), key)
		}
		if key != "config" {
			s.overrides = append(s.overrides, key+"="+section.Ingest[key])
		}
	}
	return nil
}

func (s *ingestSettings) load() (*conf.Settings, error) { return conf.Load(s.Config, s.overrides) }

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
