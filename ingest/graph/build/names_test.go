package build

import (
	"fmt"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

func TestNames(t *testing.T) {
	path := inputs.WriteSGD(t,
		"ORF YAL1W STD1 OLD1|SHARED|LOCAL",
		"ORF YAL2W STD2 STD1|SHARED|OTHER",
		"CDS - - -",
		"ORF YAL3W - YAL4W|SNR1",
		"ORF YAL4W STD4 -",
		"snoRNA_gene snR1 SNR1 OTHER|AWAY",
		"tRNA_gene tA tA AWAY",
	)
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"YAL1W", "YAL2W", "YAL3W", "YAL5W"}, nil)
	builder := names.NewBuilder(genes, 0)
	report, err := builder.ReadTables(inputs.Opened(t), sgdAliases(t, path))
	known := builder.Resolver(false)
	if err != nil {
		t.Fatal(err)
	}
	check.Accounts(t, report)
	want := "aliases: 3 of 7 entries of SGD_features.tab; dropped: 1 without a systematic name, " +
		"3 of genes that are not in the graph; " +
		"noted: 3 names of several features, which mean none of them; unknown names: AWAY, " +
		"OTHER, SHARED"
	if report[0].String() != want {
		t.Errorf("report is %q, want %q", report[0], want)
	}
	for _, test := range []struct {
		name, id string
		meaning  names.Meaning
	}{
		{"YAL1W", "YAL1W", names.Gene},
		{"STD1", "YAL1W", names.Gene}, // before the alias of YAL2W
		{"OLD1", "YAL1W", names.Gene},
		{"LOCAL", "YAL1W", names.Gene},
		{"S000000002", "YAL2W", names.Gene},
		{"YAL5W", "YAL5W", names.Gene},  // a gene that is not in the features
		{"SHARED", "", names.Ambiguous}, // of two genes
		{"OTHER", "", names.Ambiguous},  // of a gene and another feature
		{"AWAY", "", names.NotInGraph},  // of two features outside the graph
		// the name of a feature that is not a gene, not an alias of YAL3W
		{"YAL4W", "", names.NotInGraph},
		{"SNR1", "", names.NotInGraph}, // a standard name before the alias of YAL3W
		{"std1", "", names.Unknown},    // case matters
		{"", "", names.Unknown},
	} {
		answer := known.Find([]byte(test.name))
		if answer.Meaning != test.meaning ||
			test.meaning == names.Gene && known.ID(answer) != test.id {
			t.Errorf("Find(%q) = %v, want %q, %v", test.name, answer, test.id, test.meaning)
		}
	}
	if got := known.Explain([]byte("SHARED")).Error(); !strings.Contains(got, "YAL1W and YAL2W") {
		t.Errorf("the ambiguous name is described as %q", got)
	}
}

