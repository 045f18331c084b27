package names

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/testrun"
)

// namedGene is a gene with its names, as in a graph.
type namedGene struct {
	ID      string
	Name    string
	Aliases []string
}

func nodesOf(genes []namedGene) *ingest.Nodes {
	if len(genes) == 0 {
		return nil
	}
	var ids, names []string
	var aliases [][]string
	for _, gene := range genes {
		ids, names, aliases = append(ids, gene.ID), append(names, gene.Name), append(aliases,
			gene.Aliases)
	}
	nodes, _ := ingest.NewNodes(ingest.Gene, ids, []ingest.Column{
		ingest.TextColumn(ingest.NameColumn, names), ingest.TextsColumn(ingest.AliasesColumn,
			aliases)})
	return nodes
}

var meanings = map[Meaning]string{Unknown: "unknown", Gene: "gene", NotInGraph: "not in graph",
	Ambiguous: "ambiguous", Control: "control", Date: "date"}

func describe(r *Resolver, name string) string {
	return fmt.Sprint(meanings[r.Find([]byte(name)).Meaning], " ", r.Owners([]byte(name)))
}

// TestCases checks the table of cases that a test of the Python package checks as well.
func TestCases(t *testing.T) {
	text, err := os.ReadFile("testdata/names.json")
	if err != nil {
		t.Fatal(err)
	}
	var graphs []struct {
		About         string
		IgnoreCase    bool `json:"ignore_case"`
		Genes, Others []namedGene
		Cases         []struct {
			Name, Meaning string
			Owners        []string
		}
	}
	if err := json.Unmarshal(text, &graphs); err != nil {
		t.Fatal(err)
	}
	for _, g := range graphs {
		r := Of(&ingest.Graph{
			Genes: nodesOf(g.Genes), OtherGenes: nodesOf(g.Others), IgnoreCase: g.IgnoreCase,
		})
		for _, c := range g.Cases {
			if got, want := describe(r, c.Name), fmt.Sprint(c.Meaning, " ", c.Owners); got != want {
				t.Errorf("%s: %q is %s, want %s", g.About, c.Name, got, want)
			}
			answer := r.Find([]byte(c.Name))
			row, err := r.Row(c.Name)
			if (err == nil) != (answer.Meaning == Gene) ||
				err == nil && r.Nodes().IDs[row] != c.Owners[0] {
				t.Errorf("%s: the row of %q is %d, %v", g.About, c.Name, row, err)
			}
		}
	}
}

// The columns of a graph give the same answers as the tables of names that they were made from,
// whatever these hold.
func TestColumnsKeepAnswers(t *testing.T) {
	r := seed.Rand(t)
	words := strings.Fields("A B C D E F G a b c ab AB aB Ab x X1 x1 y Y")
	for range testrun.Cases(2000, 200) {
		genes := slices.Clone(words[:1+r.IntN(5)])
		nodes, _ := ingest.NewNodes(ingest.Gene, genes, nil)
		b := NewBuilder(nodes, 0)
		for table := range 1 + r.IntN(3) {
			columns := 1 + r.IntN(3)
			ids := b.AddLevels(make([]string, 1+columns)...)
			if table == 0 && r.IntN(4) > 0 {
				b.NamesAt(ids + 1)
			}
			addTable(r, b, words, ids, columns)
		}
		columns, others := b.Columns()
		nodes.Columns = columns
		for _, ignoreCase := range []bool{false, true} {
			sources := b.Resolver(ignoreCase)
			stored := Of(&ingest.Graph{Genes: nodes, OtherGenes: others, IgnoreCase: ignoreCase})
			for _, word := range words {
				got, want := describe(stored, word), describe(sources, word)
				if sorted(got) != sorted(want) {
					t.Fatalf("%q is %s, want %s; case ignored: %v", word, got, want, ignoreCase)
				}
			}
		}
	}
}

// sorted sorts the words of a description: owners may be in another order.
func sorted(text string) string {
	words := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(text))
	slices.Sort(words)
	return strings.Join(words, " ")
}

// addTable adds random rows, as a table of names does.
func addTable(r *rand.Rand, b *Builder, words []string, ids, columns int) {
	type cell struct {
		name string
		gene uint32
	}
	cells := make([][]cell, columns)
	for range r.IntN(12) {
		id := words[r.IntN(len(words))]
		owners := b.Genes([]byte(id))
		if owners == nil {
			owners = []uint32{b.AddGene(ids, id)}
		}
		for k := range columns {
			for range r.IntN(3) {
				for _, gene := range owners {
					cells[k] = append(cells[k], cell{words[r.IntN(len(words))], gene})
				}
			}
		}
	}
	for k := range cells {
		for _, c := range cells[k] {
			b.Add(ids+1+k, c.name, c.gene)
		}
	}
}

