package names

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dustin/go-humanize/english"

	"tcbuild/ingest"
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

func TestRules(t *testing.T) {
	r := Of(&ingest.Graph{
		Genes: nodesOf([]namedGene{{"TP53", "", []string{"nt"}}, {"MYC", "", nil}}),
	})
	with, err := r.With(Rules{Controls: []string{"ctrl", "nt", "safe_site"}, Delimiter: "_"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Meaning{
		"TP53":      Gene,
		"ctrl":      Control,
		"nt":        Control, // although a gene has the name
		"ctrl2":     Unknown,
		"safe_site": Control,
	} {
		if got := with.Find([]byte(name)).Meaning; got != want {
			t.Errorf("%s is %s, want %s", name, meanings[got], meanings[want])
		}
	}
	for text, want := range map[string]string{
		"TP53_MYC":       "TP53,MYC",
		"ctrl_TP53":      "ctrl,TP53",
		"safe_site_MYC":  "safe_site,MYC",
		"TP53_safe_site": "TP53,safe_site",
		"safe_TP53":      "safe,TP53",
		"safe_sites_MYC": "safe,sites,MYC",
		"TP53":           "TP53",
		"TP53_":          "TP53,",
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
	for control, want := range map[string]string{
		"MYC":   `found "MYC", which is a gene of the graph`,
		" ctrl": "without spaces",
	} {
		_, err := r.With(Rules{Controls: []string{control}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", control, err, want)
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

// TestNearCases checks the table of cases that a test of the Python package checks as well.
func TestNearCases(t *testing.T) {
	text, err := os.ReadFile("testdata/near.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Genes, Others []namedGene
		Cases         map[string][]string
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	r := Of(&ingest.Graph{Genes: nodesOf(table.Genes), OtherGenes: nodesOf(table.Others)})
	for name, near := range table.Cases {
		want := "correct the name"
		if len(near) > 0 {
			want = "did you mean " + english.WordSeries(near, "or") + "? "
		}
		if got := r.hint([]byte(name)); !strings.HasPrefix(got, want) {
			t.Errorf("the hint for %s is %q, want %q", name, got, want)
		}
	}
}

func TestHintOfAlleles(t *testing.T) {
	r := Of(&ingest.Graph{
		Genes: nodesOf([]namedGene{
			{"YBR160W", "CDC28", nil}, {"YAL040C", "", nil}, {"RAD51", "", nil},
		}),
	})
	for name, want := range map[string]string{
		"cdc28Δ":        "if it is an allele of CDC28, ",
		"CDC28∆":        "if it is an allele of CDC28, ",
		"cdc28-4":       "if it is an allele of CDC28, ",
		"cdc28-as1_tm2": "if it is an allele of CDC28, ",
		"YAL040C_tsa12": "if it is an allele of YAL040C, ",
		"RAD51-DAmP":    "if it is an allele of RAD51, ",
		"YAL040C-A":     "did you mean YAL040C? ",
		"YAL04C-A":      "correct the name",
		"rad51":         `did you mean "RAD51"? Upper`,
		"cdc-4":         "correct the name",
		"-4":            "correct the name",
		"Δ":             "correct the name",
	} {
		if got := r.hint([]byte(name)); !strings.HasPrefix(got, want) {
			t.Errorf("the hint for %s is %q, want %q", name, got, want)
		}
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

func TestLooksLikeControl(t *testing.T) {
	for name, want := range map[string]bool{
		"ctrl": true, "Ctrl": true, "ctrl_1": true, "NT": true, "NT-12": true, "NTC": true,
		"NegCtrl10_NegCtrl0": true, "non-targeting": true, "Non_Targeting_00012": true,
		"non-targeting control 3": true, "safe-targeting": true, "negative_control": true,
		"scrambled2": true, "wild type": true, "WT": true, "INTERGENIC_101": true,
		"": false, "WT1": false, "NT5": false, "NT5E": false, "NEGR1": false, "ctrl+A": false,
		"A_ctrl": false, "ctrl_A": false, "NONO": false, "7157": false, "YAL0X": false,
		"CTRL1B": false, "NTC_A": false, "NON1": false, "TYPE2": false,
	} {
		if got := LooksLikeControl(name); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}
