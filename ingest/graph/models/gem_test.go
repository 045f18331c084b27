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
		fmt.Fprintf(&table, "%s;%s;%s;%v;%v\n", id, g.Reactions.Column("gpr")[i],
			g.Reactions.Column("subsystem")[i], check.Numbers(g.Reactions.Columns[2])[i],
			check.Numbers(g.Reactions.Columns[3])[i])
	}
	want := "r1;(C and A) or (C and X) or A;Glycolysis|TCA cycle;-1000;1000\nr2;;Exchange;0;NaN\n" +
		"r3;B;;NaN;NaN\n"
	if table.String() != want {
		t.Errorf("reactions:\n%swant:\n%s", table.String(), want)
	}
	if got := check.EdgeText(g.EdgesOf(ingest.GPR), g.Genes, g.Reactions); got != "C-r1 A-r1 B-r3" {
		t.Errorf("gpr edges %s", got)
	}
	got := check.EdgeText(g.EdgesOf(ingest.RMR), g.Reactions, g.Metabolites)
	if got != "r1-m2:-1 r1-m1:2.5 r2-m3:-1e-05" {
		t.Errorf("rmr edges %s", got)
	}
	const line = "gene__gpr__reaction: 3 of 4 entries of model.yml; dropped: 1 of unknown genes, " +
		"which the rules keep; unknown names: X"
	if got := check.AccountOf(t, report, ingest.GPR.String()).String(); got != line {
		t.Errorf("report %q, want %q", got, line)
	}
}

// TestGEMOfPlainMaps reads the same model with maps in place of ordered maps.
func TestGEMOfPlainMaps(t *testing.T) {
	plain := strings.NewReplacer("!!omap\n- ", "- ", "- !!omap\n      - ", "- ", "\n      - ",
		"\n      ", " !!omap []", " {}", " !!omap\n", "\n", "          - m", "          m", "\n- ",
		"\n").Replace(smallModel)
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
		w := want.reactions[i]
		if r.id != w.id || r.ruleText != w.ruleText ||
			len(r.stoichiometry) != len(w.stoichiometry) {
			t.Errorf("reaction %+v, want %+v", r, w)
		}
	}
}

