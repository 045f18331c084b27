package source

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// screenGenes is a graph's gene list with SGD's names for it. SHARED means two genes.
func screenGenes(t testing.TB) (*ingest.Nodes, AliasesSpec) {
	t.Helper()
	features := sgdFile(t, "ORF YAL001C TFC3 -", "ORF YAL002W VPS8 SHARED", "ORF YAL016C-B - SHARED", "ORF YDL227C HO -", "ORF YBR150C TBS1 -")
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"YAL001C", "YAL002W", "YAL016C-B", "YBR150C", "YDL227C"}, nil)
	return genes, AliasesSpec{SGDFeatures: features}
}

// readScreen reads a whole screen: per sample "id genes values", and its report as a line.
func readScreen(t testing.TB, s *Screen, err error, genes *ingest.Nodes) (samples []string, report string, _ error) {
	t.Helper()
	if err != nil {
		return nil, "", err
	}
	_, err = s.Scan(func(batch *ingest.Samples) error {
		for i := range batch.Len() {
			samples = append(samples, sampleText(batch, i, genes))
		}
		return nil
	})
	if err == nil {
		checkAccounts(t, Report{s.Report()})
	}
	return samples, s.Report().String(), err
}

func checkSamples(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("samples\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const sgaHeader = "Query Strain ID\tQuery allele name\tArray Strain ID\tArray allele name\tArraytype/Temp\tScore\tP-value\n"

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
	spec := SGASpec{StrainsSpec: StrainsSpec{SampleSpec: SampleSpec{
		TextSpec: TextSpec{File: writeFile(t, "sga.txt", text)}, Aliases: aliases, UnknownGenes: ingest.DropSample,
	}}}
	screen, err := spec.Open(genes)
	samples, report, err := readScreen(t, screen, err, genes)
	if err != nil {
		t.Fatal(err)
	}
	checkSamples(t, samples, []string{"1 YAL002W+YAL016C-B [0.25 NaN]", "3 YAL002W+YBR150C [2 0]", "8 YAL001C [7 0]"})
	const want = "SGA samples: 3 of 9 entries of sga.txt; dropped: 1 of unknown genes, 1 of ambiguous names, " +
		"1 of allele kind damp, which is not among --alleles, 2 of allele kind ts, which is not among --alleles, " +
		"1 of allele kind other, which is not among --alleles; noted: 1 genes listed again in their sample and merged, " +
		"1 with a marker, which counts as no deletion; unknown names: SHARED, YZZ999W"
	if report != want {
		t.Errorf("report\n%s\nwant\n%s", report, want)
	}

	spec.Alleles = []AlleleKind{DeletionAllele, DAmPAllele, TSAllele, OtherAllele}
	spec.Controls = []string{"tbs1"}
	screen, err = spec.Open(genes)
	samples, _, err = readScreen(t, screen, err, genes)
	if err != nil {
		t.Fatal(err)
	}
	checkSamples(t, samples, []string{
		"0 YAL001C+YAL002W [-0.1 0.5]", "1 YAL002W+YAL016C-B [0.25 NaN]", "2 YAL001C+YAL002W [1 NaN]", "3 YAL002W+YDL227C [2 0]",
		"4 YAL002W+YAL016C-B [3 0]", "5 YAL002W+YAL016C-B [4 0]", "8 YAL001C [7 0]",
	})

	spec.UnknownGenes = ""
	screen, err = spec.Open(genes)
	_, _, err = readScreen(t, screen, err, genes)
	checkFault(t, err, fault.Input, "sga.txt:8", `"SHARED" is ambiguous`, "YAL002W and YAL016C-B")
}

func TestSGAOfAlleleNames(t *testing.T) {
	genes, aliases := screenGenes(t)
	spec := SGASpec{AlleleColumns: []string{"name"}, StrainsSpec: StrainsSpec{
		SampleSpec: SampleSpec{TextSpec: TextSpec{Delimiter: "space", File: writeFile(t, "links.txt",
			"name seen\nhoΔ_tfc3Δ_vps8∆ 1\nYAL016C-BΔ_hoΔ 2\ntfc3-1-7B_vps8Δ 3\nyal016c-b-DAmP_vps8Δ 4\nhoΔ 5\n")},
			Aliases: aliases, AllowWildtype: true},
		Alleles: []AlleleKind{DeletionAllele, TSAllele},
	}}
	screen, err := spec.Open(genes)
	samples, _, err := readScreen(t, screen, err, genes)
	if err != nil {
		t.Fatal(err)
	}
	checkSamples(t, samples, []string{"0 YAL001C+YAL002W [1]", "1 YAL016C-B [2]", "2 YAL001C+YAL002W [3]", "4  [5]"})
	spec.AllowWildtype = false
	screen, err = spec.Open(genes)
	_, _, err = readScreen(t, screen, err, genes)
	checkFault(t, err, fault.Input, "links.txt:6", "deletes no gene")
}

func TestEMAP(t *testing.T) {
	genes, aliases := screenGenes(t)
	text := "gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\tscore\n" +
		"VPS8\tYBR150C\tDELETION\tdelta ybr150c\t1\n" +
		"YAL001C\tYBR150C\tDAMP\tDELETION\t2\n" +
		"YAL001C\tYBR150C\tTFC3-19\tDELETION\t3\n" +
		"YAL001C\tYBR150C\tdelta yal002w\tDELETION\t4\n" +
		"YBR150C\tYAL001C\tTBS1\tDELETION\t\n"
	spec := EMAPSpec{StrainsSpec: StrainsSpec{SampleSpec: SampleSpec{TextSpec: TextSpec{File: writeFile(t, "pairs.tsv", text)}, Aliases: aliases}}}
	screen, err := spec.Open(genes)
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
	screen, err = spec.Open(genes)
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
		"R":     "\"cold\"\t\"cold\"\n\"VPS8\"\t1\tNA\n\"YAL001C\"\t\t-2\n\"YZZ999W\"\t3\t4\n\"YAL002W\"\t5\t6\n",
	} {
		spec := MatrixSpec{SampleSpec: SampleSpec{TextSpec: TextSpec{File: writeFile(t, "wide.tsv", text)}, Aliases: aliases, UnknownGenes: ingest.DropSample, AllowDuplicateIDs: true}}
		screen, err := spec.Open(genes)
		samples, report, err := readScreen(t, screen, err, genes)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkSamples(t, samples, []string{"VPS8: cold YAL002W [1]", "YAL001C: cold YAL001C [-2]", "YAL002W: cold YAL002W [5]", "YAL002W: cold YAL002W [6]"})
		const want = "matrix samples: 4 of 8 entries of wide.tsv; dropped: 2 of unknown genes, 2 without a phenotype; " +
			"noted: 4 rows, 1 rows of a gene that has an earlier row; unknown names: YZZ999W"
		if report != want {
			t.Errorf("%s: report\n%s\nwant\n%s", name, report, want)
		}
	}
}

