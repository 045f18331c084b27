package conf

import (
	"fmt"
	"testing"

	"tcbuild/fault"
)

// Each source says what it is, where it comes from, under which licence, and what a file looks
// like.
func TestSources(t *testing.T) {
	for _, source := range Sources() {
		if source.About == "" || source.Address == "" || source.Licence == "" || source.Example == "" || len(source.Sections) == 0 {
			t.Errorf("source %s lacks about, address, licence, example or a section", source.Name)
		}
	}
}

// A struct has the values of the source that it names, and its own instead of them.
func TestDecodeSource(t *testing.T) {
	type section struct {
		Source  SourceName `yaml:"source" section:"genes"`
		Columns []string   `yaml:"columns"`
		Column  string     `yaml:"column"`
		Other   string     `yaml:"delimiter"`
		Filters []any      `yaml:"filters"`
	}
	for _, c := range []struct{ text, want string }{
		{"- {column: other}", "[{ [] other  []}]"},
		{"- {source: sgd_features, column: other, columns: [a], filters: []}", "[{sgd_features [a] other tab []}]"},
		{"- {filters: [], columns: [], delimiter: '', source: sgd_features}", "[{sgd_features [] feature_name  []}]"},
		{"- {source: sgd_feature}", `read settings a.yaml:2: found no public source "sgd_feature"; did you mean sgd_features?`},
		{"- {source: sgd_features, colum: other}", `read settings a.yaml:2: unknown key "edges.0.colum"; did you mean column?`},
	} {
		var sections struct{ Edges []section }
		err := decodeText("edges:\n"+c.text, &sections)
		got := fmt.Sprint(sections.Edges)
		if err != nil {
			got = err.Error() + "; " + fault.HintOf(err)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
	if err := DecodeSource("sgd_features", "edges", &section{}); fault.KindOf(err) != fault.Usage {
		t.Errorf("a source without such a section: %v", err)
	}
}
