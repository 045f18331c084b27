package build

import (
	"fmt"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/networks"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

// biogridText writes rows "A B symbolA symbolB type organismA organismB" as BioGRID does.
func biogridText(organism string, rows ...string) string {
	columns := []string{
		"#BioGRID Interaction ID",
		"Systematic Name Interactor A",
		"Systematic Name Interactor B",
		"Official Symbol Interactor A",
		"Official Symbol Interactor B",
		"Experimental System",
		"Experimental System Type",
		organism + " Interactor A",
		organism + " Interactor B",
		"Score",
	}
	var text strings.Builder
	text.WriteString(strings.Join(columns, "\t") + "\n")
	for i, row := range rows {
		f := strings.Fields(row)
		fmt.Fprintf(&text, "%d\t%s\tsay \"so\"\t%s\t-\n", i, strings.Join(f[:4], "\t"),
			strings.Join(f[4:], "\t"))
	}
	return text.String()
}

func TestBioGRID(t *testing.T) {
	rows := []string{
		"YA YB a b physical 559292 559292",
		"YB YA b a physical 559292 559292",
		"YA YB a b genetic 559292 559292",
		"- YC STDA c Physical 559292 559292",
		"YA - a HUMAN physical 559292 9606",
		"YC YX c x physical 559292 559292",
		"YC YC c c genetic 559292 559292",
	}
	aliases := sgdAliases(t, inputs.WriteSGD(t, "ORF YA STDA -", "ORF YB - -", "ORF YC - -"))
	for format, organism := range map[string]string{"tab2": "Organism", "tab3": "Organism ID"} {
		source := strings.TrimSuffix("biogrid_"+format+"_", "tab3_")
		path := inputs.Write(t, format+".txt", biogridText(organism, rows...))
		spec := Spec{
			Genes:        genesNamed(t, "YA", "YB", "YC"),
			Aliases:      aliases,
			UnknownGenes: ingest.DropGene,
			Edges: []networks.Spec{
				edgesOf(t, source+"physical", path,
					func(s *networks.Spec) { s.Relation = "physical" }),
				edgesOf(t, source+"genetic", path,
					func(s *networks.Spec) { s.Relation = "genetic" }),
			},
		}
		g, report, err := Graph(inputs.Opened(t), spec)
		if err != nil {
			t.Fatal(err)
		}
		check.Accounts(t, report)
		got := check.EdgeText(g.Edges[0], g.Genes, g.Genes) + ", " + check.EdgeText(g.Edges[1],
			g.Genes, g.Genes)
		if got != "YA-YB YC-YC, YA-YB YA-YC" {
			t.Errorf("%s: edges %s", format, got)
		}
		want := "gene__physical__gene: 2 of 7 entries of " + format +
			".txt; dropped: 1 of an organism other than 559292, " +
			"2 of an experimental system type other than physical, 1 of unknown genes, 1 the " +
			"other direction of an earlier row; " +
			"noted: 1 names read as standard name; unknown names: YX"
		if got := check.AccountOf(t, report, "gene__physical__gene").String(); got != want {
			t.Errorf("report\n%s\nwant\n%s", got, want)
		}
	}
	_, _, err := Graph(inputs.Opened(t), Spec{
		Genes: genesNamed(t, "YA"),
		Edges: []networks.Spec{
			edgesOf(t, "biogrid_genetic", inputs.Write(t, "b.txt", "a\tb\n1\t2\n"), nil),
		},
	})
	check.Fault(t, err, fault.Input, "b.txt", `"Systematic Name Interactor A"`)
}

func FuzzBioGRID(f *testing.F) {
	f.Add(biogridText("Organism", "YA YB a b physical 559292 559292"))
	f.Fuzz(func(t *testing.T, text string) {
		_, report, err := Graph(inputs.Opened(t), Spec{
			Genes:        genesNamed(t, "YA", "YB"),
			UnknownGenes: ingest.DropGene,
			Edges: []networks.Spec{
				edgesOf(t, "biogrid_physical", inputs.Write(t, "b.txt", text), nil),
			},
		})
		if err != nil && fault.KindOf(err) != fault.Input &&
			fault.KindOf(err) != fault.Usage { // it lacks columns
			t.Fatalf("error %v is not of the input", err)
		}
		check.Accounts(t, report)
	})
}
