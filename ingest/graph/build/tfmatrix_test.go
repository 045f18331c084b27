package build

import (
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

func TestTFMatrix(t *testing.T) {
	for name, text := range map[string]string{
		"named": "gene\tYA\tYX\tYB\nYA\t1\t2\t-0.5\nYB\t0\t0\tNA\nYY\t0\t0\t3\nYB\t4\t0\t0\n",
		"R": "\"YA\"\t\"YX\"\t\"YB\"\n\"YA\"\t1\t2\t-0.5\n\"YB\"\t0\t0\tNA\n\"YY\"\t0\t0\t3\n" +
			"\"YB\"\t4\t0\t0\n",
	} {
		edges := networks.Spec{
			TextSpec: table.TextSpec{File: inputs.Write(t, "m.tsv", text)},
			Matrix:   networks.TargetRows,
			Relation: "tf",
		}
		spec := Spec{
			Genes:        genesNamed(t, "YA", "YB"),
			UnknownGenes: ingest.DropGene,
			Edges:        []networks.Spec{edges},
		}
		g, report, err := Graph(inputs.Opened(t), spec)
		if err != nil {
			t.Fatal(err)
		}
		check.Accounts(t, report)
		got := check.EdgeText(g.Edges[0], g.Genes, g.Genes)
		if got != "YA-YA:1 YB-YA:-0.5 YA-YB:4" {
			t.Errorf("%s: edges %s", name, got)
		}
		const want = "gene__tf__gene: 3 of 12 entries of m.tsv; dropped: 2 of unknown genes, 7 " +
			"with a weight of 0 or none; unknown names: YX, YY"
		if got := report[1].String(); got != want {
			t.Errorf("%s: report\n%s\nwant\n%s", name, got, want)
		}
		spec.UnknownGenes, spec.SelfLoops = "", networks.LoopsNone
		_, _, err = Graph(inputs.Opened(t), spec)
		check.Fault(t, err, fault.Input, "m.tsv:2", `column "YX"`)
	}
}

// A matrix and a list of the same edges read the same names in the same ways.
func TestTFMatrixNames(t *testing.T) {
	matrix := networks.Spec{
		TextSpec: table.TextSpec{File: inputs.Write(t, "m.tsv",
			"gene\tSTDA\tYB\nYB\t1\t0\nOLD\t2\t3\nWHO\t0\t4\n")},
		Matrix: networks.TargetRows, Relation: "matrix",
	}
	list := networks.Spec{
		TextSpec: table.TextSpec{File: inputs.Write(t, "e.tsv",
			"tf\tgene\nSTDA\tYB\nSTDA\tOLD\nYB\tOLD\nYB\tWHO\n")},
		From: []string{"tf"}, To: []string{"gene"}, Relation: "list", Undirected: new(false),
	}
	_, report, err := Graph(inputs.Opened(t), Spec{
		Genes: genesNamed(t, "YA", "YB", "YC"),
		Aliases: sgdAliases(t,
			inputs.WriteSGD(t, "ORF YA STDA -", "ORF YB STDB -", "ORF YC STDC OLD")),
		UnknownGenes: ingest.DropGene,
		Edges:        []networks.Spec{matrix, list},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "1 of unknown genes; noted: 2 names read as standard name, " +
		"2 names read as alias; unknown names: WHO"
	for _, account := range report[2:] {
		text := strings.Replace(account.String(), ", 2 with a weight of 0 or none", "", 1)
		if !strings.HasSuffix(text, want) {
			t.Errorf("got %s, want %s", account, want)
		}
	}
}

// TestTFMatrixLayouts reads matrices with factors as rows, columns without values, and names to be
// found in others.
func TestTFMatrixLayouts(t *testing.T) {
	const wide = ";Ya;yb;YC\nYb;1;0;2\nYA;0;0;3\n"
	for _, c := range []struct {
		name, text, want string // edges, or the error
		spec             networks.Spec
	}{
		{
			name: "factors as rows",
			text: wide,
			want: "YB-YA:1 YB-YC:2 YA-YC:3",
			spec: networks.Spec{Matrix: networks.FactorRows, UpperCase: true},
		},
		{
			name: "targets as rows",
			text: wide,
			want: "YA-YB:1 YC-YB:2 YC-YA:3",
			spec: networks.Spec{Matrix: networks.TargetRows, UpperCase: true},
		},
		{
			name: "what an edge list has",
			text: wide,
			want: "edges.0.where: it does not apply to a matrix",
			spec: networks.Spec{RowsSpec: where.RowsSpec{Where: "YC > 1"}},
		},
		{
			name: "other rows",
			text: wide,
			want: `edges.0.matrix: found "genes", expected targets or factors`,
			spec: networks.Spec{Matrix: "genes"},
		},
		{
			name: "ignored by name",
			text: "orf;Gene;YA\nYB;x;1\nYC;y;0\n",
			want: "YA-YB:1",
			spec: networks.Spec{Ignore: []string{"Gene"}},
		},
		{
			name: "no such column",
			text: "orf;YA\nYB;1\n",
			want: `found no column "Gene" to ignore`,
			spec: networks.Spec{Ignore: []string{"Gene"}},
		},
		{
			name: "the column of rows",
			text: "orf;YA\nYB;1\n",
			want: `found no column "orf" to ignore`,
			spec: networks.Spec{Ignore: []string{"orf"}},
		},
		{
			name: "a number",
			text: "orf;Gene;YA\nYB;x;1\n",
			want: `found no column "1" to ignore`,
			spec: networks.Spec{Ignore: []string{"1"}},
		},
		{
			name: "conditions",
			text: "orf;YA_YPD;YA_H2O2Hi\nYB;0.5;0\nYC;0.1;0.2\n",
			want: "YA-YB:0.5 YA-YB:0 YA-YC:0.1 YA-YC:0.2",
			spec: networks.Spec{ColumnName: "^([^_]+)_", Cutoff: networks.Cutoff{Max: new(1.0)}},
		},
		{
			name: "another column",
			text: "orf;YA_YPD;Gene\nYB;0;x\nYC;0;x\n",
			want: `m.csv:1: column 3: found "Gene", expected what matches`,
			spec: networks.Spec{ColumnName: "^([^_]+)_"},
		},
		{
			name: "no group",
			text: "orf;YA\nYB;0\n",
			want: `column_name: found "_YPD$", expected a group`,
			spec: networks.Spec{ColumnName: "_YPD$"},
		},
		{
			name: "text",
			text: "orf;YA;YB\nYB;x;0\nYC;0;0\n",
			want: `m.csv:2: column "YA": found "x", expected a number`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := c.spec
			if spec.Matrix == "" {
				spec.Matrix = networks.TargetRows
			}
			spec.TextSpec = table.TextSpec{File: inputs.Write(t, "m.csv", c.text), Delimiter: ";"}
			spec.Relation = "tf"
			g, report, err := Graph(inputs.Opened(t),
				Spec{Genes: genesNamed(t, "YA", "YB", "YC"), Edges: []networks.Spec{spec}})
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				return
			}
			check.Accounts(t, report)
			if got := check.EdgeText(g.Edges[0], g.Genes, g.Genes); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestEdgeTableNames finds names in fields by a pattern, in capitals.
func TestEdgeTableNames(t *testing.T) {
	file := inputs.Write(t, "e.tsv", "a\tb\nYap\tybp|YC\nYB\tYC_dma1\n")
	spec := networks.Spec{
		TextSpec:   table.TextSpec{File: file},
		Relation:   "r",
		From:       []string{"a"},
		To:         []string{"b"},
		Undirected: new(false),
		Name:       "^([A-Za-z]+?)p?(_|$)",
	}
	read := func() (*ingest.Graph, error) {
		g, _, err := Graph(inputs.Opened(t),
			Spec{Genes: genesNamed(t, "YA", "YB", "YC"), Edges: []networks.Spec{spec}})
		return g, err
	}
	_, err := read()
	check.Fault(t, err, fault.Input, "e.tsv:2", `gene "Ya" is not in the graph`)
	spec.UpperCase = true
	_, err = read()
	check.Fault(t, err, fault.Input, `column "b": found "ybp|YC", expected what matches`)
	spec.Split = "|"
	g, err := read()
	if err != nil || check.EdgeText(g.Edges[0], g.Genes, g.Genes) != "YA-YB YA-YC YB-YC" {
		t.Errorf("got %v, %v", g, err)
	}
	spec = networks.Spec{
		TextSpec: table.TextSpec{
			File: inputs.Write(t, "p.tsv", "a\tb\n4932.YA\t4932.YB|4932.YC\n"),
		},
		Relation:    "r",
		From:        []string{"a"},
		To:          []string{"b"},
		Undirected:  new(false),
		StripPrefix: "4932.",
		Split:       "|",
	}
	if g, err := read(); err != nil ||
		check.EdgeText(g.Edges[0], g.Genes, g.Genes) != "YA-YB YA-YC" {
		t.Errorf("a prefix of each name: got %v, %v", g, err)
	}
}

// TestRealTFMatrices checks totals of the published matrices, counted independently of this code.
func TestRealTFMatrices(t *testing.T) {
	preset := yeastSpec(t)
	spec := Spec{Genes: preset.Genes, Aliases: preset.Aliases, UnknownGenes: ingest.DropGene}
	files := []string{"YEASTRACT_20190713_BOTH", "gold_standard", "yeast-motif-prior"}
	for _, file := range files {
		path := filepath.Join(data, "regulatory_inferelator", file+".tsv.gz")
		spec.Edges = append(spec.Edges, networks.Spec{
			TextSpec: table.TextSpec{File: path}, Matrix: networks.TargetRows, Relation: file,
		})
	}
	g, report, err := Graph(inputs.Opened(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	check.Accounts(t, report)
	for k, want := range []struct {
		rows, kept int
		sum        float64
	}{{1_514_700, 11_352, 11_352}, {97_314, 1_395, 573}, {1_940_400, 71_702, 47_767}} {
		made := ingest.EdgeType{Source: ingest.Gene, Relation: files[k], Target: ingest.Gene}
		edges, sum := g.EdgesOf(made), 0.0
		for _, weight := range check.Numbers(edges.Columns[0]) {
			sum += weight
		}
		rows := check.AccountOf(t, report, made.String()).Rows
		if rows != want.rows || edges.Len() != want.kept || sum != want.sum {
			t.Errorf("%s: %d cells, %d edges of sum %v; want %+v", files[k], rows, edges.Len(), sum,
				want)
		}
	}
}

func FuzzTFMatrix(f *testing.F) {
	f.Add("gene\tYA\tYB\nYA\t1\t-2\n")
	f.Add("\"YA\"\n\"YB\"\t1e3\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, report, err := Graph(inputs.Opened(t), Spec{
			Genes:        genesNamed(t, "YA", "YB"),
			UnknownGenes: ingest.DropGene,
			Edges: []networks.Spec{
				{
					TextSpec: table.TextSpec{File: inputs.Write(t, "m.tsv", text)},
					Matrix:   networks.TargetRows,
					Relation: "r",
				},
			},
		})
		if err != nil && fault.KindOf(err) != fault.Input {
			t.Fatalf("error %v is not of the input", err)
		}
		check.Accounts(t, report)
	})
}
