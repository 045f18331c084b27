package build

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/models"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
	_ "tcbuild/internal/testing/testrun"
)

// links is a STRING file of both directions in which A-B differs in one score,
// B-C passes in its second direction only, and C-C is a self loop.
const links = `protein1 protein2 experiments database
4932.B 4932.A 100 5
4932.A 4932.B 100 6
4932.B 4932.C 0 0
4932.C 4932.B 7 0
4932.A 4932.X 900 900
4932.C 4932.C 3 0
4932.B 4932.A 100 5
4932.B 4932.A 100 5
`

func TestLinks(t *testing.T) {
	for _, test := range []struct {
		least float64
		loops networks.SelfLoops
		want  map[string]string
		lines []string
	}{
		{
			least: 1,
			loops: networks.LoopsKeep,
			want:  map[string]string{"experiments": "B-A:100 C-B:7 C-C:3", "database": "B-A:5"},
			lines: []string{
				"gene__s_experiments__gene: 3 of 8 entries of links.txt; dropped: 1 of unknown " +
					"genes, 1 with no score of at least 1, " +
					"1 the other direction of an earlier row, 2 repeating an earlier row; " +
					"noted: 1 with another weight than the first row of the pair; unknown names: X",
				"gene__s_database__gene: 1 of 8 entries of links.txt; dropped: 1 of unknown " +
					"genes, 3 with no score of at least 1, " +
					"1 the other direction of an earlier row, 2 repeating an earlier row; " +
					"noted: 1 with another weight than the first row of the pair; unknown names: X",
			},
		},
		{
			least: 6,
			loops: networks.LoopsNone,
			want:  map[string]string{"experiments": "B-A:100 C-B:7", "database": "A-B:6"},
		},
		{
			least: 1,
			loops: networks.LoopsAppend,
			want: map[string]string{
				"experiments": "B-A:100 C-B:7 A-A:NaN B-B:NaN " +
					"C-C:NaN", "database": "B-A:5 A-A:NaN B-B:NaN C-C:NaN"},
		},
	} {
		spec := Spec{
			Genes: genesNamed(t, "C", "A", "B"), SelfLoops: test.loops, UnknownGenes: ingest.DropGene,
			Edges: []networks.Spec{
				edgesOf(t, "string", inputs.Write(t, "links.txt", links), func(s *networks.Spec) {
					s.Relation = "s_{column}"
					s.Weight = []string{"experiments", "database"}
					s.Min = &test.least
				}),
			},
		}
		g, report, err := Graph(inputs.Opened(t), spec)
		if err != nil {
			t.Fatal(err)
		}
		check.Accounts(t, report)
		for _, edges := range g.Edges {
			column := strings.TrimPrefix(edges.Type.Relation, "s_")
			got := check.EdgeText(edges, g.Genes, g.Genes)
			if got != test.want[column] || edges.Columns[0].Name != "score" {
				t.Errorf("min %v, self loops %s, %s: %q, want %q", test.least, test.loops, column,
					got, test.want[column])
			}
		}
		if test.lines != nil &&
			strings.Join(reportLines(report[1:]), "\n") != strings.Join(test.lines, "\n") {
			t.Errorf("report:\n%s\nwant:\n%s", strings.Join(reportLines(report[1:]), "\n"),
				strings.Join(test.lines, "\n"))
		}
	}
}