func TestGEMErrors(t *testing.T) {
	for _, test := range []struct {
		name, old, new string // of smallModel
		wants          []string
	}{
		{
			name:  "rule",
			old:   `"(C and A) or (C and X) or A"`,
			new:   `"(C and A"`,
			wants: []string{"model.yml:21", "reaction r1", "byte 8"},
		},
		{
			name:  "rule that is a list",
			old:   `gene_reaction_rule: B`,
			new:   `gene_reaction_rule: [B]`,
			wants: []string{"model.yml:35", "a list"},
		},
		{
			name:  "coefficient",
			old:   "m1: 2.5",
			new:   "m1: two",
			wants: []string{"model.yml:18", `"two"`, "number"},
		},
		{
			name:  "infinite coefficient",
			old:   "m1: 2.5",
			new:   "m1: Inf",
			wants: []string{"model.yml:18", `"Inf"`},
		},
		{
			name: "coefficient too small",
			old:  "m1: 2.5",
			new:  "m1: 1e-400",
			wants: []string{
				"model.yml:18",
				`found "1e-400", which is too small for a 64-bit floating-point number`,
			},
		},
		{
			name:  "no coefficient",
			old:   "m1: 2.5",
			new:   "m1:",
			wants: []string{"model.yml:18", `found no coefficient for metabolite "m1"`},
		},
		{
			name:  "metabolite twice",
			old:   "m1: 2.5",
			new:   "m2: 2.5",
			wants: []string{"model.yml:18", `"m2"`, "line 17"},
		},
		{
			name:  "unknown metabolite",
			old:   "m1: 2.5",
			new:   "m9: 2.5",
			wants: []string{"model.yml:18", "reaction r1", `"m9"`, "3 ids"},
		},
		{
			name:  "bound",
			old:   "upper_bound: 1000",
			new:   "upper_bound: [1000]",
			wants: []string{"model.yml:20", "a list", "number"},
		},
		{
			name:  "reaction twice",
			old:   `id: "r2"`,
			new:   `id: "r1"`,
			wants: []string{"model.yml:26", `"r1"`, "line 15"},
		},
		{
			name:  "no id",
			old:   `id: "m2"`,
			new:   `name: "m2"`,
			wants: []string{"model.yml:9", "without an id"},
		},
		{
			name:  "key twice",
			old:   "- lower_bound: 0",
			new:   "- id: r2",
			wants: []string{"model.yml:29", `"id"`, "line 26"},
		},
		{
			name:  "subsystem",
			old:   `subsystem: "Exchange"`,
			new:   `subsystem: {a: b}`,
			wants: []string{"model.yml:31", "a map"},
		},
		{
			name:  "alias",
			old:   `subsystem: "Exchange"`,
			new:   `subsystem: *x`,
			wants: []string{"model.yml", "x"},
		},
		{
			name:  "no metabolites",
			old:   "metabolites: !!omap []",
			new:   "name: x",
			wants: []string{"model.yml:33", "reaction r3: found no metabolites"},
		},
		{
			name:  "metabolites that are text",
			old:   "metabolites: !!omap []",
			new:   "metabolites: x",
			wants: []string{"model.yml:34", `"x"`},
		},
		{
			name:  "no section",
			old:   "- reactions:",
			new:   "- reaction:",
			wants: []string{"model.yml", `no section "reactions"`},
		},
		{
			name:  "section that is text",
			old:   "- genes:",
			new:   "- metabolites: x\n- genes:",
			wants: []string{"model.yml:36", `"metabolites"`, "twice"},
		},
		{
			name:  "unbalanced",
			old:   `[with] marks"`,
			new:   `[with] marks`,
			wants: []string{"model.yml:10: at ", "starts in line 8, expected YAML"},
		},
		{
			name:  "torn",
			old:   `      - id: "A"` + "\n",
			new:   `      - id: "A`,
			wants: []string{"model.yml:3", "expected YAML"},
		},
		{
			name:  "cut between sections",
			old:   "- genes:\n    - !!omap\n      - id: \"A\"\n",
			wants: []string{"model.yml", `no section "genes"`},
		},
		{
			name:  "a second document",
			old:   `      - id: "A"` + "\n",
			new:   "      - id: A\n---\nx: 1\n",
			wants: []string{"model.yml:39: found a second YAML document"},
		},
		{
			name:  "one behind a marker",
			old:   `      - id: "A"` + "\n",
			new:   "      - id: A\n...\n- reactions: []\n",
			wants: []string{"model.yml:", "found a second YAML document"},
		},
		{
			name:  "two models",
			old:   smallModel,
			new:   smallModel + "---\n" + smallModel,
			wants: []string{"found a second YAML document"},
		},
		{
			name:  "damage behind the model",
			old:   `      - id: "A"` + "\n",
			new:   "      - id: A\n---\n[x\n",
			wants: []string{"model.yml:", "expected YAML"},
		},
		{name: "empty", old: smallModel, wants: []string{"model.yml", "no YAML document"}},
		{name: "a table", old: smallModel, new: "a\tb\n1\t2\n", wants: []string{"model.yml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(smallModel, test.old) {
				t.Fatalf("the model has no %q", test.old)
			}
			_, _, err := buildModel(t,
				inputs.Write(t, "model.yml", strings.Replace(smallModel, test.old, test.new, 1)))
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
	if !reflect.DeepEqual(model.metabolites, plain.metabolites) ||
		len(model.reactions) != len(plain.reactions) {
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
			text.WriteString("- metabolites:\n    - !!omap\n      - id: m1\n- genes: []\n" +
				"- reactions:\n")
			for i := range reactions {
				fmt.Fprintf(&text,
					"    - !!omap\n      - id: r%d\n      - name: some reaction\n"+
						"      - metabolites: !!omap\n          - m1: -1\n"+
						"      - lower_bound: 0\n      - upper_bound: 1000\n"+
						"      - gene_reaction_rule: (A and B) or C\n"+
						"      - annotation: !!omap\n          - one: \"x:1\"\n"+
						"          - two: \"x:2\"\n",
					i)
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
