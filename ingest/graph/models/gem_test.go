package models

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

const smallModel = `---
!!omap
- metaData:
    id: "small"
- metabolites:
    - !!omap
      - id: "m1"
      - name: "one: [with] marks"
    - !!omap
      - id: "m2"
    - !!omap
      - id: "m3"
- reactions:
    - !!omap
      - id: "r1"
      - metabolites: !!omap
          - m2: -1
          - m1: 2.5
      - lower_bound: -1000
      - upper_bound: 1000
      - gene_reaction_rule: "(C and A) or (C and X) or A"
      - subsystem:
          - "Glycolysis"
          - "TCA cycle"
    - !!omap
      - id: "r2"
      - metabolites: !!omap
          - m3: -1e-05
      - lower_bound: 0
      - gene_reaction_rule: ""
      - subsystem: "Exchange"
    - !!omap
      - id: "r3"
      - metabolites: !!omap []
      - gene_reaction_rule: B
- genes:
    - !!omap
      - id: "A"
`

// buildModel adds a model to a graph of the genes A, B and C.
func buildModel(t testing.TB, path string) (*ingest.Graph, ingest.Accounts, error) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B", "C"}, nil)
	cell := &ingest.Graph{Genes: genes}
	model, err := Read(inputs.Opened(t), path)
	if err != nil {
		return nil, nil, err
	}
	accounts, err := model.AddTo(cell, WholeReactions, names.OfIDs(genes), true)
	return cell, accounts, err
}

func TestGEM(t *testing.T) {
	g, report, err := buildModel(t, inputs.Write(t, "model.yml", smallModel))
	if err != nil {
		t.Fatal(err)
	}
	check.Accounts(t, report)
	if got := strings.Join(g.Metabolites.IDs, " "); got != "m1 m2 m3" {
		t.Errorf("metabolites %s", got)
	}
	var table strings.Builder
	for i, id := range g.Reactions.IDs {
		fmt.Fprintf(&table, "%s;%s;%s;%v;%v\n", id, g.Reactions.Column("gpr")[i], g.Reactions.Column("subsystem")[i],
			check.Numbers(g.Reactions.Columns[2])[i], check.Numbers(g.Reactions.Columns[3])[i])
	}
	want := "r1;(C and A) or (C and X) or A;Glycolysis|TCA cycle;-1000;1000\nr2;;Exchange;0;NaN\nr3;B;;NaN;NaN\n"
	if table.String() != want {
		t.Errorf("reactions:\n%swant:\n%s", table.String(), want)
	}
	if got := check.EdgeText(g.EdgesOf(ingest.GPR), g.Genes, g.Reactions); got != "C-r1 A-r1 B-r3" {
		t.Errorf("gpr edges %s", got)
	}
	if got := check.EdgeText(g.EdgesOf(ingest.RMR), g.Reactions, g.Metabolites); got != "r1-m2:-1 r1-m1:2.5 r2-m3:-1e-05" {
		t.Errorf("rmr edges %s", got)
	}
	const line = "gene__gpr__reaction: 3 of 4 entries of model.yml; dropped: 1 of unknown genes, which the rules keep; unknown names: X"
	if got := check.AccountOf(t, report, ingest.GPR.String()).String(); got != line {
		t.Errorf("report %q, want %q", got, line)
	}
}

// TestGEMOfPlainMaps reads the same model with maps in place of ordered maps.
func TestGEMOfPlainMaps(t *testing.T) {
	plain := strings.NewReplacer("!!omap\n- ", "- ", "- !!omap\n      - ", "- ", "\n      - ", "\n      ",
		" !!omap []", " {}", " !!omap\n", "\n", "          - m", "          m", "\n- ", "\n").Replace(smallModel)
	plain = strings.Replace(plain, "- metaData", "metaData", 1)
	want, err := parseYAML("model.yml", []byte(smallModel))
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseYAML("model.yml", []byte(plain))
	if err != nil {
		t.Fatalf("%v in\n%s", err, plain)
	}
	if len(got.reactions) != 3 || len(got.metabolites) != 3 {
		t.Fatalf("%d reactions and %d metabolites", len(got.reactions), len(got.metabolites))
	}
	for i, r := range got.reactions {
		if w := want.reactions[i]; r.id != w.id || r.ruleText != w.ruleText || len(r.stoichiometry) != len(w.stoichiometry) {
			t.Errorf("reaction %+v, want %+v", r, w)
		}
	}
}