func TestEdgeTable(t *testing.T) {
	half := 0.5
	genes := []string{"A", "B", "C"}
	for _, test := range []struct {
		name, text string
		spec       networks.Spec
		want       string
	}{
		{
			name: "directed keeps both directions and repeats",
			text: "tf\ttarget\nB\tA\nA\tB\nB\tA\nA\tA\n",
			spec: networks.Spec{From: []string{"tf"}, To: []string{"target"}},
			want: "B-A A-B B-A A-A",
		},
		{
			name: "separated by commas",
			text: "w,x,y\n1,B,A\n",
			spec: networks.Spec{
				TextSpec: table.TextSpec{Delimiter: "comma"},
				From:     []string{"x"},
				To:       []string{"y"},
				Weight:   []string{"w"},
			},
			want: "B-A:1",
		},
		{
			name: "without a header, undirected",
			text: "A  B\nB A\nC B\nA B\n",
			spec: networks.Spec{
				TextSpec:   table.TextSpec{Columns: []string{"a", "b"}, Delimiter: "space"},
				From:       []string{"a"},
				To:         []string{"b"},
				Undirected: new(true),
			},
			want: "A-B C-B",
		},
		{
			name: "min",
			text: "a\tb\tw\nA\tB\t0.5\nA\tC\t0.6\nB\tC\t0.4999\nC\tC\tNA\n",
			spec: networks.Spec{
				From:   []string{"a"},
				To:     []string{"b"},
				Weight: []string{"w"},
				Cutoff: networks.Cutoff{Min: &half},
			},
			want: "A-B:0.5 A-C:0.6",
		},
		{
			name: "max",
			text: "a\tb\tw\nA\tB\t0.5\nA\tC\t0.5001\nB\tC\t0\nC\tC\tNA\n",
			spec: networks.Spec{
				From:   []string{"a"},
				To:     []string{"b"},
				Weight: []string{"w"},
				Cutoff: networks.Cutoff{Max: &half},
			},
			want: "A-B:0.5 B-C:0",
		},
		{
			name: "min and max",
			text: "a\tb\tw\nA\tB\t0.5\nA\tC\t0.6\nB\tC\t0.4\n",
			spec: networks.Spec{
				From:   []string{"a"},
				To:     []string{"b"},
				Weight: []string{"w"},
				Cutoff: networks.Cutoff{Min: &half, Max: &half},
			},
			want: "A-B:0.5",
		},
		{
			name: "nonzero",
			text: "a\tb\tw\nA\tB\t0\nA\tC\t-0.6\nB\tC\t1e3\nC\tC\t\n",
			spec: networks.Spec{
				From: []string{"a"}, To: []string{"b"}, Weight: []string{"w"}, Nonzero: true,
			},
			want: "A-C:-0.6 B-C:1000",
		},
		{
			name: "missing weights are carried",
			text: "a\tb\tw\nA\tB\tNaN\nB\tA\t\n",
			spec: networks.Spec{From: []string{"a"}, To: []string{"b"}, Weight: []string{"w"}},
			want: "A-B:NaN B-A:NaN",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.spec.File, test.spec.Relation = inputs.Write(t, "e.tsv", test.text), "r"
			if test.spec.Undirected == nil {
				test.spec.Undirected = new(false)
			}
			g, report, err := Graph(inputs.Opened(t),
				Spec{Genes: genesNamed(t, genes...), Edges: []networks.Spec{test.spec}})
			if err != nil {
				t.Fatal(err)
			}
			check.Accounts(t, report)
			if got := check.EdgeText(g.Edges[0], g.Genes, g.Genes); got != test.want {
				t.Errorf("edges %q, want %q", got, test.want)
			}
		})
	}
}

func TestEdgeTableByNumber(t *testing.T) {
	ids := inputs.Write(t, "ids.txt", "C\nB\nC\nA\n") // an id may occur twice
	for base, want := range []string{"B-C A-B", "C-B C-C"} {
		spec := networks.Spec{
			TextSpec: table.TextSpec{
				File: inputs.Write(t, "e.txt", "1\t2\n3\t1\n"), Columns: []string{"a", "b"},
			},
			Relation:   "r",
			From:       []string{"a"},
			To:         []string{"b"},
			IDs:        ids,
			IndexBase:  base,
			Undirected: new(false),
		}
		g, _, err := Graph(inputs.Opened(t),
			Spec{Genes: genesNamed(t, "A", "B", "C"), Edges: []networks.Spec{spec}})
		if err != nil {
			t.Fatal(err)
		}
		if got := check.EdgeText(g.Edges[0], g.Genes, g.Genes); got != want {
			t.Errorf("index base %d: edges %q, want %q", base, got, want)
		}
	}
}

