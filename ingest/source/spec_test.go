package source

import (
	"testing"

	"go.yaml.in/yaml/v4"

	"tcbuild/conf"
	"tcbuild/fault"
)

const wholeSpec = `
genes: {table: {file: genes.tsv, column: id}}
aliases: {sgd_features: SGD_features.tab}
edges:
  - string: {file: links.txt, relation: "s_{column}", columns: [experiments, database], min: 150}
    self_loops: append
  - table: {file: e.txt, relation: e, columns: [a, b], delimiter: space, source: a, target: 1, undirected: true, ids: ids.txt, index_base: 1}
  - table: {file: w.tsv, relation: w, source: tf, target: target, weight: weight, undirected: false, min: 0.5}
gem: {file: model.yml}
self_loops: none
unknown_genes: drop-gene
`

func decodeSpec(t *testing.T, text string) (GraphSpec, error) {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	var spec GraphSpec
	err := conf.Decode(&document, &spec)
	return spec, err
}

func TestSpecDecodes(t *testing.T) {
	spec, err := decodeSpec(t, wholeSpec)
	if err != nil {
		t.Fatal(err)
	}
	got, err := spec.prepared()
	if err != nil {
		t.Fatal(err)
	}
	if spec.Edges[1].SelfLoops != "" {
		t.Error("prepared changed the caller's spec")
	}
	if got.Edges[0].SelfLoops != LoopsAppend || got.Edges[1].SelfLoops != LoopsNone {
		t.Errorf("self loops are %q and %q, expected append and none", got.Edges[0].SelfLoops, got.Edges[1].SelfLoops)
	}
	if *got.Edges[0].STRING.Min != 150 || *got.Edges[2].Table.Min != 0.5 || got.Edges[1].Table.Target != "1" {
		t.Errorf("decoded %+v", got)
	}
}

func TestSpecRefusesUnknownKeys(t *testing.T) {
	_, err := decodeSpec(t, "edges:\n  - table:\n      relaton: x\n")
	checkFault(t, err, fault.Usage, "line 3", `"edges.0.table.relaton"`)
	if hint := fault.HintOf(err); hint == "" {
		t.Error("no hint names the nearest key")
	}
}

func TestSpecRefuses(t *testing.T) {
	genes := "genes: {sgd_features: f}\n"
	for _, test := range []struct{ text, want string }{
		{"{}", "genes: expected one of sgd_features and table"},
		{"genes: {sgd_features: f, table: {file: f, column: id}}", "genes: expected one of"},
		{"genes: {table: {file: f}}", "genes.table.column: missing"},
		{genes + "self_loops: drop", `self_loops: found "drop", expected keep, none or append`},
		{genes + "unknown_genes: skip", `unknown_genes: found "skip", expected error, drop-sample, drop-gene`},
		{genes + "edges: [{}]", "edges.0: expected one of string, table, biogrid and tf_matrix"},
		{genes + "edges: [{string: {}, table: {}}]", "edges.0: expected one of string, table, biogrid and tf_matrix"},
		{genes + "edges: [{self_loops: all, string: {}}]", `edges.0.self_loops: found "all"`},
		{genes + "edges: [{string: {file: f, relation: r}}]", "edges.0.string.columns: found none"},
		{genes + "edges: [{string: {relation: r, columns: [a]}}]", "edges.0.string.file: missing"},
		{genes + "edges: [{string: {file: f, relation: r, columns: [a, b], min: 0}}]", `edges.0.string.relation: "r" is also the name of edges of line 2: edges.0.string`},
		{genes + "edges: [{table: {file: f, relation: r, source: a}}]", ": line 2: edges.0.table.target: missing"},
		{genes + "edges: [{table: {file: f, relation: r, source: a, target: b}}]", "edges.0.table.undirected: missing"},
		{genes + "edges: [{table: {file: f, relation: r, source: a, target: b, undirected: true, keep: {x: float}}}]", `edges.0.table.keep.x: found "float", expected number, integer or text`},
		{genes + "edges: [{table: {file: f, relation: r, source: a, target: b, undirected: true, ids: i, split: ','}}]", "found ids beside strip_prefix, name, upper_case or split"},
		{genes + "edges: [{table: {file: f, relation: r, source: a, target: b, undirected: true, weight: w, min: 2, max: 1}}]", "edges.0.table: found min 2 above max 1"},
		{genes + "edges: [{tf_matrix: {file: f, relation: r, min: 2, max: 1}}]", "edges.0.tf_matrix: found min 2 above max 1"},
		{genes + "edges: [{string: {file: f, relation: r, columns: [a]}}]", "edges.0.string.min: missing"},
		{genes + "edges: [{table: {file: f, relation: a__b, source: a, target: b, undirected: false}}]", `found "a__b", expected a name for an edge type`},
		{genes + "edges: [{table: {file: f, relation: ../r, source: a, target: b, undirected: false}}]", `found "../r", expected a name for an edge type`},
		{genes + "edges: [{table: {file: f, relation: gpr, source: a, target: b, undirected: false}}]", "metabolic part"},
		{genes + "edges: [{table: {file: f, relation: r, source: a, target: b, undirected: false, nonzero: true}}]", "edges.0.table.weight: missing"},
		{genes + "edges: [{table: {file: f, relation: r, source: a, target: b, undirected: false, weight: w, nonzero: true, max: 1}}]", "found both nonzero and min or max"},
		{genes + "edges: [{table: {file: f, relation: r, source: a, target: b, undirected: false, min: 1}}]", "edges.0.table.weight: missing"},
		{genes + "edges: [{table: {file: f, relation: r, source: a, target: b, undirected: false, index_base: 2}}]", "index_base: found 2, expected 0 or 1"},
		{genes + "edges: [{table: {file: f, relation: r, source: a, target: b, undirected: false, index_base: 1}}]", "edges.0.table.ids: missing"},
	} {
		spec, err := decodeSpec(t, test.text)
		if err == nil {
			_, _, err = BuildGraph(opened(t), spec)
		}
		checkFault(t, err, fault.Usage, "check graph settings: ", test.want)
	}
}

func TestParseDelimiter(t *testing.T) {
	for name, want := range map[string]byte{"": 0, "tab": '\t', "comma": ',', "space": ' ', ";": ';', "\t": '\t'} {
		if got, err := ParseDelimiter(name); got != want || err != nil {
			t.Errorf("ParseDelimiter(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{";;", "semicolon", "→"} {
		_, err := ParseDelimiter(name)
		checkFault(t, err, fault.Usage, name)
	}
}