// Tables add names of other databases to those that are known before them.
func TestNamesOfTables(t *testing.T) {
	features := inputs.WriteSGD(t, "ORF YA STDA OLD", "ORF YB STDB -", "ORF YC - -")
	first := inputs.Write(t, "uniprot.tsv",
		"entry\tlocus\tgene\nP1\tYA\tx|y z\nP2\tSTDB\tx\nP3\tYX\t\nOLD\tYC\t\nP4\t\tw\n")
	second := inputs.Write(t, "entrez.csv", "P1,GeneID:7\nP2,GeneID:8\nYC,9\n")
	spec, err := decodeSpec(t, "aliases:\n  - {source: sgd_features, file: "+features+`}
  - {file: `+first+`, id: locus, names: [entry, gene], split: "|"}
  - {file: `+second+`, columns: [a, b], id: a, names: [b], strip_prefix: "GeneID:"}
edges:
  - {file: `+inputs.Write(t, "e.tsv",
		"a\tb\nP1\t8\n7\t9\nOLD\tYB\nS000000003\ty z\nx\tYA\nP4\tYA\n")+
		`, relation: r, from: a, to: b, undirected: false}
unknown_genes: drop-gene
`)
	if err != nil {
		t.Fatal(err)
	}
	spec.Genes = genesNamed(t, "YA", "YB", "YC")
	g, report, err := Graph(inputs.Opened(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	check.Accounts(t, report)
	if got := check.EdgeText(g.Edges[0], g.Genes, g.Genes); got != "YA-YB YA-YC YA-YB YC-YA" {
		t.Errorf("edges %s", got)
	}
	const want = "aliases: 3 of 3 entries of SGD_features.tab\n" +
		"aliases: 3 of 5 entries of uniprot.tsv; dropped: 1 without an id, 1 of genes that are " +
		"not in the graph; " +
		"noted: 1 names of several features, which mean none of them; unknown names: x\n" +
		"aliases: 3 of 3 entries of entrez.csv\n" +
		"gene__r__gene: 4 of 6 entries of e.tsv; dropped: 1 of unknown genes, 1 of ambiguous " +
		"names; " +
		"noted: 1 kept although an earlier row has the same genes, 1 names read as alias, 1 " +
		"names read as SGD id, " +
		"2 names read as name in uniprot.tsv, 3 names read as name in entrez.csv; unknown names: " +
		"P4, x"
	if got := strings.Join(reportLines(report[1:]), "\n"); got != want {
		t.Errorf("report\n%s\nwant\n%s", got, want)
	}
	for settings, want := range map[string]string{
		"{file: f, names: [a]}": "settings.yaml:1: aliases.0.id: missing",
		"{file: f, id: a}":      "settings.yaml:1: aliases.0.names: missing",
		"{file: " + first + ", id: locus, names: [Ensembl]}": `no column "Ensembl"`,
		"{file: " + first + ", id: entry, names: [locus]}":   "kept 0 of 5 entries",
	} {
		spec, err := decodeSpec(t, "aliases: ["+settings+"]")
		if err != nil {
			t.Fatal(err)
		}
		spec.Genes = genesNamed(t, "YA")
		if _, _, err = Graph(inputs.Opened(t), spec); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", settings, err, want)
		}
	}
}

// Names of a gene that is not in the graph match no other gene. Within a table, earlier columns of
// names take precedence over later ones, and a name with several owners matches none.
func TestNamesOfGenesOutsideTheGraph(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B", "C", "D", "NAME"}, nil)
	text := "orf,name,alias\n" +
		"A,ALPHA,OUT1|OUT2|TWO|BETA|X3\n" + // OUT1 and X3 are others' names
		"X1,OUT1,TWO\n" +
		"X2,OUT2,\n" +
		"B,BETA,X1|NAME\n" + // the ids of another gene, in the graph or not
		"X3,OUT3,OUT4\n" +
		"X4,OUT3,OUT4\n" +
		"C,OUT5,\n" +
		"X5,OUT5,\n"
	tables := []names.AliasTable{
		{
			TextSpec: table.TextSpec{File: inputs.Write(t, "own.csv", text)},
			ID:       "orf",
			Names:    []string{"name", "alias"},
			Split:    "|",
		},
		{TextSpec: table.TextSpec{
			File: inputs.Write(t, "more.csv",
				"gene,entry\nOUT1,P1\nALPHA,P2\nY,P3\nD,P3|OUT1|Y|OUT3\nTWO,P4\nD,P4\n"),
		},
			ID: "gene", Names: []string{"entry"}, Split: "|"},
	}
	builder := names.NewBuilder(genes, 0)
	_, err := builder.ReadTables(inputs.Opened(t), tables)
	known := builder.Resolver(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, want string }{
		{"A", "A"}, {"ALPHA", "A"}, {"BETA", "B"}, {"NAME", "NAME"}, {"P2", "A"},
		{"OUT1", `gene "OUT1" (X1) is not in the graph (5 genes)`},
		{"OUT2", `gene "OUT2" (X2) is not in the graph (5 genes)`},
		{"OUT3", `gene "OUT3" (X3 or X4) is not in the graph (5 genes)`},
		{"X1", `gene "X1" is not in the graph (5 genes)`},
		{"X3", `gene "X3" is not in the graph (5 genes)`},
		{"TWO", `name "TWO" is ambiguous: it is a name of A and X1`},
		{"OUT5", `name "OUT5" is ambiguous: it is a name of C and X5`},
		{"P1", `gene "P1" (X1) is not in the graph (5 genes)`},
		{"P3", `name "P3" is ambiguous: it is a name of Y and D`},
		{"Y", `gene "Y" is not in the graph (5 genes)`},
		{"P4", `name "P4" is ambiguous: it is a name of A and X1 and D`},
	} {
		row, err := known.Row(c.name)
		got := fmt.Sprint(err)
		if err == nil {
			got = genes.IDs[row]
		}
		if got != c.want {
			t.Errorf("%s is read as %s, expected %s", c.name, got, c.want)
		}
	}
}

// A date matches no gene: Excel makes the same one of MARC1 and MARCH1.
func TestDatesAmongNames(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B"}, nil)
	file := inputs.Write(t, "hgnc.tsv",
		"id\tsymbol\talias\nA\t1-Mar\tAXOT\nB\tMTARC1\t1-Mar|MOSC1\n")
	builder := names.NewBuilder(genes, 0)
	report, err := builder.ReadTables(inputs.Opened(t), []names.AliasTable{
		{
			TextSpec: table.TextSpec{File: file},
			ID:       "id",
			Names:    []string{"symbol", "alias"},
			Split:    "|",
		},
	})
	known := builder.Resolver(false)
	if err != nil {
		t.Fatal(err)
	}
	want := "aliases: 2 of 2 entries of hgnc.tsv; noted: 2 names that Excel made dates, which " +
		"mean no gene"
	if report[0].String() != want {
		t.Errorf("got %s, want %s", report[0], want)
	}
	err = known.Explain([]byte("1-Mar"))
	if got := err.Error(); !strings.Contains(got, `"1-Mar" (a date, as Excel makes`) {
		t.Errorf("the date is described as %s", got)
	}
	if got := fault.HintOf(err); !strings.HasPrefix(got, "write the gene's name again; in Excel") {
		t.Errorf("the hint for a date is %s", got)
	}
}

// A name of a gene outside the graph matches no other gene in edges either.
func TestEdgesOfGenesOutsideTheGraph(t *testing.T) {
	file := inputs.Write(t, "own.tsv",
		"orf\tname\talias\nYOL130W\tALR1\tSWC3\nYAL011W\tSWC3\tSWC1\nYAL001C\tTFC3\t\n")
	spec, err := decodeSpec(t, "aliases: [{file: "+file+
		", id: orf, names: [name, alias]}]\nedges:\n"+
		"  - {file: "+inputs.Write(t, "e.tsv", "a\tb\nTFC3\tALR1\nTFC3\tSWC3\n")+
		", relation: r, from: a, to: b, undirected: false}\n")
	if err != nil {
		t.Fatal(err)
	}
	spec.Genes = genesNamed(t, "YAL001C", "YOL130W")
	_, _, err = Graph(inputs.Opened(t), spec)
	check.Fault(t, err, fault.Input, "e.tsv:3",
		`gene "SWC3" (YAL011W) is not in the graph (2 genes)`)
}

func TestGeneList(t *testing.T) {
	path := inputs.WriteSGD(t, "ORF YB - -", "CDS - - -", "ORF YA-1 - -", "snoRNA_gene snR1 - -",
		"ORF YA - -")
	cell, accounts, err := Graph(inputs.Opened(t), Spec{Genes: sgdGenes(t, path)})
	if err != nil {
		t.Fatal(err)
	}
	check.Accounts(t, accounts)
	if got := strings.Join(cell.Genes.IDs, " "); got != "YA YA-1 YB" {
		t.Errorf("ids are %s, expected YA YA-1 YB", got)
	}
}

func TestGeneListErrors(t *testing.T) {
	table := func(text, column string) GenesSpec {
		return GenesSpec{
			TextSpec: table.TextSpec{File: inputs.Write(t, "g.tsv", text)}, Column: column,
		}
	}
	for _, test := range []struct {
		name  string
		spec  GenesSpec
		wants []string
	}{
		{"duplicate", table("x\tid\n1\tB\n2\tA\n3\tB\n", "id"),
			[]string{"g.tsv:4", `"B"`, "g.tsv:2"}},
		{"empty id", table("x\tid\n1\tB\n2\t\n", "id"), []string{"g.tsv:3", "is empty"}},
		{"no such column", table("x\tid\n1\tB\n", "gene"),
			[]string{"g.tsv", `no column "gene"`, "x, id"}},
		{"a date", table("x\tid\n1\tMARCH2\n2\tsep-1\n3\t1-Mar\n", "id"),
			[]string{"g.tsv:4", `"1-Mar" is a date, as Excel makes of names such as SEP7`}},
		{"a number", table("x\tid\n1\tB\n", "1"), []string{`no column "1"`}},
		{"none of the type", sgdGenes(t, inputs.WriteSGD(t, "CDS - - -")),
			[]string{"found no genes in 1 row,"}},
		{"nameless", sgdGenes(t, inputs.WriteSGD(t, "ORF A - -", "ORF - - -")),
			[]string{"SGD_features.tab:2", `column "feature_name": id "" is empty`}},
		{"columns missing", sgdGenes(t, inputs.Write(t, "f.tab", "S1\tORF\n")),
			[]string{"f.tab:1", "2", "16"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := Graph(inputs.Opened(t), Spec{Genes: test.spec})
			check.Fault(t, err, fault.Input, test.wants...)
		})
	}
}

// TestGeneListNames checks that a gene list with an id that a perturbation set could not name is an
// error.
func TestGeneListNames(t *testing.T) {
	for id, want := range map[string]string{
		"": "empty", " YA": "a space", "YA ": "a space", "YA|YB": "contains a |", "Y\xff": "UTF-8",
	} {
		table := GenesSpec{
			TextSpec: table.TextSpec{File: inputs.Write(t, "g.tsv", "id\tx\nYC\t1\n"+id+"\t2\n")},
			Column:   "id",
		}
		_, _, err := Graph(inputs.Opened(t), Spec{Genes: table})
		check.Fault(t, err, fault.Input, "g.tsv:3", want)
	}
	for _, word := range []ingest.UnknownGenes{ingest.RefuseUnknownGenes, ingest.DropGene} {
		edges := networks.Spec{
			TextSpec:   table.TextSpec{File: inputs.Write(t, "e.tsv", "a\tb\nA\tB\nA \tB\n")},
			Relation:   "r",
			From:       []string{"a"},
			To:         []string{"b"},
			Undirected: new(false),
		}
		_, _, err := Graph(inputs.Opened(t), Spec{
			Genes: genesNamed(t, "A", "B"), UnknownGenes: word, Edges: []networks.Spec{edges},
		})
		check.Fault(t, err, fault.Input, "e.tsv:3", `column "a"`, `"A "`, "spaces")
	}
}
