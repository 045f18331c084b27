package source

import (
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// sgdFile writes rows of type, systematic name, standard name and aliases as SGD_features.tab.
func sgdFile(t testing.TB, rows ...string) string {
	t.Helper()
	var text strings.Builder
	for _, row := range rows {
		f := strings.Split(row, " ")
		text.WriteString("S1\t" + f[0] + "\tVerified\t" + f[1] + "\t" + f[2] + "\t" + f[3] + strings.Repeat("\t", 10) + "\n")
	}
	return writeFile(t, "SGD_features.tab", strings.ReplaceAll(text.String(), "-\t", "\t"))
}

func TestNames(t *testing.T) {
	path := sgdFile(t,
		"ORF YAL1W STD1 OLD1|SHARED|LOCAL",
		"ORF YAL2W STD2 STD1|SHARED|OTHER",
		"CDS - - -",
		"ORF YAL3W - YAL4W|SNR1",
		"ORF YAL4W STD4 -",
		"snoRNA_gene snR1 SNR1 OTHER|AWAY",
		"tRNA_gene tA tA AWAY",
	)
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"YAL1W", "YAL2W", "YAL3W", "YAL5W"}, nil)
	names, report, err := ReadNames(opened(t), path, genes)
	if err != nil {
		t.Fatal(err)
	}
	checkAccounts(t, Report{report})
	if want := "aliases: 6 of 7 entries of SGD_features.tab; dropped: 1 without a systematic name; " +
		"noted: 3 names of several features, which mean none of them"; report.String() != want {
		t.Errorf("report is %q, want %q", report, want)
	}
	for _, test := range []struct {
		name, id string
		result   found
	}{
		{"YAL1W", "YAL1W", gene},
		{"STD1", "YAL1W", gene}, // before the alias of YAL2W
		{"OLD1", "YAL1W", gene},
		{"LOCAL", "YAL1W", gene},
		{"YAL5W", "YAL5W", gene},  // a gene that is not in the features
		{"SHARED", "", ambiguous}, // of two genes
		{"OTHER", "", ambiguous},  // of a gene and another feature
		{"AWAY", "", unknown},     // of features, none of which is a gene
		// the name of a feature that is not a gene, not an alias of YAL3W
		{"YAL4W", "", unknown},
		{"SNR1", "", unknown}, // a standard name before the alias of YAL3W
		{"std1", "", unknown}, // case matters
		{"", "", unknown},
	} {
		row, result := names.find([]byte(test.name))
		if result != test.result || result == gene && genes.IDs[row] != test.id {
			t.Errorf("find(%q) = row %d, %v; want %q, %v", test.name, row, result, test.id, test.result)
		}
	}
	if got := names.describe("SHARED", ambiguous); !strings.Contains(got, "YAL1W and YAL2W") {
		t.Errorf("the ambiguous name is described as %q", got)
	}
	if n := testing.AllocsPerRun(100, func() { names.find([]byte("YAL2W")); names.find([]byte("OLD1")) }); n > 0 {
		t.Errorf("two look-ups allocate %v times", n)
	}
}

func TestGeneList(t *testing.T) {
	path := sgdFile(t, "ORF YB - -", "CDS - - -", "ORF YA-1 - -", "snoRNA_gene snR1 - -", "ORF YA - -")
	genes, report, err := readGenes(opened(t), GenesSpec{SGDFeatures: path, FeatureType: "ORF"})
	if err != nil {
		t.Fatal(err)
	}
	checkAccounts(t, Report{report})
	if got := strings.Join(genes.IDs, " "); got != "YA YA-1 YB" {
		t.Errorf("ids are %s, expected YA YA-1 YB", got)
	}
}

func TestGeneListErrors(t *testing.T) {
	table := func(text, column string) GenesSpec {
		return GenesSpec{Table: &GeneTable{TextSpec: TextSpec{File: writeFile(t, "g.tsv", text)}, Column: column}}
	}
	for _, test := range []struct {
		name  string
		spec  GenesSpec
		wants []string
	}{
		{"duplicate", table("x\tid\n1\tB\n2\tA\n3\tB\n", "id"), []string{"g.tsv:4", `"B"`, "g.tsv:2"}},
		{"empty id", table("x\tid\n1\tB\n2\t\n", "1"), []string{"g.tsv:3", "is empty"}},
		{"no such column", table("x\tid\n1\tB\n", "gene"), []string{"g.tsv", `no column "gene"`, "x, id"}},
		{"number out of range", table("x\tid\n1\tB\n", "2"), []string{`no column "2"`}},
		{"none of the type", GenesSpec{SGDFeatures: sgdFile(t, "CDS - - -"), FeatureType: "ORF"}, []string{"found no genes in 1 rows"}},
		{"nameless", GenesSpec{SGDFeatures: sgdFile(t, "ORF A - -", "ORF - - -"), FeatureType: "ORF"}, []string{"SGD_features.tab:2", "column 4"}},
		{"no type", GenesSpec{SGDFeatures: sgdFile(t, "- A - -"), FeatureType: "ORF"}, []string{"SGD_features.tab:1", "column 2"}},
		{"columns missing", GenesSpec{SGDFeatures: writeFile(t, "f.tab", "S1\tORF\n"), FeatureType: "ORF"}, []string{"f.tab:1", "2", "16"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := readGenes(opened(t), test.spec)
			checkFault(t, err, fault.Input, test.wants...)
		})
	}
}
