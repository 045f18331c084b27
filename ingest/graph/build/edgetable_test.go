package build

import (
	"fmt"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

const actions = `id_a	id_b	mode	action	directed	score	p
4932.A	4932.B	binding		f	900	0
4932.B	4932.A	binding		f	900	1e-9
4932.A	4932.C	post transl	inhibition	t	450	0.05
4932.C	4932.A	post transl	NA	t	700	0.051
4932.B	4932.C	reaction	x	t	150	NA
4932.C	4932.X	reaction		f		0.5
`

func TestEdgeTableSettings(t *testing.T) {
	const prefixed = "from: id_a, to: id_b, strip_prefix: 4932., "
	for _, test := range []struct {
		name, settings, text string
		want                 []string // type, edges and columns
	}{
		{
			name:     "a group per value",
			settings: prefixed + "undirected: true, relation: 's_{mode}', keep: {score: integer}",
			text:     actions,
			want: []string{
				"s_binding: A-B; score int64 [900]",
				"s_post_transl: A-C; score int64 [450]",
				"s_reaction: B-C; score int64 [150]",
			},
		},
		{
			name: "kept columns",
			settings: prefixed +
				"undirected: false, relation: s, keep: {action: text, p: number, score: integer}",
			text: actions,
			want: []string{
				`s: A-B B-A A-C C-A B-C; action utf8 [(null) (null) "inhibition" (null) "x"]; ` +
					`score int64 [900 900 450 700 150]; ` +
					"p float64 [0 1e-09 0.05 0.051 (null)]",
			},
		},
		{
			name: "kept columns and loops",
			settings: prefixed +
				"undirected: true, relation: s, weight: p, max: 0.01, keep: {score: integer}",
			text: actions,
			want: []string{
				"s: A-B:0 A-A:NaN B-B:NaN C-C:NaN; score int64 [900 (null) (null) (null)]",
			},
		},
		{
			name: "where numbers and texts",
			settings: prefixed +
				`undirected: false, relation: s, where: 'score >= 450 and directed == "t"'`,
			text: actions,
			want: []string{"s: A-C C-A"},
		},
		{
			name:     "where a number is missing",
			settings: prefixed + "undirected: false, relation: s, where: p <= 0.05",
			text:     actions,
			want:     []string{"s: A-B B-A A-C"},
		},
		{
			name: "where a text is missing",
			settings: prefixed +
				"undirected: false, relation: s, where: missing(action) and score > 0",
			text: actions,
			want: []string{"s: A-B B-A C-A"},
		},
		{
			name: "where and a group",
			settings: prefixed +
				`undirected: false, relation: "{mode}", where: mode contains "bind" or score > 800`,
			text: actions,
			want: []string{"binding: A-B B-A"},
		},
		{
			name: "where with column names and calculations",
			settings: "from: a b, to: c, undirected: false, relation: s, where: 'column(\"a b\") " +
				"!= c and 2 * w > abs(v)'",
			text: "a b\tc\tw\tv\nA\tB\t1\t-1\nB\tB\t1\t0\nC\tA\t1\t-2\n",
			want: []string{"s: A-B"},
		},
		{
			name: "split",
			settings: "from: a, to: b, undirected: true, relation: s, split: '|', keep: {n: " +
				"integer}",
			text: "a\tb\tn\nA|B\tC| A\t1\nB\tA\t2\n",
			want: []string{
				"s: A-C A-A B-C B-A; n int64 [1 1 1 1]",
			},
		},
		{
			name: "a range of p-values",
			settings: "from: a, to: b, undirected: false, relation: s, weight: p, min: 0, max: " +
				"0.05",
			text: "a\tb\tp\nA\tB\t0\nA\tC\t0.05\nB\tC\t0.06\nC\tA\tNA\n",
			want: []string{"s: A-B:0 A-C:0.05"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec, err := decodeSpec(t,
				"genes: {file: x, column: id}\nedges: [{file: x, "+test.settings+"}]")
			if err != nil {
				t.Fatal(err)
			}
			spec.Genes, spec.UnknownGenes = genesNamed(t, "A", "B", "C"), ingest.DropGene
			spec.Edges[0].File = inputs.Write(t, "e.tsv", test.text)
			if strings.Contains(test.name, "loops") {
				spec.SelfLoops = networks.LoopsAppend
			}
			g, report, err := Graph(inputs.Opened(t), spec)
			if err != nil {
				t.Fatal(err)
			}
			check.Accounts(t, report)
			var got []string
			for _, edges := range g.Edges {
				weighted := *edges // edgeText writes the first column
				if weighted.Columns = nil; spec.Edges[0].Weight != nil {
					weighted.Columns = edges.Columns[:1]
				}
				text := edges.Type.Relation + ": " + check.EdgeText(&weighted, g.Genes, g.Genes)
				for _, c := range edges.Columns[len(weighted.Columns):] {
					text += fmt.Sprintf("; %s %s %v", c.Name, c.Values.DataType(), c.Values)
				}
				got = append(got, text)
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"),
					strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestEdgeTableSettingErrors(t *testing.T) {
	const plain = "from: a, to: b, undirected: true, relation: "
	for _, test := range []struct {
		name, settings, text string
		kind                 fault.Kind
		wants                []string
	}{
		{
			name:     "no prefix",
			settings: plain + "s, strip_prefix: 4932.",
			text:     "a\tb\n4932.A\t4932.B\n9606.A\t4932.B\n",
			kind:     fault.Input,
			wants: []string{
				"e.tsv:3", `column "a"`, `found "9606.A", expected a name after "4932."`,
			},
		},
		{
			name:     "a missing value names an edge type",
			settings: plain + "'s_{m}'",
			text:     "a\tb\tm\nA\tB\tx\nA\tC\t\n",
			kind:     fault.Input,
			wants:    []string{"e.tsv:3", `column "m"`, "found no value"},
		},
		{
			name:     "two values name an edge type",
			settings: plain + "'s_{m}'",
			text:     "a\tb\tm\nA\tB\tx y\nA\tC\tx:y\n",
			kind:     fault.Input,
			wants:    []string{"e.tsv:3", `"x:y"`, "s_x_y"},
		},
		{
			name:     "a value is no name",
			settings: plain + "'s_{m}'",
			text:     "a\tb\tm\nA\tB\t*\n",
			kind:     fault.Input,
			wants:    []string{"e.tsv:2", `"*"`, "letters"},
		},
		{
			name:     "no column in the relation",
			settings: plain + "'s_{mode}'",
			text:     "a\tb\tm\nA\tB\tx\n",
			kind:     fault.Input,
			wants:    []string{`no column "mode"`, "a, b, m"},
		},
		{
			name:     "an edge type of an earlier source",
			settings: plain + "'{m}'",
			text:     "a\tb\tm\nA\tB\tearlier\n",
			kind:     fault.Usage,
			wants:    []string{"edges.1", "gene__earlier__gene"},
		},
		{
			name:     "unknown name",
			settings: plain + "s, where: mod == 1",
			text:     "a\tb\tmode\nA\tB\tx\n",
			kind:     fault.Usage,
			wants: []string{
				"settings.yaml:2: edges.1.where: column 1", `found unknown name "mod"`,
			},
		},
		{
			name:     "a function of samples",
			settings: plain + "s, where: deletions() > 1",
			text:     "a\tb\nA\tB\n",
			kind:     fault.Usage,
			wants:    []string{"there is no function", "missing"},
		},
		{
			name:     "text where a number is needed",
			settings: plain + "s, where: w > 1",
			text:     "a\tb\tw\nA\tB\t2\nA\tC\thigh\n",
			kind:     fault.Input,
			wants:    []string{"e.tsv:3", `column "w"`, `"high"`},
		},
		{
			name:     "nothing is kept",
			settings: plain + "'s_{w}', where: w > 5",
			text:     "a\tb\tw\nA\tB\t2\n",
			kind:     fault.Input,
			wants:    []string{"e.tsv", "kept 0 of 1 row,"},
		},
		{
			name:     "nothing of one type is kept",
			settings: plain + "s, where: w > 5",
			text:     "a\tb\tw\nA\tB\t2\n",
			kind:     fault.Input,
			wants:    []string{"e.tsv", "kept 0 of 1 entry; dropped: 1 not kept by where"},
		},
		{
			name:     "kept text as a number",
			settings: plain + "s, keep: {w: integer}",
			text:     "a\tb\tw\nA\tB\t2\nA\tC\t2.5\n",
			kind:     fault.Input,
			wants:    []string{"e.tsv:3", `column "w"`, `"2.5"`},
		},
		{
			name:     "kept weight",
			settings: plain + "s, weight: w, keep: {w: number}",
			text:     "a\tb\tw\nA\tB\t2\n",
			kind:     fault.Usage,
			wants:    []string{`edges.1.keep`, `a column "w" already`},
		},
		{
			name:     "kept ends",
			settings: "from: src, to: dst, undirected: true, relation: s, keep: {src: text}",
			text:     "src\tdst\nA\tB\n",
			kind:     fault.Usage,
			wants:    []string{`a column "src" already`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec, err := decodeSpec(t,
				"genes: {file: x, column: id}\nedges: [{file: x, "+plain+"earlier}, {file: x, "+
					test.settings+"}]")
			if err != nil {
				t.Fatal(err)
			}
			spec.Genes = genesNamed(t, "A", "B", "C")
			spec.Edges[0].File = inputs.Write(t, "earlier.tsv", "a\tb\nA\tB\n")
			spec.Edges[1].File = inputs.Write(t, "e.tsv", test.text)
			_, _, err = Graph(inputs.Opened(t), spec)
			check.Fault(t, err, test.kind, test.wants...)
		})
	}
}

// TestKeptTextIsUTF8: a graph with another text could be written, and not be read.
func TestKeptTextIsUTF8(t *testing.T) {
	file := inputs.Write(t, "e.tsv", "a\tb\tnote\nYA\tYB\tcaf\xe9\n")
	_, _, err := Graph(inputs.Opened(t), Spec{
		Genes: genesNamed(t, "YA", "YB"),
		Edges: []networks.Spec{{
			TextSpec: table.TextSpec{File: file}, Relation: "r", From: []string{"a"}, To: []string{
				"b",
			}, Undirected: new(true), Keep: map[string]networks.KeptType{
				"note": networks.KeptText,
			}}},
	})
	check.Fault(t, err, fault.Input,
		`e.tsv:2: column "note": found "caf\xe9", which is not valid UTF-8`)
}