// Tables of names that come with a set are looked up after the names of the graph.
func TestTablesAfterTheGraph(t *testing.T) {
	cell := &ingest.Graph{
		Genes:      nodesOf([]namedGene{{"A", "Foo", nil}, {"B", "", []string{"bar"}}}),
		IgnoreCase: true,
	}
	file := filepath.Join(t.TempDir(), "names.tsv")
	err := os.WriteFile(file, []byte("id\tname\nB\tfOO\nA\tbar\nB\tnew\nB\tfoO\n"), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	b := BuilderOf(cell)
	var files inputfile.Files
	defer files.Close()
	tables := []AliasTable{
		{TextSpec: table.TextSpec{File: file}, ID: "id", Names: []string{"name"}},
	}
	if _, err := b.ReadTables(&files, tables); err != nil {
		t.Fatal(err)
	}
	r := b.Resolver(true)
	for name, want := range map[string]string{
		"Foo": "gene [A]",
		"foo": "gene [A]",
		"fOO": "gene [B]",
		"bar": "gene [B]",
		"NEW": "gene [B]",
	} {
		if got := describe(r, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestRules(t *testing.T) {
	r := Of(&ingest.Graph{
		Genes: nodesOf([]namedGene{{"TP53", "", []string{"nt"}}, {"MYC", "", nil}}),
	})
	with, err := r.With(Rules{
		GenePattern:    `^(.+)_g[0-9]+$`,
		Controls:       []string{"ctrl", "negative_control_*", "safe_site"},
		ControlPattern: `nt[0-9]+`,
		Delimiter:      "_",
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Meaning{
		"TP53_g1":                 Gene,
		"TP53_g12":                Gene,
		"TP53":                    Unknown,
		"nt_g1":                   Gene,
		"X_g1":                    Unknown,
		"_g1":                     Unknown,
		"ctrl":                    Control,
		"ctrl_g3":                 Control,
		"ctrl2":                   Unknown,
		"nt7":                     Control,
		"nt7_g1":                  Control,
		"xnt7":                    Unknown,
		"negative_control_":       Control,
		"negative_control_AAVS1":  Control,
		"negative_control_A_TP53": Unknown,
		"safe_site":               Control,
	} {
		if got := with.Find([]byte(name)).Meaning; got != want {
			t.Errorf("%s is %s, want %s", name, meanings[got], meanings[want])
		}
	}
	for text, want := range map[string]string{
		"TP53_MYC":                "TP53,MYC",
		"ctrl_TP53":               "ctrl,TP53",
		"negative_control_7_TP53": "negative_control_7,TP53",
		"TP53_negative_control_7": "TP53,negative_control_7",
		"safe_site_nt3_MYC":       "safe_site,nt3,MYC",
		"TP53_safe_site":          "TP53,safe_site",
		"safe_TP53":               "safe,TP53",
		"TP53":                    "TP53",
		"TP53_":                   "TP53,",
	} {
		var parts []string
		rest, more := []byte(text), true
		for more {
			var name []byte
			name, rest, more = with.Cut(rest)
			parts = append(parts, string(name))
		}
		if got := strings.Join(parts, ","); got != want {
			t.Errorf("%s is cut into %s, want %s", text, got, want)
		}
	}
	for _, c := range []struct {
		rules Rules
		want  string
	}{
		{Rules{GenePattern: "TP53"}, "gene_pattern: found \"TP53\", expected a group"},
		{Rules{GenePattern: "(TP53"}, "gene_pattern: error parsing regexp"},
		{Rules{ControlPattern: "(TP53"}, "control_pattern: error parsing regexp"},
		{Rules{ControlPattern: "T.*"}, `found "TP53", which is a gene of the graph`},
		{Rules{Controls: []string{"M*"}}, `found "MYC", which is a gene of the graph`},
		{Rules{Controls: []string{"MYC"}}, `found "MYC", which is a gene of the graph`},
		{Rules{Controls: []string{" ctrl"}}, "without spaces"},
	} {
		if _, err := r.With(c.rules); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %s", c.rules, err, c.want)
		}
	}
}

// Find is called for each name in a table.
func TestFindAllocatesNothing(t *testing.T) {
	r, err := Of(&ingest.Graph{
		IgnoreCase: true,
		Genes:      nodesOf([]namedGene{{"YAL001C", "TFC3", []string{"a long alias"}}}),
	}).
		With(Rules{Controls: []string{"ctrl"}})
	if err != nil {
		t.Fatal(err)
	}
	all := [][]byte{
		[]byte("YAL001C"), []byte("TFC3"), []byte("a long alias"), []byte("ctrl"),
		[]byte("nothing of this"), []byte("tfc3"),
	}
	found := 0
	if n := testing.AllocsPerRun(100, func() {
		for _, name := range all {
			found += int(r.Find(name).Gene)
		}
	}); n > 0 {
		t.Errorf("Find allocates %v times", n)
	}
}

func TestNear(t *testing.T) {
	r := Of(&ingest.Graph{
		Genes: nodesOf([]namedGene{
			{"YAL001C", "TFC3", nil},
			{"RAD50", "", nil},
			{"ENSG00000141510.18", "", nil},
		}),
	})
	for name, want := range map[string]string{
		"YAL01C":             "did you mean YAL001C? ",
		"RAD55":              "correct the name",
		"rad50":              "Upper and lower case differ",
		"ENSG00000141510.12": "differ in the version",
		"ENSG00000141510":    "differ in the version",
		"TFC-3":              "did you mean TFC3?",
	} {
		if got := r.hint([]byte(name)); !strings.Contains(got, want) {
			t.Errorf("the hint for %s is %q, want %q", name, got, want)
		}
	}
}
