package conf

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tcbuild/fault"
)

type file struct {
	Path      string
	Delimiter string `yaml:"delimiter"`
}

type spec struct {
	file   `yaml:"-"`
	Table  Table             `yaml:"table,omitempty"`
	Edges  []Table           `yaml:"edges"`
	Labels map[string]int    `yaml:"labels"`
	Limit  *float64          `yaml:"limit"`
	Count  int               `yaml:"count"`
	Size   uint8             `yaml:"size"`
	On     bool              `yaml:"on"`
	Names  []string          `yaml:"names"`
	One    []string          `yaml:"one"`
	Any    map[string]string `yaml:"any"`
	//lint:ignore U1000 the decoder must pass over it
	hidden int
}

type Table struct {
	Source    `yaml:",inline"`
	Threshold float64 `yaml:"threshold"`
}

type Source struct {
	File string
}

func TestDecode(t *testing.T) {
	const text = `
table: {file: a.tsv, threshold: 0.5}
edges:
- file: b.tsv
- {file: 007, threshold: 1}
labels: {x: 1, y: 2}
limit: 3
size: 255
on: true
names: [a, 1, true]
one: 7
count:
`
	got := spec{Count: 9}
	if err := decodeText(text, &got); err != nil {
		t.Fatal(err)
	}
	limit := 3.0
	want := spec{
		Table:  Table{Source{"a.tsv"}, 0.5},
		Edges:  []Table{{Source: Source{"b.tsv"}}, {Source{"007"}, 1}},
		Labels: map[string]int{"x": 1, "y": 2},
		Limit:  &limit, Size: 255, On: true,
		Names: []string{"a", "1", "true"}, One: []string{"7"},
		Count: 9, // null leaves the default
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A number is decimal, whatever YAML's readers make of it: PyYAML and Go's library read 010 as
// eight, others as ten.
func TestDecodeDecimal(t *testing.T) {
	for _, c := range []struct {
		text  string
		count int
		limit float64
	}{
		{"{count: 010, limit: 010}", 10, 10},
		{"{count: 007, limit: 00.5}", 7, 0.5},
		{"{count: -010, limit: -010}", -10, -10},
		{"{count: +8, limit: 1e3}", 8, 1000},
		{"{count: 0, limit: .5}", 0, 0.5},
		{"{count: 9, limit: 9.}", 9, 9},
		{"{count: 089, limit: 089}", 89, 89},
	} {
		var got spec
		if err := decodeText(c.text, &got); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got.Count != c.count || *got.Limit != c.limit {
			t.Errorf("%s: got %d and %v", c.text, got.Count, *got.Limit)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ text, want, hint string }{
		{"cuont: 1", `read settings a.yaml:1: unknown key "cuont"`, "did you mean count?"},
		{"hidden: 1", `read settings a.yaml:1: unknown key "hidden"`, "the keys here are table, edges"},
		{"file: 1", `read settings a.yaml:1: unknown key "file"`, ""},
		{"edges:\n- file: a\n- fiel: b", `read settings a.yaml:3: unknown key "edges.1.fiel"`, "did you mean file?"},
		{"count: 1\ncount: 2", `read settings a.yaml:2: key "count" is given twice`, "remove one"},
		{"table: a", `read settings a.yaml:1: table: found "a", expected a section of keys and values`, ""},
		{"edges: {file: a}", "read settings a.yaml:1: edges: found a section of keys and values, expected a list", ""},
		{"edges: a", `read settings a.yaml:1: edges: found "a", expected a list`, ""},
		{"labels: [1]", "read settings a.yaml:1: labels: found a list, expected a section", ""},
		{"labels: {x: a}", `read settings a.yaml:1: labels.x: found "a", expected a whole decimal number`, ""},
		{"\ncount: abc", `read settings a.yaml:2: count: found "abc", expected a whole decimal number (64 bits)`, ""},
		{"count: 1.5", `read settings a.yaml:1: count: found "1.5", expected a whole decimal number`, ""},
		{"count: [1]", "read settings a.yaml:1: count: found a list, expected a whole decimal number", ""},
		{"size: 256", `read settings a.yaml:1: size: found "256", expected a whole decimal number, 0 or more (8 bits)`, ""},
		{"size: -1", `read settings a.yaml:1: size: found "-1", expected a whole decimal number, 0 or more`, ""},
		{"count: 0x10", `read settings a.yaml:1: count: found "0x10", expected a whole decimal number`, ""},
		{"count: 0o10", `read settings a.yaml:1: count: found "0o10", expected a whole decimal number`, ""},
		{"count: 0b10", `read settings a.yaml:1: count: found "0b10", expected a whole decimal number`, ""},
		{"count: 1_000", `read settings a.yaml:1: count: found "1_000", expected a whole decimal number`, ""},
		{"count: 1e3", `read settings a.yaml:1: count: found "1e3", expected a whole decimal number`, ""},
		{"count: '1'", `read settings a.yaml:1: count: found "1", expected a whole decimal number`, ""},
		{"size: 1_0", `read settings a.yaml:1: size: found "1_0", expected a whole decimal number`, ""},
		{"limit: 0x10", `read settings a.yaml:1: limit: found "0x10", expected a finite decimal number`, ""},
		{"limit: 1_0.5", `read settings a.yaml:1: limit: found "1_0.5", expected a finite decimal number`, ""},
		{"limit: 1e400", `read settings a.yaml:1: limit: found "1e400", expected a finite decimal number`, ""},
		{"limit: 1e-400", `read settings a.yaml:1: limit: found "1e-400", ` +
			`expected a finite decimal number, 0 or at least 5e-324`, ""},
		{"names: [a, null]", `read settings a.yaml:1: names.1: found "null", expected a value`, ""},
		{"labels: {x: ~}", `read settings a.yaml:1: labels.x: found "~", expected a value`, ""},
		{"limit: x", `read settings a.yaml:1: limit: found "x", expected a finite decimal number`, ""},
		{"limit: .nan", `read settings a.yaml:1: limit: found ".nan", expected a finite decimal number`, ""},
		{"limit: -.inf", `read settings a.yaml:1: limit: found "-.inf", expected a finite decimal number`, ""},
		{"a: 1\nb: 1\nc: 1\nd: 1\ne: 1", `read settings a.yaml:1: unknown key "a", and also b, c, d, e`, ""},
		{"a: 1\ncount: 1\nb: 1", `read settings a.yaml:1: unknown key "a", and also b`, ""},
		{"on: 3", `read settings a.yaml:1: on: found "3", expected true or false`, ""},
		{"names: [[a]]", "read settings a.yaml:1: names.0: found a list, expected text", ""},
	} {
		err := decodeText(c.text, &spec{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q:\ngot  %v\nwant %s", c.text, err, c.want)
			continue
		}
		if fault.KindOf(err) != fault.Usage || !strings.Contains(fault.HintOf(err), c.hint) {
			t.Errorf("%q: got kind %d, hint %q", c.text, fault.KindOf(err), fault.HintOf(err))
		}
	}
}

func TestSettingsDecode(t *testing.T) {
	dir := folder(t, "a.yaml", "root: r\nnames: ['${root}']\nother: {x: 1}\nedges:\n- fiel: a\n")
	settings, err := Load(filepath.Join(dir, "a.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Names []string
		Count int
	}
	got.Count = 7
	if err := settings.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Count != 7 || !reflect.DeepEqual(got.Names, []string{"r"}) {
		t.Errorf("got %+v", got)
	}
	err = settings.Decode(&spec{})
	if err == nil || !strings.HasSuffix(err.Error(), `/a.yaml:5: unknown key "edges.0.fiel"`) {
		t.Errorf("got %v", err)
	}
}

func TestKeys(t *testing.T) {
	if got, want := strings.Join(Keys(&Table{}), " "), "file threshold"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// decodeText decodes the text of a settings file.
func decodeText(text string, value any) error {
	node, err := parse([]byte(text), "a.yaml")
	if err != nil {
		return err
	}
	return decode(node, reflect.ValueOf(value).Elem(), "")
}
