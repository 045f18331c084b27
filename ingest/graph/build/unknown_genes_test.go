package build

import (
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/models"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

// TestUnknownGenesOfEdges checks that an edge is dropped with its node, and counted.
func TestUnknownGenesOfEdges(t *testing.T) {
	const biogrid = "Systematic Name Interactor A\tSystematic Name Interactor B\tOfficial Symbol " +
		"Interactor A\tOfficial Symbol Interactor B\t" +
		"Experimental System Type\tOrganism ID Interactor A\tOrganism ID Interactor B\n"
	for name, edges := range map[string]networks.Spec{
		"table": {
			TextSpec:   table.TextSpec{File: inputs.Write(t, "e.tsv", "a\tb\nA\tB\nA\tX\n")},
			Relation:   "r",
			From:       []string{"a"},
			To:         []string{"b"},
			Undirected: new(false),
		},
		"string": stringLinks(t,
			inputs.Write(t, "e.txt", "protein1 protein2 score\n4932.A 4932.B 5\n4932.A 4932.X 5\n"),
			0, "score"),
		"biogrid": edgesOf(t, "biogrid_physical",
			inputs.Write(t, "e.txt",
				biogrid+"A\tB\t\t\tphysical\t559292\t559292\nA\tX\t\t\tphysical\t559292\t559292\n"),
			func(s *networks.Spec) { s.Relation = "r" }),
		"tf_matrix": {
			TextSpec: table.TextSpec{File: inputs.Write(t, "e.tsv", "target\tA\nB\t1\nX\t1\n")},
			Matrix:   networks.TargetRows,
			Relation: "r",
		},
	} {
		for _, word := range []ingest.UnknownGenes{"", ingest.RefuseUnknownGenes, ingest.DropGene} {
			_, report, err := Graph(inputs.Opened(t), Spec{
				Genes: genesNamed(t, "A", "B"), UnknownGenes: word, Edges: []networks.Spec{edges},
			})
			if word == "" || word == ingest.RefuseUnknownGenes {
				check.Fault(t, err, fault.Input, `gene "X" is not in the graph`, ":3")
				continue
			}
			if err != nil {
				t.Fatalf("%s %s: %v", name, word, err)
			}
			got := check.AccountOf(t, report, "gene__r__gene")
			isDropped := len(got.Dropped) == 1 && countOf(got.Dropped, "of unknown genes") == 1
			if got.Kept != 1 || !isDropped || got.Names["X"] == 0 {
				t.Errorf("%s %s: report %s", name, word, got)
			}
		}
	}
}

// TestUnknownGenesOfModels checks rules that name genes missing from the gene list.
func TestUnknownGenesOfModels(t *testing.T) {
	text := modelText("A", "A and X", "X or Y", "")
	for _, nodes := range []models.ReactionNodes{models.WholeReactions, models.Combinations} {
		for _, word := range []ingest.UnknownGenes{"", ingest.RefuseUnknownGenes, ingest.DropGene} {
			graph, report, err := Graph(inputs.Opened(t), Spec{
				Genes:        genesNamed(t, "A", "B"),
				UnknownGenes: word,
				MaxDropped:   new(1.0),
				GEM: models.Spec{
					File: inputs.Write(t, "m.yml", text), ReactionNodes: nodes,
				},
			})
			if word == "" || word == ingest.RefuseUnknownGenes {
				check.Fault(t, err, fault.Input, "m.yml:5", "reaction r2",
					`gene "X" is not in the graph`)
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", word, err)
			}
			check.Accounts(t, report)
			got := check.AccountOf(t, report, "gene__gpr__reaction")
			const want = "2 of 5 entries of m.yml; dropped: 3 of unknown genes, which the rules " +
				"keep; unknown names: X, Y"
			if !strings.HasSuffix(got.String(), want) {
				t.Errorf("%s %s: report\n%s\nwant its end to be\n%s", nodes, word, got, want)
			}
			reactions := check.AccountOf(t, report, "reactions")
			const noted = "whose genes are all unknown, so that no deletion removes them"
			if countOf(reactions.Noted, noted) != 1 {
				t.Errorf("%s %s: report %s lacks %v", nodes, word, reactions, noted)
			}
			if rules := graph.Reactions.Column("gpr"); rules[1] != "A and X" {
				t.Errorf("%s %s: rules %q, expected the rule of r2 as it is", nodes, word, rules)
			}
		}
	}
}

// A source is refused if too many of its rows name no gene; the error gives the likely reason.
func TestMaxDropped(t *testing.T) {
	for _, test := range []struct {
		names   string // of the first of two columns, the other's are known
		setting string // "" is an error at more than half
		hint    string // "" is no error
	}{
		{"A X", "", ""},
		{"A X Y", "", "max_dropped"},
		{"A X Y", "max_dropped: 0.7", ""},
		{"A X", "max_dropped: 0.4", "max_dropped"},
		{"A A A A", "max_dropped: 0", ""},
		{"X Y", "max_dropped: 1", "other names with aliases"},
	} {
		spec, err := decodeSpec(t,
			"genes: {file: x, column: id}\nunknown_genes: drop-gene\n"+test.setting+
				"\nedges: [{file: x, relation: r, from: a, to: b, undirected: false}]")
		if err != nil {
			t.Fatal(err)
		}
		spec.Genes = genesNamed(t, "A", "B")
		text := "a\tb\n"
		for _, name := range strings.Fields(test.names) {
			text += name + "\tB\n"
		}
		spec.Edges[0].File = inputs.Write(t, "e.tsv", text)
		_, _, err = Graph(inputs.Opened(t), spec)
		switch {
		case test.hint == "" && err != nil:
			t.Errorf("%+v: %v", test, err)
		case test.hint != "":
			check.Fault(t, err, fault.Input, "e.tsv for gene__r__gene")
			if hint := fault.HintOf(err); !strings.Contains(hint, test.hint) {
				t.Errorf("%+v: hint %q", test, hint)
			}
		}
	}
	_, _, err := Graph(inputs.Opened(t), Spec{Genes: genesNamed(t, "A"), MaxDropped: new(50.0)})
	check.Fault(t, err, fault.Usage, "max_dropped: found 50, expected a share from 0 to 1")
}