func TestEdgesAcrossAliases(t *testing.T) {
	features := inputs.WriteSGD(t, "ORF YA STDA OLD", "ORF YB STDB SHARED", "ORF YC - SHARED")
	spec := Spec{
		Genes:        sgdGenes(t, features),
		Aliases:      sgdAliases(t, features),
		UnknownGenes: ingest.DropGene,
		MaxDropped:   new(1.0),
		Edges: []networks.Spec{{
			TextSpec: table.TextSpec{
				File: inputs.Write(t, "e.tsv",
					"a\tb\nSTDA\tYB\nYA\tSTDB\nOLD\tSHARED\nYC\tWHO\nSHARED\tWHO\n"),
			},
			Relation: "r", From: []string{"a"}, To: []string{"b"}, Undirected: new(false)}},
	}
	g, report, err := Graph(inputs.Opened(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	check.Accounts(t, report)
	if got := check.EdgeText(g.Edges[0], g.Genes, g.Genes); got != "YA-YB YA-YB" {
		t.Errorf("edges %q", got)
	}
	want := "gene__r__gene: 2 of 5 entries of e.tsv; dropped: 1 of unknown genes, 2 of ambiguous " +
		"names; " +
		"noted: 1 kept although an earlier row has the same genes, 2 names read as standard " +
		"name, 1 names read as alias; unknown names: SHARED, WHO"
	if got := check.AccountOf(t, report, "gene__r__gene").String(); got != want {
		t.Errorf("report %q, want %q", got, want)
	}

	spec.UnknownGenes = ingest.RefuseUnknownGenes
	_, _, err = Graph(inputs.Opened(t), spec)
	check.Fault(t, err, fault.Input, "e.tsv:4", `"SHARED" is ambiguous`, "YB and YC")
}

func TestEdgeErrors(t *testing.T) {
	links := func(text string) networks.Spec {
		return stringLinks(t, inputs.Write(t, "links.txt", text), 0, "score")
	}
	edges := func(text string, spec networks.Spec) networks.Spec {
		spec.File = inputs.Write(t, "e.tsv", text)
		spec.Relation = "r"
		spec.From = []string{"a"}
		spec.To = []string{"b"}
		spec.Undirected = new(false)
		return spec
	}
	ids := inputs.Write(t, "ids.txt", "A\nB\n")
	for _, test := range []struct {
		name  string
		edges networks.Spec
		wants []string
	}{
		{"unknown gene", edges("a\tb\nA\tB\nA\tX\n", networks.Spec{}),
			[]string{"e.tsv:3", `gene "X" is not in the graph (2 genes)`}},
		{"no such column", edges("a\tc\nA\tB\n", networks.Spec{}),
			[]string{"e.tsv", `no column "b"`, "a, c"}},
		{"bad weight", edges("a\tb\tw\nA\tB\tx\n", networks.Spec{Weight: []string{"w"}}),
			[]string{"e.tsv:2", `column "w"`, `"x"`}},
		{"number below base", edges("a\tb\n1\t2\n1\t0\n", networks.Spec{IDs: ids, IndexBase: 1}),
			[]string{"e.tsv:3", `column "b"`, `"0"`, "from 1 to 2"}},
		{"number beyond ids", edges("a\tb\n2\t1\n", networks.Spec{IDs: ids}),
			[]string{"e.tsv:2", `column "a"`, `"2"`, "from 0 to 1"}},
		{"no number", edges("a\tb\nA\tB\n", networks.Spec{IDs: ids}),
			[]string{"e.tsv:2", `"A"`, "integer"}},
		{"missing number", edges("a\tb\nNA\t1\n", networks.Spec{IDs: ids}),
			[]string{"e.tsv:2", `"NA"`, "from 0 to 1"}},
		{"torn row", edges("a\tb\nA\tB\nA\n", networks.Spec{}), []string{"e.tsv:3"}},
		{"STRING id without taxon", links("protein1 protein2 score\n4932.A B 3\n"),
			[]string{"links.txt:2", `column "protein2"`, `"B"`, `a name after "4932."`}},
		{"STRING id with a wrong taxon", links("protein1 protein2 score\nx.A 4932.B 3\n"),
			[]string{"links.txt:2", `column "protein1"`, `"x.A"`}},
		{"STRING score column", links("protein1 protein2 combined_score\n4932.A 4932.B 3\n"),
			[]string{"links.txt", `no column "score"`, "combined_score"}},
		{"STRING score", links("protein1 protein2 score\n4932.A 4932.B high\n"),
			[]string{"links.txt:2", `"high"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, _, err := Graph(inputs.Opened(t),
				Spec{Genes: genesNamed(t, "A", "B"), Edges: []networks.Spec{test.edges}})
			check.Fault(t, err, fault.Input, test.wants...)
			if g != nil {
				t.Error("a graph beside the error")
			}
		})
	}
	_, _, err := Graph(inputs.Opened(t), Spec{
		Genes: genesNamed(t, "A"),
		Edges: []networks.Spec{
			edges("a\tb\n", networks.Spec{TextSpec: table.TextSpec{Delimiter: "semi"}}),
		},
	})
	check.Fault(t, err, fault.Usage, `"semi"`)
}

// slowEdges is the oracle of edge sources: it applies each rule literally and searches all edges
// stored so far.
func slowEdges(rows [][3]int, undirected bool, loops networks.SelfLoops, least, genes int) string {
	var stored [][3]int
	for _, row := range rows {
		known := false
		for _, s := range stored {
			known = known || s[0] == row[0] && s[1] == row[1] || s[0] == row[1] && s[1] == row[0]
		}
		switch {
		case row[2] < least, row[0] == row[1] && loops != networks.LoopsKeep, undirected &&
			known, row[0] >= genes, row[1] >= genes:
		default:
			stored = append(stored, row)
		}
	}
	var texts []string
	for _, s := range stored {
		texts = append(texts, fmt.Sprintf("g%d-g%d:%d", s[0], s[1], s[2]))
	}
	for i := 0; i < genes && loops == networks.LoopsAppend; i++ {
		texts = append(texts, fmt.Sprintf("g%d-g%d:NaN", i, i))
	}
	return strings.Join(texts, " ")
}

func TestEdgesAgainstOracle(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, 0))
	genes := []string{"g0", "g1", "g2", "g3", "g4"}
	for round := range 200 {
		rows := make([][3]int, random.IntN(30))
		text := "a\tb\tw\n"
		for i := range rows {
			rows[i] = [3]int{random.IntN(6), random.IntN(6), random.IntN(4)} // g5 is unknown
			text += fmt.Sprintf("g%d\tg%d\t%d\n", rows[i][0], rows[i][1], rows[i][2])
		}
		least := float64(random.IntN(3))
		undirected := random.IntN(2) == 0
		loops := []networks.SelfLoops{
			networks.LoopsKeep, networks.LoopsNone, networks.LoopsAppend,
		}[random.IntN(3)]
		g, report, err := Graph(inputs.Opened(t), Spec{
			Genes:        genesNamed(t, genes...),
			SelfLoops:    loops,
			UnknownGenes: ingest.DropGene,
			MaxDropped:   new(1.0),
			Edges: []networks.Spec{{
				TextSpec: table.TextSpec{File: inputs.Write(t, "e.tsv", text)},
				Relation: "r",
				From:     []string{"a"},
				To:       []string{"b"},
				Weight:   []string{"w"},
				Cutoff: networks.Cutoff{
					Min: &least,
				},
				Undirected: &undirected,
			}},
		})
		own := loops
		if own == networks.LoopsAppend {
			own = networks.LoopsNone
		}
		if slowEdges(rows, undirected, own, int(least), len(genes)) == "" {
			check.Fault(t, err, fault.Input, "e.tsv")
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		check.Accounts(t, report)
		want := slowEdges(rows, undirected, loops, int(least), len(genes))
		if got := check.EdgeText(g.Edges[0], g.Genes, g.Genes); got != want {
			t.Fatalf("seed %d, round %d, undirected %v, self loops %s, min %v:\n%sgot  %s\nwant %s",
				seed, round, undirected, loops, least, text, got, want)
		}
	}
}

// TestNoEdges checks that a source without edges is an error that says why.
func TestNoEdges(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\tw\n":                   "found no entries",
		"a\tb\tw\nX\tY\t1\nX\tA\t1\n": "kept 0 of 2 entries; dropped: 2 of unknown genes",
		"a\tb\tw\nA\tB\t0.5\nB\tA\t\nA\tX\t1\n": "dropped: 1 of unknown genes, 2 with no weight " +
			"of at least 0.6",
		"a\tb\tw\nA\tA\t1\n": "dropped: 1 self loops",
	} {
		least := 0.6
		_, _, err := Graph(inputs.Opened(t), Spec{
			Genes:        genesNamed(t, "A", "B"),
			UnknownGenes: ingest.DropGene,
			SelfLoops:    networks.LoopsAppend,
			Edges: []networks.Spec{
				{
					TextSpec:   table.TextSpec{File: inputs.Write(t, "e.tsv", text)},
					Relation:   "r",
					From:       []string{"a"},
					To:         []string{"b"},
					Weight:     []string{"w"},
					Cutoff:     networks.Cutoff{Min: &least},
					Undirected: new(false),
				},
			},
		})
		check.Fault(t, err, fault.Input, "e.tsv for gene__r__gene", want)
	}
	_, _, err := Graph(inputs.Opened(t), Spec{
		Genes:        genesNamed(t, "A"),
		UnknownGenes: ingest.DropGene,
		GEM:          models.Spec{File: inputs.Write(t, "m.yml", modelText("X"))},
	})
	check.Fault(t, err, fault.Input, "m.yml for gene__gpr__reaction",
		"1 of unknown genes, which the rules keep")
}
