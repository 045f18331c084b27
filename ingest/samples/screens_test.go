package samples_test

import (
	"slices"
	"strings"
	"testing"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

// screenGenes is a graph's gene list with SGD's names for it. SHARED means two genes.
func screenGenes(t testing.TB) (*ingest.Nodes, string) {
	t.Helper()
	features := inputs.WriteSGD(t, "ORF YAL001C TFC3 -", "ORF YAL002W VPS8 SHARED",
		"ORF YAL016C-B - SHARED", "ORF YDL227C HO -", "ORF YBR150C TBS1 -")
	genes, _ := ingest.NewNodes(ingest.Gene,
		[]string{"YAL001C", "YAL002W", "YAL016C-B", "YBR150C", "YDL227C"}, nil)
	return genes, features
}

// strainIDs and genePairs are columns without alleles and mutations.
var (
	strainIDs = []samples.StrainSpec{{Strain: "Query Strain ID"}, {Strain: "Array Strain ID"}}
	genePairs = []samples.StrainSpec{{Gene: "gene_a"}, {Gene: "gene_b"}}
)

// screenOf has the settings of a public source for a table, s.tsv, with other names of genes.
func screenOf(t testing.TB, source, text, features string) (spec samples.Spec) {
	t.Helper()
	if err := conf.DecodeSource(source, "perturbations", &spec); err != nil {
		t.Fatal(err)
	}
	spec.File, spec.Aliases = inputs.Write(t, "s.tsv", text), features
	return spec
}

// readScreen reads a whole screen: its samples as readTexts does, and its report as a line.
func readScreen(
	t testing.TB, s *samples.Set, err error, genes *ingest.Nodes,
) (texts []string, report string, _ error) {
	t.Helper()
	if err != nil {
		return nil, "", err
	}
	texts, _, err = readTexts(s, genes)
	if err == nil {
		check.Accounts(t, ingest.Accounts{s.Account()})
	}
	return texts, s.Account().String(), err
}

func checkSamples(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("samples\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const sgaHeader = "Query Strain ID\tQuery allele name\tArray Strain ID\tArray allele " +
	"name\tArraytype/Temp\tScore\tP-value\n"

func TestSGA(t *testing.T) {
	genes, aliases := screenGenes(t)
	text := sgaHeader +
		"YAL001C_tsq508\ttfc3-g349e\tYAL002W_dma1\tvps8\tDMA30\t-0.1\t0.5\n" +
		"YAL002W_sn2\tvps8\tYAL016C-B_dma7\tyal016c-b\tDMA30\t0.25\tNaN\n" +
		"YAL001C_damp3\ttfc3-damp\tYAL002W_dma1\tvps8\tDMA30\t1\t\n" +
		"YDL227C+YBR150C_tm4\thoΔ+tbs1Δ\tYAL002W_dma1\tvps8Δ\tDMA26\t2\t0\n" +
		"YBR150C+YAL002W_tm5\ttbs1Δ+vps8-1\tYAL016C-B_dma7\tyal016c-bΔ\tDMA26\t3\t0\n" +
		"YAL002W_sn2_supp1\tvps8-supp1\tYAL016C-B_dma7\tyal016c-b\tDMA30\t4\t0\n" +
		"SHARED_sn9\tshared\tYAL002W_dma1\tvps8\tDMA30\t5\t0\n" +
		"YZZ999W_sn9\tzzz1\tYAL002W_dma1\tvps8\tDMA30\t6\t0\n" +
		"TFC3_sn9\ttfc3\ttfc3_dma1\ttfc3\tDMA30\t7\t0\n"
	spec := screenOf(t, "costanzo2016", text, aliases)
	spec.UnknownGenes, spec.MaxDropped = ingest.DropSample, new(1.0)
	screen, err := openForm(spec, &ingest.Graph{Genes: genes})
	rows, report, err := readScreen(t, screen, err, genes)
	if err != nil {
		t.Fatal(err)
	}
	checkSamples(t, rows, []string{"1 YAL002W+YAL016C-B [0.25 NaN]", "3 YAL002W+YBR150C [2 0]"})
	const want = "samples: 2 of 9 entries of s.tsv; dropped: 1 of unknown genes, 1 of ambiguous " +
		"names, 1 of a gene with itself, " +
		"2 of allele kind ts, which is not among alleles, 1 of allele kind damp, which is not " +
		"among alleles, " +
		"1 of allele kind other, which is not among alleles; noted: " +
		"1 names of controls, which delete nothing; unknown names: SHARED, YZZ999W"
	if report != want {
		t.Errorf("report\n%s\nwant\n%s", report, want)
	}

	spec.Alleles = []samples.AlleleKind{
		samples.DeletionAllele, samples.DAmPAllele, samples.TSAllele, samples.OtherAllele,
	}
	spec.Controls = []string{"tbs1"}
	screen, err = openForm(spec, &ingest.Graph{Genes: genes})
	rows, _, err = readScreen(t, screen, err, genes)
	if err != nil {
		t.Fatal(err)
	}
	checkSamples(t, rows, []string{
		"0 YAL001C+YAL002W [-0.1 0.5]", "1 YAL002W+YAL016C-B [0.25 NaN]", "2 YAL001C+YAL002W [1 " +
			"NaN]", "3 YAL002W+YDL227C [2 0]",
		"4 YAL002W+YAL016C-B [3 0]", "5 YAL002W+YAL016C-B [4 0]",
	})

	spec.UnknownGenes = ""
	screen, err = openForm(spec, &ingest.Graph{Genes: genes})
	_, _, err = readScreen(t, screen, err, genes)
	check.Fault(t, err, fault.Input, "s.tsv:8", `"SHARED" is ambiguous`, "YAL002W and YAL016C-B")
}

// An ambiguous name of yeast means the same features in lower case, as alleles are written.
func TestAmbiguousAllele(t *testing.T) {
	genes, aliases := screenGenes(t)
	spec := screenOf(t, "kuzmin2018_links", "Triplete_Name seen\nshared_vps8Δ 1\ntfc3Δ 2\n",
		aliases)
	screen, err := openForm(spec, &ingest.Graph{Genes: genes})
	_, _, err = readScreen(t, screen, err, genes)
	check.Fault(t, err, fault.Input, "s.tsv:2",
		`"SHARED" is ambiguous: it is a name of YAL002W and YAL016C-B`)

	spec.UnknownGenes = ingest.DropSample
	screen, err = openForm(spec, &ingest.Graph{Genes: genes})
	if _, _, err = readScreen(t, screen, err, genes); err != nil {
		t.Fatal(err)
	}
	got := string(screen.DroppedNames())
	want := ingest.DroppedNamesHeader + "shared\tambiguous: YAL002W, YAL016C-B\t1\n"
	if got != want {
		t.Errorf("dropped names %q, want %q", got, want)
	}
}

func TestSGAOfAlleleNames(t *testing.T) {
	genes, aliases := screenGenes(t)
	spec := screenOf(t, "kuzmin2018_links",
		"Triplete_Name seen\nhoΔ_tfc3Δ_vps8∆ 1\nYAL016C-BΔ_hoΔ 2\ntfc3-1-7B_vps8Δ 3\n"+
			"yal016c-b-DAmP_vps8Δ 4\nhoΔ 5\n",
		aliases)
	spec.AllowWildtype = true
	spec.Alleles = []samples.AlleleKind{samples.DeletionAllele, samples.TSAllele}
	screen, err := openForm(spec, &ingest.Graph{Genes: genes})
	samples, _, err := readScreen(t, screen, err, genes)
	if err != nil {
		t.Fatal(err)
	}
	checkSamples(t, samples,
		[]string{"0 YAL001C+YAL002W [1]", "1 YAL016C-B [2]", "2 YAL001C+YAL002W [3]", "4  [5]"})
	spec.AllowWildtype = false
	screen, err = openForm(spec, &ingest.Graph{Genes: genes})
	_, _, err = readScreen(t, screen, err, genes)
	check.Fault(t, err, fault.Input, "s.tsv:6", "have only controls")
}

func TestEMAP(t *testing.T) {
	genes, aliases := screenGenes(t)
	text := "gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\tscore\n" +
		"VPS8\tYBR150C\tDELETION\tdelta ybr150c\t1\n" +
		"YAL001C\tYBR150C\tDAMP\tDELETION\t2\n" +
		"YAL001C\tYBR150C\tTFC3-19\tDELETION\t3\n" +
		"YAL001C\tYBR150C\tdelta yal002w\tDELETION\t4\n" +
		"YBR150C\tYAL001C\tTBS1\tDELETION\t\n"
	spec := screenOf(t, "emap", text, aliases)
	spec.MaxDropped = new(0.5)
	screen, err := openForm(spec, &ingest.Graph{Genes: genes})
	_, _, err = readScreen(t, screen, err, genes)
	check.Fault(t, err, fault.Input, "kept 1 of 5 entries; dropped: 1 of allele kind damp",
		"at most 50 %")
	spec.MaxDropped = new(0.6)
	screen, err = openForm(spec, &ingest.Graph{Genes: genes})
	samples, report, err := readScreen(t, screen, err, genes)
	if err != nil {
		t.Fatal(err)
	}
	checkSamples(t, samples, []string{"0 YAL002W+YBR150C [1]"})
	if !strings.Contains(report, "1 without a phenotype") {
		t.Errorf("report %s lacks the row without a score", report)
	}
	for _, kind := range []string{"damp", "ts", "other"} {
		if !strings.Contains(report, "1 of allele kind "+kind) {
			t.Errorf("report %s lacks %s", report, kind)
		}
	}
	spec.KeepUnmeasured = true
	screen, err = openForm(spec, &ingest.Graph{Genes: genes})
	samples, _, err = readScreen(t, screen, err, genes)
	if err != nil {
		t.Fatal(err)
	}
	checkSamples(t, samples, []string{"0 YAL002W+YBR150C [1]", "4 YAL001C+YBR150C [NaN]"})
}

func TestMatrix(t *testing.T) {
	genes, aliases := screenGenes(t)
	for name, text := range map[string]string{
		"named": "orf\tcold\tcold\nVPS8\t1\tNA\nYAL001C\t\t-2\nYZZ999W\t3\t4\nYAL002W\t5\t6\n",
		"R": "\"cold\"\t\"cold\"\n\"VPS8\"\t1\tNA\n\"YAL001C\"\t\t-2\n\"YZZ999W\"\t3\t4\n" +
			"\"YAL002W\"\t5\t6\n",
	} {
		spec := screenOf(t, "matrix", text, aliases)
		spec.UnknownGenes, spec.AllowDuplicateIDs = ingest.DropSample, true
		screen, err := openForm(spec, &ingest.Graph{Genes: genes})
		samples, report, err := readScreen(t, screen, err, genes)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkSamples(t, samples, []string{
			"VPS8: cold YAL002W [1]", "YAL001C: cold YAL001C [-2]", "YAL002W: cold YAL002W [5]",
			"YAL002W: cold YAL002W [6]",
		})
		const want = "samples: 4 of 8 entries of s.tsv; dropped: 2 of unknown genes, 2 without a " +
			"phenotype; " +
			"noted: 4 rows, 1 rows of a gene that has an earlier row; unknown names: YZZ999W"
		if report != want {
			t.Errorf("%s: report\n%s\nwant\n%s", name, report, want)
		}
	}
}

func TestScreenErrors(t *testing.T) {
	genes, aliases := screenGenes(t)
	read := func(source, text string, change func(*samples.Spec)) error {
		spec := screenOf(t, source, text, aliases)
		if change != nil {
			change(&spec)
		}
		screen, err := openForm(spec, &ingest.Graph{Genes: genes})
		_, _, err = readScreen(t, screen, err, genes)
		return err
	}
	const row = "VPS8_sn1\tvps8\tYAL001C_dma1\ttfc3\tx\t1\t1\n"
	for _, c := range []struct {
		source, text string
		change       func(*samples.Spec)
		want         []string
	}{
		{
			source: "costanzo2016",
			text:   "a\tb\n1\t2\n",
			want:   []string{`no column "Query Strain ID"`, "a, b"},
		},
		{
			source: "costanzo2016",
			text:   sgaHeader + "YAL001C+YAL002W_tm1\ttfc3Δ\tYAL002W_dma1\tvps8\tx\t1\t1\n",
			want:   []string{"s.tsv:2", "2 genes", "and 1 in its allele name"},
		},
		{
			source: "costanzo2016",
			text:   sgaHeader + "_tm1\ttfc3Δ\tYAL002W_dma1\tvps8\tx\t1\t1\n",
			want:   []string{"s.tsv:2", "empty gene name"},
		},
		{
			source: "costanzo2016",
			text:   sgaHeader + "VPS8_sn1\tvps8\tYAL001C_dma1\ttfc3\tx\t1\tInf\n",
			want:   []string{"s.tsv:2", "P-value", "infinite"},
		},
		{
			source: "costanzo2016",
			text:   sgaHeader + row,
			change: func(s *samples.Spec) { s.Strains = []samples.StrainSpec{{Alleles: "x"}} },
			want:   []string{`"x"`},
		},
		{
			source: "kuzmin2018_links",
			text:   "Triplete_Name x\ntfc3Δ__vps8Δ 1\n",
			want:   []string{"s.tsv:2", "empty allele name"},
		},
		{source: "matrix", text: "orf\tx\n", want: []string{"found 1 row,"}},
		{
			source: "matrix",
			text:   "orf\tx\ty\tz\nA\t1\n",
			want:   []string{"found 4 fields in the header and 2 in the first row"},
		},
		{source: "matrix", text: "orf\nA\n", want: []string{"a single column"}},
		{source: "matrix", text: "orf\tx\nVPS8\tone\n", want: []string{"s.tsv:2"}},
		{source: "matrix", text: "orf\tx\nNONE1\t1\n", want: []string{`"NONE1"`}},
	} {
		check.Fault(t, read(c.source, c.text, c.change), fault.Input, c.want...)
	}
	for want, change := range map[string]func(*samples.Spec){
		`"dead"`: func(s *samples.Spec) {
			s.Alleles = []samples.AlleleKind{"dead"}
		},
		`"drop"`:   func(s *samples.Spec) { s.UnknownGenes = "drop" },
		"synonyms": func(s *samples.Spec) { s.Synonyms = "drop-gene" },
		"strains.0: expected strain,": func(s *samples.Spec) {
			s.Strains = []samples.StrainSpec{{Strain: "a", Gene: "b"}}
		},
		"strains.1: expected strain,": func(s *samples.Spec) {
			s.Strains[1] = samples.StrainSpec{Allele: "a"}
		},
		"both strains and matrix": func(s *samples.Spec) { s.Matrix = true },
		"genes_columns":           func(s *samples.Spec) { s.GenesColumns = []string{"a"} },
		"columns_are":             func(s *samples.Spec) { s.ColumnsAre = samples.SecondGenes },
		"alleles": func(s *samples.Spec) {
			s.Strains = nil
			s.Alleles = []samples.AlleleKind{samples.TSAllele}
		},
		"phenotypes": func(s *samples.Spec) {
			s.Strains, s.Matrix, s.Controls, s.Phenotypes = nil, true, nil, []string{"a"}
		},
	} {
		check.Fault(t, read("costanzo2016", sgaHeader+row, change), fault.Usage, want)
	}
}

// Each source that has samples reads its own example.
func TestScreenSources(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene,
		[]string{"YAL002W", "YAL010C", "YAL011W", "YAL013W", "YDL227C", "YFL039C", "YOR085W"},
		nil)
	features := inputs.WriteSGD(t, "ORF YFL039C ACT1 -", "ORF YOR085W OST3 -", "ORF YDL227C HO -")
	for _, source := range conf.Sources() {
		if !slices.Contains(source.Sections, "perturbations") {
			continue
		}
		spec := screenOf(t, source.Name, source.Example, features)
		spec.Alleles = samples.AlleleKinds
		screen, err := openForm(spec, &ingest.Graph{Genes: genes})
		samples, report, err := readScreen(t, screen, err, genes)
		if err != nil || len(samples) == 0 || len(screen.Account().Dropped) > 0 {
			t.Errorf("%s: %d samples, %v, %s", source.Name, len(samples), err, report)
		}
	}
}

// TestChosenAlleles checks that rows dropped for a choice of alleles do not count towards
// max_dropped, and that those dropped by default do.
func TestChosenAlleles(t *testing.T) {
	genes, aliases := screenGenes(t)
	text := sgaHeader +
		"YAL001C_tsq508\ttfc3-g349e\tYAL002W_dma1\tvps8\tDMA30\t-0.1\t0.5\n" +
		"YAL001C_tsq509\ttfc3-g350e\tYAL002W_dma1\tvps8\tDMA30\t-0.2\t0.5\n" +
		"YAL002W_sn2\tvps8\tYAL016C-B_dma7\tyal016c-b\tDMA30\t0.25\t0.5\n"
	for _, test := range []struct {
		alleles []samples.AlleleKind
		wrong   string
	}{
		{nil, "expected to lose at most 50 %"},
		{[]samples.AlleleKind{samples.DeletionAllele}, ""},
		{[]samples.AlleleKind{samples.DAmPAllele}, "kept 0 of 3 entries"},
	} {
		spec := screenOf(t, "costanzo2016", text, aliases)
		spec.Alleles = test.alleles
		screen, err := openForm(spec, &ingest.Graph{Genes: genes})
		rows, _, err := readScreen(t, screen, err, genes)
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%v: got %v, want %s", test.alleles, err, test.wrong)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		checkSamples(t, rows, []string{"2 YAL002W+YAL016C-B [0.25 0.5]"})
	}
}
