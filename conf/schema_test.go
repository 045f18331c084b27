package conf_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"tcbuild/conf"
	"tcbuild/ingest/graph/build"
)

// The presets and the examples fit the schema, and what the program refuses does not.
func TestSettingsSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("tcbuild.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text []byte) error {
		var settings any
		if err := yaml.Unmarshal(text, &settings); err != nil {
			t.Fatal(err)
		}
		return schema.Validate(settings)
	}
	for _, preset := range conf.Presets() {
		if err := valid(read(t, preset+".yaml")); err != nil {
			t.Errorf("preset %s: %v", preset, err)
		}
	}
	var examples struct{ Flags, Graph yaml.Node }
	if err := yaml.Unmarshal(read(t, "../cmd/tcbuild/testdata/settings.yaml"), &examples); err != nil {
		t.Fatal(err)
	}
	for _, section := range []*yaml.Node{&examples.Flags, &examples.Graph} {
		text, err := yaml.Marshal(section)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(text); err != nil {
			t.Error(err)
		}
		path := filepath.Join(t.TempDir(), "a.yaml")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		settings, err := conf.Load(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := settings.Decode(&build.Spec{}); err != nil && section == &examples.Graph {
			t.Errorf("settings.yaml: %v", err)
		}
	}
	for _, text := range []string{"samples: ${many}", "root: 5", "keep: 3", "keep: true", "phenotypes: fitness", "edges: [{source: string, weight: a}]", "edges: [{weight: [a, b]}]", "any: for ${any}"} {
		if err := valid([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"edges: [{self_loops: kept}]", "seed: x1", "gem: {reaction_nodes: half}", "gem: {fil: x}", "edges: [{strng: {}}]", "edges: [{undirected: maybe}]", "genes: a.tsv", "[a]"} {
		if valid([]byte(text)) == nil {
			t.Errorf("%s: accepted, expected an error", text)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