func TestScreenErrors(t *testing.T) {
	genes, aliases := screenGenes(t)
	sga := func(text string, change func(*SGASpec)) error {
		spec := SGASpec{StrainsSpec: StrainsSpec{SampleSpec: SampleSpec{TextSpec: TextSpec{File: writeFile(t, "s.tsv", text)}, Aliases: aliases}}}
		if change != nil {
			change(&spec)
		}
		screen, err := spec.Open(genes)
		_, _, err = readScreen(t, screen, err, genes)
		return err
	}
	checkFault(t, sga("a\tb\n1\t2\n", nil), fault.Input, `no column "query strain id"`, "a, b")
	checkFault(t, sga(sgaHeader+"YAL001C+YAL002W_tm1\ttfc3Δ\tYAL002W_dma1\tvps8\tx\t1\t1\n", nil), fault.Input, "s.tsv:2", "2 genes", "and 1 in its allele name")
	checkFault(t, sga(sgaHeader+"_tm1\ttfc3Δ\tYAL002W_dma1\tvps8\tx\t1\t1\n", nil), fault.Input, "s.tsv:2", "empty gene name")
	checkFault(t, sga(sgaHeader+"VPS8_sn1\tvps8\tYAL001C_dma1\ttfc3\tx\t1\tInf\n", nil), fault.Input, "s.tsv:2", "P-value", "infinite")
	checkFault(t, sga(sgaHeader, func(s *SGASpec) { s.Alleles = []AlleleKind{"dead"} }), fault.Usage, `"dead"`)
	checkFault(t, sga(sgaHeader, func(s *SGASpec) { s.UnknownGenes = "drop" }), fault.Usage, `"drop"`)
	checkFault(t, sga(sgaHeader, func(s *SGASpec) { s.AlleleColumns = []string{"x"} }), fault.Input, `"x"`)

	for _, test := range []struct{ text, want string }{
		{"orf\tx\n", "found 1 row,"}, {"orf\tx\ty\tz\nA\t1\n", "found 4 fields in the header and 2 in the first row"},
		{"orf\nA\n", "a single column"}, {"orf\tx\nVPS8\tone\n", "s.tsv:2"}, {"orf\tx\nNONE1\t1\n", `"NONE1"`},
	} {
		spec := MatrixSpec{SampleSpec: SampleSpec{TextSpec: TextSpec{File: writeFile(t, "s.tsv", test.text)}, Aliases: aliases}}
		screen, err := spec.Open(genes)
		_, _, err = readScreen(t, screen, err, genes)
		checkFault(t, err, fault.Input, test.want)
	}
}

