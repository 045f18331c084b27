package build

import (
	"cmp"
	"fmt"
	"testing"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

const wholeSpec = `
genes: {file: genes.tsv, column: id}
aliases: [{source: sgd_features, file: SGD_features.tab}]
edges:
  - {source: string, file: links.txt, relation: "s_{column}", weight: [experiments, database], min: 150, self_loops: append}
  - {file: e.txt, relation: e, columns: [a, b], delimiter: space, from: a, to: 1, undirected: true, ids: ids.txt, index_base: 1}
  - {file: w.tsv, relation: w, from: tf, to: target, weight: weight, undirected: false, min: 0.5}
gem: {file: model.yml}
self_loops: none
unknown_genes: drop-gene
`

func decodeSpec(t *testing.T, text string) (spec Spec, err error) {
	t.Helper()
	settings, err := conf.Load(inputs.Write(t, "settings.yaml", text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return spec, settings.Decode(&spec)
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
	if got.Edges[0].SelfLoops != networks.LoopsAppend ||
		got.Edges[1].SelfLoops != networks.LoopsNone {
		t.Errorf("self loops are %q and %q, expected append and none", got.Edges[0].SelfLoops,
			got.Edges[1].SelfLoops)
	}
	if *got.Edges[0].Min != 150 || *got.Edges[2].Min != 0.5 {
		t.Errorf("decoded %+v", got)
	}
	if got.Edges[1].To[0] != "1" || got.Edges[0].To[0] != "protein2" {
		t.Errorf("decoded %+v", got)
	}
}

func TestSpecRefusesUnknownKeys(t *testing.T) {
	_, err := decodeSpec(t, "edges:\n  - file: x\n    relaton: x\n")
	check.Fault(t, err, fault.Usage, "settings.yaml:3", `"edges.0.relaton"`)
	if hint := fault.HintOf(err); hint == "" {
		t.Error("no hint names the nearest key")
	}
}

func TestSpecRefuses(t *testing.T) {
	genes := "genes: {file: f, column: c}\n"
	for _, test := range []struct{ text, want string }{
		{"{}", "genes.file: missing"},
		{"genes: {source: sgd_features}", "genes.file: missing"},
		{"genes: {file: f}", "genes.column: missing"},
		{"genes: {file: f, column: c, filters: [{keep: c == 1}]}",
			"genes.filters.0.dropped: missing"},
		{genes + "aliases: [{file: f, id: a, names: [b], kinds: [x]}]",
			"aliases.0: kinds: found 1, expected one for id and each of names"},
		{genes + "self_loops: drop", `self_loops: found "drop", expected keep, none or append`},
		{genes + "unknown_genes: drop-sample",
			`unknown_genes: found "drop-sample", expected error or drop-gene`},
		{genes + "edges: [{}]", "edges.0.file: missing"},
		{genes + "edges: [{source: string, self_loops: all, file: f}]",
			`edges.0.self_loops: found "all"`},
		{genes + "edges: [{source: string}]", "edges.0.file: missing"},
		{genes + "edges: [{source: string, file: f, relation: r, weight: [a, b]}]",
			`edges.0.relation: "r" is also the name of edges of `},
		{genes + "edges: [{source: yeastract_matrix, file: f, from: a}]",
			"edges.0.from: it does not apply to a matrix"},
		{genes + "edges: [{source: string, file: f, ignore: [a]}]",
			"edges.0.ignore: it does not apply to a table"},
		{genes + "edges: [{file: f, relation: r, from: a}]",
			"settings.yaml:2: edges.0.to: missing"},
		{genes + "edges: [{file: f, relation: r, from: a, to: b}]", "edges.0: undirected: missing"},
		{genes +
			"edges: [{file: f, relation: r, from: a, to: b, undirected: true, keep: {x: float}}]",
			`edges.0.keep.x: found "float", expected number, integer or text`},
		{genes +
			"edges: [{file: f, relation: r, from: a, to: b, undirected: true, ids: i, split: ','}]",
			"found ids beside strip_prefix, name, upper_case or split"},
		{genes +
			"edges: [{file: f, relation: r, from: a, to: b, undirected: true, weight: w, min: 2, " +
			"max: 1}]",
			"edges.0: found min 2 above max 1"},
		{genes + "edges: [{matrix: targets, file: f, relation: r, min: 2, max: 1}]",
			"edges.0: found min 2 above max 1"},
		{genes + "edges: [{file: f, relation: a__b, from: a, to: b, undirected: false}]",
			`found relation "a__b", expected a name for an edge type`},
		{genes + "edges: [{file: f, relation: ../r, from: a, to: b, undirected: false}]",
			`found relation "../r", expected a name for an edge type`},
		{genes + "edges: [{file: f, relation: gpr, from: a, to: b, undirected: false}]",
			"metabolic part"},
		{genes +
			"edges: [{file: f, relation: r, from: a, to: b, undirected: false, nonzero: true}]",
			"edges.0: weight: missing"},
		{genes +
			"edges: [{file: f, relation: r, from: a, to: b, undirected: false, weight: w, " +
			"nonzero: true, max: 1}]",
			"found both nonzero and min or max"},
		{genes + "edges: [{file: f, relation: r, from: a, to: b, undirected: false, min: 1}]",
			"edges.0: weight: missing"},
		{genes +
			"edges: [{file: f, relation: r, from: a, to: b, undirected: false, index_base: 2}]",
			"index_base: found 2, expected 0 or 1"},
		{genes +
			"edges: [{file: f, relation: r, from: a, to: b, undirected: false, index_base: 1}]",
			"edges.0: ids: missing"},
		{genes + "nodes: [{type: complex, file: f}]", "nodes.0.column: missing"},
		{genes + "nodes: [{type: genes, file: f, column: c}]",
			`nodes.0.type: is "genes", expected gene`},
		{genes + "nodes: [{type: reaction, file: f, column: c}]",
			"nodes.0.type: found reaction, which has other nodes"},
		{genes + "nodes: [{type: a, file: f, column: c}, {type: a, file: g, column: c}]",
			"nodes.1.type: found a, which has other nodes"},
		{genes + "edges: [{file: f, relation: r, from: a, to: b, to_type: reaction}]",
			"edges.0: found edges of type reaction, whose nodes only a model makes"},
		{genes + "edges: [{file: f, relation: r, from: a, to: b, to_type: a b}]",
			`edges.0: node type is "a b"`},
		{genes + "edges: [{file: f, relation: r, from: a, to: b, to_type: x, undirected: true}]",
			"edges.0: found undirected: true for edges between two node types"},
		{genes + "edges: [{file: f, relation: r, from: a, from_type: x, to: b, to_type: x}]",
			"edges.0: undirected: missing"},
		{genes + "edges: [{file: f, relation: r, from: a, to: b, to_type: x, self_loops: none}]",
			"edges.0: found self_loops for edges that are not of genes"},
		{genes + "edges: [{matrix: targets, file: f, relation: r, to_type: x}]",
			"edges.0: found matrix or ids for edges that are not of genes"},
		{genes +
			"gem: {file: f}\nedges: [{file: f, relation: reaction, from: a, from_type: " +
			"metabolite, to: b, to_type: metabolite, undirected: false}]",
			"metabolic part"},
		{genes +
			"gem: {file: f}\nedges: [{file: f, relation: GPR, from: a, to: b, to_type: reaction}]",
			"metabolic part"},
	} {
		spec, err := decodeSpec(t, test.text)
		if err == nil {
			_, _, err = Graph(inputs.Opened(t), spec)
		}
		check.Fault(t, err, fault.Usage, "read settings: ", test.want)
	}
}

// TestPublicSources: an entry that names a source and a file is enough.
func TestPublicSources(t *testing.T) {
	for _, source := range conf.Sources() {
		for _, section := range source.Sections {
			entry := map[string]string{
				"genes":       "{%s}",
				"aliases":     "[{%s}]",
				"edges":       "[{%s}]",
				"annotations": "{file: f, annotations: [{%s}]}",
			}[section]
			key := map[string]string{"annotations": "gene_ontology"}[section]
			if entry == "" { // of samples
				continue
			}
			entry = fmt.Sprintf(entry,
				"source: "+source.Name+", file: f, "+map[string]string{
					"string_dango": "ids: f, relation: r",
				}[source.Name])
			spec, err := decodeSpec(t, cmp.Or(key, section)+": "+entry)
			if section != "genes" {
				spec.Genes = GenesSpec{TextSpec: table.TextSpec{File: "f"}, Column: "id"}
			}
			if _, wrong := spec.prepared(); err != nil || wrong != nil {
				t.Errorf("source %s in %s: %v, %v", source.Name, section, err, wrong)
			}
		}
	}
}

func TestDelimiter(t *testing.T) {
	for name, want := range map[string]byte{
		"": 0, "tab": '\t', "comma": ',', "space": ' ', ";": ';', "\t": '\t',
	} {
		got, err := (table.TextSpec{Delimiter: name}).Options()
		if got.Delimiter != want || err != nil {
			t.Errorf("delimiter %q: got %q, %v; want %q", name, got.Delimiter, err, want)
		}
	}
	for _, name := range []string{";;", "semicolon", "→"} {
		_, err := (table.TextSpec{Delimiter: name}).Options()
		check.Fault(t, err, fault.Usage, name)
	}
}