func TestGEMErrors(t *testing.T) {
	for _, test := range []struct {
		name, old, new string // of smallModel
		wants          []string
	}{
		{"rule", `"(C and A) or (C and X) or A"`, `"(C and A"`, []string{"model.yml:21", "reaction r1", "byte 8"}},
		{"rule that is a list", `gene_reaction_rule: B`, `gene_reaction_rule: [B]`, []string{"model.yml:35", "a list"}},
		{"coefficient", "m1: 2.5", "m1: two", []string{"model.yml:18", `"two"`, "number"}},
		{"infinite coefficient", "m1: 2.5", "m1: Inf", []string{"model.yml:18", `"Inf"`}},
		{"coefficient too small", "m1: 2.5", "m1: 1e-400", []string{"model.yml:18", `found "1e-400", which is too small for a 64-bit floating-point number`}},
		{"no coefficient", "m1: 2.5", "m1:", []string{"model.yml:18", `found no coefficient for metabolite "m1"`}},
		{"metabolite twice", "m1: 2.5", "m2: 2.5", []string{"model.yml:18", `"m2"`, "line 17"}},
		{"unknown metabolite", "m1: 2.5", "m9: 2.5", []string{"model.yml:18", "reaction r1", `"m9"`, "3 ids"}},
		{"bound", "upper_bound: 1000", "upper_bound: [1000]", []string{"model.yml:20", "a list", "number"}},
		{"reaction twice", `id: "r2"`, `id: "r1"`, []string{"model.yml:26", `"r1"`, "line 15"}},
		{"no id", `id: "m2"`, `name: "m2"`, []string{"model.yml:9", "without an id"}},
		{"key twice", "- lower_bound: 0", "- id: r2", []string{"model.yml:29", `"id"`, "line 26"}},
		{"subsystem", `subsystem: "Exchange"`, `subsystem: {a: b}`, []string{"model.yml:31", "a map"}},
		{"alias", `subsystem: "Exchange"`, `subsystem: *x`, []string{"model.yml", "x"}},
		{"no metabolites", "metabolites: !!omap []", "name: x", []string{"model.yml:33", "reaction r3: found no metabolites"}},
		{"metabolites that are text", "metabolites: !!omap []", "metabolites: x", []string{"model.yml:34", `"x"`}},
		{"no section", "- reactions:", "- reaction:", []string{"model.yml", `no section "reactions"`}},
		{"section that is text", "- genes:", "- metabolites: x\n- genes:", []string{"model.yml:36", `"metabolites"`, "twice"}},
		{"unbalanced", `[with] marks"`, `[with] marks`, []string{"model.yml:10: at ", "starts in line 8, expected YAML"}},
		{"torn", `      - id: "A"` + "\n", `      - id: "A`, []string{"model.yml:3", "expected YAML"}},
		{"cut between sections", "- genes:\n    - !!omap\n      - id: \"A\"\n", "", []string{"model.yml", `no section "genes"`}},
		{"a second document", `      - id: "A"` + "\n", "      - id: A\n---\nx: 1\n", []string{"model.yml:39: found a second YAML document"}},
		{"one behind a marker", `      - id: "A"` + "\n", "      - id: A\n...\n- reactions: []\n", []string{"model.yml:", "found a second YAML document"}},
		{"two models", smallModel, smallModel + "---\n" + smallModel, []string{"found a second YAML document"}},
		{"damage behind the model", `      - id: "A"` + "\n", "      - id: A\n---\n[x\n", []string{"model.yml:", "expected YAML"}},
		{"empty", smallModel, "", []string{"model.yml", "no YAML document"}},
		{"a table", smallModel, "a\tb\n1\t2\n", []string{"model.yml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(smallModel, test.old) {
				t.Fatalf("the model has no %q", test.old)
			}
			_, _, err := buildModel(t, inputs.Write(t, "model.yml", strings.Replace(smallModel, test.old, test.new, 1)))
			check.Fault(t, err, fault.Input, test.wants...)
		})
	}
}

func TestGEMCompressed(t *testing.T) {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	if _, err := w.Write([]byte(smallModel)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	model, err := Read(inputs.Opened(t), inputs.Write(t, "model.yml.gz", compressed.String()))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := parseYAML("model.yml", []byte(smallModel))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(model.metabolites, plain.metabolites) || len(model.reactions) != len(plain.reactions) {
		t.Error("the compressed model differs")
	}
	for _, length := range []int{5, compressed.Len() / 2, compressed.Len() - 1} {
		path := inputs.Write(t, "torn.yml.gz", compressed.String()[:length])
		_, err := Read(inputs.Opened(t), path)
		check.Fault(t, err, fault.Input, "torn.yml.gz", "truncated or damaged")
	}
	if _, err := Read(inputs.Opened(t), t.TempDir()); err == nil || os.IsNotExist(err) {
		t.Errorf("reading a folder gave %v", err)
	}
}

func FuzzGEM(f *testing.F) {
	f.Add([]byte(smallModel))
	f.Add([]byte("metabolites: []\nreactions:\n- {id: r, metabolites: {m: 1}}\ngenes: []\n"))
	f.Add([]byte("- a: &x [*x]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		model, err := parseYAML("model.yml", text)
		if err != nil {
			if fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), "model.yml") {
				t.Fatalf("error %q", err)
			}
			return
		}
		if _, err := model.reactionNodes(WholeReactions); err != nil {
			t.Fatal(err)
		}
		model.metaboliteNodes()
	})
}

func BenchmarkGEM(b *testing.B) {
	for _, reactions := range []int{4000} {
		b.Run(fmt.Sprintf("reactions=%d", reactions), func(b *testing.B) {
			var text strings.Builder
			text.WriteString("- metabolites:\n    - !!omap\n      - id: m1\n- genes: []\n- reactions:\n")
			for i := range reactions {
				fmt.Fprintf(&text, "    - !!omap\n      - id: r%d\n      - name: some reaction\n      - metabolites: !!omap\n          - m1: -1\n"+
					"      - lower_bound: 0\n      - upper_bound: 1000\n      - gene_reaction_rule: (A and B) or C\n"+
					"      - annotation: !!omap\n          - one: \"x:1\"\n          - two: \"x:2\"\n", i)
			}
			model := []byte(text.String())
			b.SetBytes(int64(len(model)))
			for b.Loop() {
				if _, err := parseYAML("model.yml", model); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