// TestRealScreens checks totals of the published screens, counted independently of this code.
func TestRealScreens(t *testing.T) {
	spec := yeastSpec(t)
	g, _, err := BuildGraph(opened(t), GraphSpec{Genes: spec.Genes})
	if err != nil {
		t.Fatal(err)
	}
	sample := SampleSpec{Aliases: AliasesSpec{Tables: spec.Aliases}, UnknownGenes: ingest.DropSample}
	at := func(file, delimiter string) SampleSpec {
		sample.File, sample.Delimiter = filepath.Join(data, file), delimiter
		return sample
	}
	every := []AlleleKind{DeletionAllele, DAmPAllele, TSAllele, OtherAllele}
	links := SGASpec{AlleleColumns: []string{"Triplete_Name"}, StrainsSpec: StrainsSpec{SampleSpec: at("kuzmin2018_significant/links.txt", "space")}}
	allLinks := links
	allLinks.Alleles = every
	pairs := EMAPSpec{StrainsSpec: StrainsSpec{SampleSpec: at("emap_collins2007/pairs.tsv.gz", "")}}
	allPairs := pairs
	allPairs.Alleles = every
	wide := MatrixSpec{SampleSpec: at("yeastphenome_galardini2019/galardini_beltrao_2019_value.txt.gz", "")}
	for _, test := range []struct {
		name          string
		open          func(*ingest.Nodes) (*Screen, error)
		rows, samples int
		genes         int // of all samples
		sum           float64
	}{
		{"kuzmin deletions", links.Open, 17_285, 8_854, 2*7_312 + 3*1_542, 0},
		{"kuzmin all", allLinks.Open, 17_285, 17_285, 37_765, 0},
		{"collins deletions", pairs.Open, 186_500, 151_137, 302_274, 0},
		{"collins all", allPairs.Open, 186_500, 186_066, 372_132, 0},
		{"galardini", wide.Open, 183_806, 179_477, 179_477, -23_408.92529583336},
	} {
		t.Run(test.name, func(t *testing.T) {
			screen, err := test.open(g.Genes)
			if err != nil {
				t.Fatal(err)
			}
			genes, sum := 0, 0.0
			counts, err := screen.Scan(func(batch *ingest.Samples) error {
				for i := range batch.Len() {
					genes += len(batch.Genes(i))
					sum += batch.Phenotypes(i)[0]
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			checkAccounts(t, Report{screen.Report()})
			if screen.Report().Rows != test.rows || counts.Samples != test.samples || genes != test.genes || test.sum != 0 && math.Abs(sum-test.sum) > 1e-6 {
				t.Errorf("%d rows, %d samples of %d genes, sum %v; want %d, %d, %d, %v\n%s", screen.Report().Rows, counts.Samples, genes, sum,
					test.rows, test.samples, test.genes, test.sum, screen.Report())
			}
		})
	}
}

func FuzzScreens(f *testing.F) {
	f.Add(uint8(0), sgaHeader+"YAL001C_tsq508\ttfc3-g349e\tYAL002W_dma1\tvps8\tDMA30\t-0.1\t0.5\n")
	f.Add(uint8(1), "name\tx\nhoΔ_tfc3-1_YAL016C-B-x\t1\n")
	f.Add(uint8(2), "gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\tscore\nVPS8\tHO\tdelta ho\tDAMP\t1\n")
	f.Add(uint8(3), "a\tb\n\"VPS8\"\t1\t\n")
	genes, aliases := screenGenes(f)
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		sample := SampleSpec{TextSpec: TextSpec{File: writeFile(t, "p.tsv", text)}, Aliases: aliases, UnknownGenes: ingest.DropSample, AllowWildtype: true}
		strains := StrainsSpec{SampleSpec: sample}
		open := [...]func(*ingest.Nodes) (*Screen, error){
			SGASpec{StrainsSpec: strains}.Open, SGASpec{StrainsSpec: strains, AlleleColumns: []string{"name"}}.Open,
			EMAPSpec{StrainsSpec: strains}.Open, MatrixSpec{SampleSpec: sample}.Open,
		}[kind%4]
		screen, err := open(genes)
		samples, _, err := readScreen(t, screen, err, genes)
		if err != nil {
			if fault.KindOf(err) != fault.Input {
				t.Fatalf("error %v is not of the input", err)
			}
			return
		}
		if len(samples) != screen.Report().Kept {
			t.Fatalf("%d samples, %d reported", len(samples), screen.Report().Kept)
		}
	})
}

// BenchmarkScreens reads plain-text tables as large as part of a real one.
func BenchmarkScreens(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 0))
	ids := make([]string, 6000)
	for i := range ids {
		ids[i] = fmt.Sprintf("Y%c%c%03d%c", 'A'+i%16, "LR"[i/16%2], i/32, "WC"[i%2])
	}
	genes, _ := ingest.NewNodes(ingest.Gene, ids, nil)
	var sga, emap, wide strings.Builder
	sga.WriteString(sgaHeader)
	emap.WriteString("gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\tscore\n")
	wide.WriteString("orf")
	for k := range 38 {
		fmt.Fprintf(&wide, "\tcondition %d", k)
	}
	wide.WriteByte('\n')
	for range 100_000 {
		query, array := ids[random.IntN(1000)], ids[random.IntN(len(ids))]
		fmt.Fprintf(&sga, "%s_sn%d\tabc1\t%s_dma%d\txyz2\tDMA30\t%.4f\t%.6f\n", query, 12, array, 345, random.NormFloat64(), random.Float64())
		fmt.Fprintf(&emap, "%s\t%s\tDELETION\tDELETION\t%.6f\n", query, array, random.NormFloat64())
	}
	for _, id := range ids {
		wide.WriteString(id)
		for range 38 {
			fmt.Fprintf(&wide, "\t%.16g", random.NormFloat64())
		}
		wide.WriteByte('\n')
	}
	for _, kind := range []struct {
		name, text string
		open       func(SampleSpec) (*Screen, error)
	}{
		{"sga", sga.String(), func(s SampleSpec) (*Screen, error) {
			return SGASpec{StrainsSpec: StrainsSpec{SampleSpec: s}}.Open(genes)
		}},
		{"emap", emap.String(), func(s SampleSpec) (*Screen, error) {
			return EMAPSpec{StrainsSpec: StrainsSpec{SampleSpec: s}}.Open(genes)
		}},
		{"matrix", wide.String(), func(s SampleSpec) (*Screen, error) { return MatrixSpec{SampleSpec: s}.Open(genes) }},
	} {
		b.Run("kind="+kind.name, func(b *testing.B) {
			screen, err := kind.open(SampleSpec{TextSpec: TextSpec{File: writeFile(b, "p.tsv", kind.text)}})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(kind.text)))
			before := cpuTime(b)
			for b.Loop() {
				if _, err := screen.Scan(func(*ingest.Samples) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(kind.text))*float64(b.N)/1e6/(cpuTime(b)-before).Seconds(), "MB/cpu-s")
		})
	}
}

// cpuTime is the processor time of this process, which other load on the machine does not affect.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
