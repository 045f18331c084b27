package source

import (
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// TestUnknownGenesOfScreens gives each kind of screen rows with no, one and two unknown names,
// under each of the three settings.
func TestUnknownGenesOfScreens(t *testing.T) {
	genes, aliases := screenGenes(t)
	sga := sgaHeader + "VPS8_sn1\tvps8\tTBS1_dma1\ttbs1\tx\t1\t1\n" + "VPS8_sn1\tvps8\tNONE1_dma1\tnone1\tx\t2\t1\n" + "SHARED_sn1\tshared\tNONE1_dma1\tnone1\tx\t3\t1\n" +
		"NONE2_sn1\tnone2\tVPS8_tsa1\tvps8-1\tx\t4\t1\n" + "YDL227C+NONE1_tm1\thoΔ+none1Δ\tYDL227C_dma1\tho\tx\t5\t1\n"
	emap := "gene_a\tgene_b\tscore\nVPS8\tTBS1\t1\nVPS8\tNONE1\t2\nSHARED\tNONE1\t3\n"
	wide := "orf\tcold\thot\nVPS8\t1\t2\nNONE1\t3\t4\nSHARED\t5\t\n"
	for _, c := range []struct {
		name, text, word string
		samples          []string
		report           string // with the counts under this setting
	}{
		{"sga", sga, "drop-sample", []string{"0 YAL002W+YBR150C [1 1]"},
			"dropped: 3 of unknown genes, 1 of ambiguous names; unknown names: NONE1, NONE2, SHARED"},
		{"sga", sga, "drop-gene", []string{"0 YAL002W+YBR150C [1 1]", "1 YAL002W [2 1]"},
			"dropped: 2 left without a gene, as theirs are unknown, 1 of allele kind ts, which is not among alleles; " +
				"noted: 1 unknown genes left out; unknown names: NONE1, NONE2, SHARED"},
		{"emap", emap, "drop-sample", []string{"0 YAL002W+YBR150C [1]"}, "dropped: 1 of unknown genes, 1 of ambiguous names; unknown names: NONE1, SHARED"},
		{"emap", emap, "drop-gene", []string{"0 YAL002W+YBR150C [1]", "1 YAL002W [2]"},
			"dropped: 1 left without a gene, as theirs are unknown; noted: 1 unknown genes left out; unknown names: NONE1, SHARED"},
		{"matrix", wide, "drop-sample", []string{"VPS8: cold YAL002W [1]", "VPS8: hot YAL002W [2]"},
			"dropped: 2 of unknown genes, 2 of ambiguous names; noted: 3 rows; unknown names: NONE1, SHARED"},
		{"matrix", wide, "drop-gene", []string{"VPS8: cold YAL002W [1]", "VPS8: hot YAL002W [2]"},
			"dropped: 4 left without a gene, as theirs are unknown; noted: 3 rows; unknown names: NONE1, SHARED"},
	} {
		for _, word := range []ingest.UnknownGenes{ingest.UnknownGenes(c.word), ingest.RefuseUnknownGenes} {
			spec := screenOf(t, map[string]string{"sga": "costanzo2016", "emap": "emap", "matrix": "matrix"}[c.name], c.text, aliases)
			if c.name == "emap" {
				spec.Strains = genePairs
			}
			spec.UnknownGenes, spec.MaxDropped, spec.AllowWildtype = word, new(1.0), true
			screen, err := openForm(spec, &ingest.Graph{Genes: genes})
			samples, report, err := readScreen(t, screen, err, genes)
			if word == ingest.RefuseUnknownGenes {
				checkFault(t, err, fault.Input, "s.tsv:3", `gene "NONE1" is not in the graph`)
				continue
			}
			if err != nil {
				t.Fatalf("%s %s: %v", c.name, word, err)
			}
			checkSamples(t, samples, c.samples)
			if _, counts, _ := strings.Cut(report, "; "); counts != c.report {
				t.Errorf("%s %s: report\n%s\nwant its end to be\n%s", c.name, word, report, c.report)
			}
		}
	}
}

// TestUnknownGenesOfEdges checks that an edge is dropped with its node, and counted.
func TestUnknownGenesOfEdges(t *testing.T) {
	const biogrid = "Systematic Name Interactor A\tSystematic Name Interactor B\tOfficial Symbol Interactor A\tOfficial Symbol Interactor B\t" +
		"Experimental System Type\tOrganism ID Interactor A\tOrganism ID Interactor B\n"
	for name, edges := range map[string]EdgesSpec{
		"table":     {TextSpec: table.TextSpec{File: writeFile(t, "e.tsv", "a\tb\nA\tB\nA\tX\n")}, Relation: "r", From: []string{"a"}, To: []string{"b"}, Undirected: new(false)},
		"string":    stringLinks(t, writeFile(t, "e.txt", "protein1 protein2 score\n4932.A 4932.B 5\n4932.A 4932.X 5\n"), 0, "score"),
		"biogrid":   edgesOf(t, "biogrid_physical", writeFile(t, "e.txt", biogrid+"A\tB\t\t\tphysical\t559292\t559292\nA\tX\t\t\tphysical\t559292\t559292\n"), func(s *EdgesSpec) { s.Relation = "r" }),
		"tf_matrix": {TextSpec: table.TextSpec{File: writeFile(t, "e.tsv", "target\tA\nB\t1\nX\t1\n")}, Matrix: TargetRows, Relation: "r"},
	} {
		for _, word := range []UnknownNames{"", RefuseNames, DropNames} {
			_, report, err := BuildGraph(opened(t), GraphSpec{Genes: genesNamed(t, "A", "B"), UnknownGenes: word, Edges: []EdgesSpec{edges}})
			if word == "" || word == RefuseNames {
				checkFault(t, err, fault.Input, `gene "X" is not in the graph`, ":3")
				continue
			}
			if err != nil {
				t.Fatalf("%s %s: %v", name, word, err)
			}
			if got := reportOf(t, report, "gene__r__gene"); got.Kept != 1 || len(got.Dropped) != 1 || countOf(got.Dropped, "of unknown genes") != 1 || got.Names["X"] == 0 {
				t.Errorf("%s %s: report %s", name, word, got)
			}
		}
	}
}

// TestUnknownGenesOfModels checks rules that name genes missing from the gene list.
func TestUnknownGenesOfModels(t *testing.T) {
	text := modelText("A", "A and X", "X or Y", "")
	for _, nodes := range []ReactionNodes{WholeReactions, Combinations} {
		for _, word := range []UnknownNames{"", RefuseNames, DropNames} {
			graph, report, err := BuildGraph(opened(t), GraphSpec{Genes: genesNamed(t, "A", "B"), UnknownGenes: word, MaxDropped: new(1.0), GEM: GEMSpec{File: writeFile(t, "m.yml", text), ReactionNodes: nodes}})
			if word == "" || word == RefuseNames {
				checkFault(t, err, fault.Input, "m.yml:5", "reaction r2", `gene "X" is not in the graph`)
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", word, err)
			}
			checkAccounts(t, report)
			got := reportOf(t, report, "gene__gpr__reaction")
			const want = "2 of 5 entries of m.yml; dropped: 3 of unknown genes, which the rules keep; unknown names: X, Y"
			if !strings.HasSuffix(got.String(), want) {
				t.Errorf("%s %s: report\n%s\nwant its end to be\n%s", nodes, word, got, want)
			}
			reactions := reportOf(t, report, "reactions")
			if want := "whose genes are all unknown, so that no deletion removes them"; countOf(reactions.Noted, want) != 1 {
				t.Errorf("%s %s: report %s lacks %v", nodes, word, reactions, want)
			}
			if rules := graph.Reactions.Column("gpr"); rules[1] != "A and X" {
				t.Errorf("%s %s: rules %q, expected the rule of r2 as it is", nodes, word, rules)
			}
		}
	}
}

// A source of which more than a share of the rows name no gene is an error with the likely reason.
func TestMaxDropped(t *testing.T) {
	for _, test := range []struct {
		names, setting string // of the first of two columns, the other's are known; "" is an error at more than half
		hint           string // "" is no error
	}{
		{"A X", "", ""},
		{"A X Y", "", "max_dropped"},
		{"A X Y", "max_dropped: 0.7", ""},
		{"A X", "max_dropped: 0.4", "max_dropped"},
		{"A A A A", "max_dropped: 0", ""},
		{"A 851262 851263", "", "they look like Entrez gene ids"},
		{"A P38903 Q12345", "", "they look like UniProt accessions"},
		{"A S000000001 S000000002", "", "they look like SGD ids"},
		{"A 4932.A 4932.B", "", "they look like names with the prefix of an organism"},
		{"A yal001c yal002w-a", "", "they look like systematic names in lower case"},
		{"X Y", "max_dropped: 1", "other names with aliases"},
	} {
		spec, err := decodeSpec(t, "genes: {file: x, column: id}\nunknown_genes: drop-gene\n"+test.setting+
			"\nedges: [{file: x, relation: r, from: a, to: b, undirected: false}]")
		if err != nil {
			t.Fatal(err)
		}
		spec.Genes = genesNamed(t, "A", "B")
		text := "a\tb\n"
		for _, name := range strings.Fields(test.names) {
			text += name + "\tB\n"
		}
		spec.Edges[0].File = writeFile(t, "e.tsv", text)
		_, _, err = BuildGraph(opened(t), spec)
		switch {
		case test.hint == "" && err != nil:
			t.Errorf("%+v: %v", test, err)
		case test.hint != "":
			checkFault(t, err, fault.Input, "e.tsv for gene__r__gene")
			if hint := fault.HintOf(err); !strings.Contains(hint, test.hint) {
				t.Errorf("%+v: hint %q", test, hint)
			}
		}
	}
	_, _, err := BuildGraph(opened(t), GraphSpec{Genes: genesNamed(t, "A"), MaxDropped: new(50.0)})
	checkFault(t, err, fault.Usage, "max_dropped: found 50, expected a share from 0 to 1")
}
