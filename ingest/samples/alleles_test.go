package samples_test

import (
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

// A name such as NKX2-1 is an allele of NKX2 only in sources that name yeast's alleles. In all
// others it is an unknown gene, whatever kinds count as deletions.
func TestAlleleNames(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"NKX2", "RP11", "TP53"}, nil)
	const pair = "gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\tscore\n" +
		"TP53\tNAME\t\t\t1\nTP53\tRP11\t\tNAME\t2\n"
	for _, c := range []struct {
		name, source, text string
		change             func(*samples.Spec)
		rows               []string // without the alleles of NKX2 and RP11
	}{
		{
			name:   "matrix",
			source: "matrix",
			text:   "gene\tx\nTP53\t1\nNAME\t2\n",
			rows:   []string{"TP53: x TP53 [1]"},
		},
		{
			name:   "matrix of genes",
			source: "matrix",
			text:   "gene\tRP11\nTP53\t1\nNAME\t2\n",
			change: func(s *samples.Spec) { s.ColumnsAre = samples.SecondGenes },
			rows:   []string{"TP53: RP11 RP11+TP53 [1]"},
		},
		{
			name:   "strains",
			source: "emap",
			text:   pair,
			change: func(s *samples.Spec) { s.YeastAlleles = false },
			rows:   []string{"1 RP11+TP53 [2]"},
		},
		{
			name:   "columns",
			source: "matrix",
			text:   "gene\tx\nTP53\t1\nNAME\t2\n",
			change: func(s *samples.Spec) {
				s.Matrix = false
				s.GenesColumns = []string{"gene"}
				s.Alleles = nil
			},
			rows: []string{"0 TP53 [1]"},
		},
	} {
		for _, name := range []string{
			"NKX2-1", "NKX2_sn1", "NKX2.1", "RP11-10A", "NKX2-del", "NKX2 - DAMP", "NKX2Δ",
		} {
			spec := screenOf(t, c.source, strings.ReplaceAll(c.text, "NAME", name), "")
			spec.UnknownGenes, spec.Alleles = ingest.DropSample, samples.AlleleKinds
			if c.change != nil {
				c.change(&spec)
			}
			screen, err := openForm(spec, &ingest.Graph{Genes: genes})
			samples, report, err := readScreen(t, screen, err, genes)
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, name, err)
				continue
			}
			checkSamples(t, samples, c.rows)
			if screen.Account().LostToNames() == 0 {
				t.Errorf("%s, %s: no unknown gene: %s", c.name, name, report)
			}
		}
	}
	for _, strain := range []samples.StrainSpec{{Strain: "gene_a"}, {Alleles: "gene_a"}} {
		spec := screenOf(t, "emap", pair, "")
		spec.YeastAlleles, spec.Strains = false, []samples.StrainSpec{strain}
		_, err := openForm(spec, &ingest.Graph{Genes: genes})
		check.Fault(t, err, fault.Usage, "strains.0: ", "yeast_alleles")
	}
}

// A name of several genes, such as a read-through gene that the gene list lacks, is an error, or
// with drop-sample drops each row that has it: no row is kept with one of its genes.
func TestReadThroughGenes(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"KLRC4", "KLRK1", "TP53"}, nil)
	const pairs = "gene_a\tgene_b\tscore\nTP53\tKLRC4\t1\nKLRC4-KLRK1\tTP53\t2\n" +
		"TP53\tKLRC4-KLRK1\t3\n"
	for _, c := range []struct {
		name, source, text string
		change             func(*samples.Spec)
		rows               []string
		dropped            string
	}{
		{
			name:   "matrix",
			source: "matrix",
			text:   "gene\tx\nTP53\t1\nKLRC4-KLRK1\t2\n",
			rows:   []string{"TP53: x TP53 [1]"},
			dropped: "1 of 2 entries of s.tsv; dropped: 1 with several genes in place of one; " +
				"noted: 2 rows; unknown names: KLRC4-KLRK1",
		},
		{
			name:   "matrix of genes",
			source: "matrix",
			text:   "gene\tKLRC4-KLRK1\tKLRC4\nTP53\t1\t2\nKLRK1\t3\t4\n",
			change: func(s *samples.Spec) { s.ColumnsAre = samples.SecondGenes },
			rows:   []string{"TP53: KLRC4 KLRC4+TP53 [2]", "KLRK1: KLRC4 KLRC4+KLRK1 [4]"},
			dropped: "2 of 4 entries of s.tsv; dropped: 2 with several genes in place of one; " +
				"noted: 2 rows; unknown names: KLRC4-KLRK1",
		},
		{
			name:   "pairs",
			source: "emap",
			text:   pairs,
			change: func(s *samples.Spec) { s.YeastAlleles, s.Strains = false, genePairs },
			rows:   []string{"0 KLRC4+TP53 [1]"},
			dropped: "1 of 3 entries of s.tsv; dropped: 2 with several genes in place of one; " +
				"unknown names: KLRC4-KLRK1",
		},
	} {
		for _, word := range ingest.UnknownGenesChoices {
			spec := screenOf(t, c.source, c.text, "")
			spec.UnknownGenes, spec.MaxDropped = ingest.UnknownGenes(word), new(0.7)
			if c.change != nil {
				c.change(&spec)
			}
			screen, err := openForm(spec, &ingest.Graph{Genes: genes})
			samples, report, err := readScreen(t, screen, err, genes)
			if spec.UnknownGenes != ingest.DropSample {
				check.Fault(t, err, fault.Input,
					`found "KLRC4-KLRK1", which names 2 genes, "KLRC4" and "KLRK1"`)
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			checkSamples(t, samples, c.rows)
			if report != "samples: "+c.dropped {
				t.Errorf("%s: got %s\nwant samples: %s", c.name, report, c.dropped)
			}
		}
	}
}

// The end of a suppressor strain's id, as in YAL001C_S1 of Costanzo et al. 2016, is no gene, though
// ribosomal proteins have such aliases.
func TestSuppressorStrains(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"YAL001C", "YAL002W", "YNL178W"}, nil)
	features := inputs.WriteSGD(t, "ORF YAL001C TFC3 -", "ORF YAL002W VPS8 -",
		"ORF YNL178W RPS3 S3")
	spec := screenOf(t, "costanzo2016", sgaHeader+
		"YAL001C_S3\ttfc3-supp3\tYAL002W_dma1\tvps8\tDMA30\t1\t0\n"+
		"YAL001C_A_S3\ttfc3-supp3\tYAL002W_dma1\tvps8\tDMA30\t2\t0\n"+
		"YAL001C_sn1\ttfc3\tYAL002W_dma1\tvps8\tDMA30\t3\t0\n", features)
	spec.MaxDropped = new(1.0)
	screen, err := openForm(spec, &ingest.Graph{Genes: genes})
	samples, report, err := readScreen(t, screen, err, genes)
	if err != nil {
		t.Fatal(err)
	}
	checkSamples(t, samples, []string{"2 YAL001C+YAL002W [3 0]"})
	want := "samples: 1 of 3 entries of s.tsv; dropped: 2 of allele kind other, which is not " +
		"among alleles"
	if report != want {
		t.Errorf("got %s\nwant %s", report, want)
	}
}

// Without yeast's alleles, a screen's controls follow the rule of other sets: they are not genes,
// and case matters.
func TestControlsOfScreens(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"CAN1", "TP53"}, nil)
	for _, c := range []struct {
		name   string
		change func(*samples.Spec)
		text   string
	}{
		{"strains", func(s *samples.Spec) { s.Strains = genePairs },
			"gene_a\tgene_b\tscore\nTP53\tctrl\t1\nTP53\tCtrl\t2\n"},
		{"matrix", func(s *samples.Spec) {
			s.Strains = nil
			s.Matrix = true
			s.ColumnsAre = samples.SecondGenes
		}, "gene\tctrl\tCtrl\nTP53\t1\t2\n"},
		{"columns", func(s *samples.Spec) {
			s.Strains = nil
			s.GenesColumns = []string{"gene_a", "gene_b"}
		}, "gene_a\tgene_b\tscore\nTP53\tctrl\t1\nTP53\tCtrl\t2\n"},
	} {
		open := func(controls ...string) (samples []string, err error) {
			spec := screenOf(t, "emap", c.text, "")
			spec.YeastAlleles, spec.Controls = false, controls
			c.change(&spec)
			screen, err := openForm(spec, &ingest.Graph{Genes: genes})
			samples, _, err = readScreen(t, screen, err, genes)
			return samples, err
		}
		samples, err := open("ctrl", "Ctrl")
		if err != nil || len(samples) != 2 {
			t.Errorf("%s: got %q, %v", c.name, samples, err)
		}
		_, err = open("ctrl")
		check.Fault(t, err, fault.Input, `gene "Ctrl" is not in `)
		_, err = open("ctrl", "Ctrl", "TP53")
		check.Fault(t, err, fault.Usage, `--controls: found "TP53"`,
			`"TP53", which is a gene of the graph`)
	}
}

// Systematic names are read whole: YBL008W-A is not an allele of its neighbour YBL008W, whether the
// graph has it or not.
func TestSystematicNamesWithSuffix(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene,
		[]string{"YBL008W", "YBR160W", "YBR208C", "YER069W", "YOL130W", "YOL1", "YOR1-B"}, nil)
	features := inputs.WriteSGD(t, "ORF YBL008W HIR1 -", "ORF YBL008W-A - -", "ORF YBR160W CDC28 -",
		"ORF YBR208C DUR1,2 -", "ORF YER069W ARG5,6 -", "ORF YOL130W ALR1 -", "ORF YOL1 ABC -",
		"ORF YOL2 ABC-D -", "ORF YOL3 - ABC-D-E")
	for _, aliases := range []string{"", features} {
		for name, want := range map[string]string{
			"YBL008W":        "YBL008W deletion",
			"YBL008W-ts":     "YBL008W ts",
			"YBL008W_ts":     "YBL008W ts",
			"YBR160W_tsq12":  "YBR160W ts",
			"YBR160W-as1":    "YBR160W ts",
			"YBR160W-DAmP":   "YBR160W damp",
			"YOL130W-supp1":  "YOL130W other",
			"ybl008w-1":      "YBL008W ts",
			"YOL130WΔ":       "YOL130W deletion",
			"YBL008W-AB":     "YBL008W ts",
			"YOR1-B":         "YOR1-B deletion",
			"YOR1-B-1":       "YOR1-B ts",
			"YBL008W-A":      "",
			"YBL008W-AΔ":     "",
			"ybl008w-a":      "",
			"YBL008W-A-1":    "",
			"YBL008W-A_tsq1": "",
			"YBL008W - A":    "",
			"YBL008W-B":      "",
			"YBR160W-C-DAmP": "",
			"Q0010":          "",
			"R0010W":         "",
			"tK(CUU)K":       "",
			"tK(CUU)K-1":     "",
			"YNCA0001W":      "",
			"snR17a":         "",
			"cdc28-1":        "YBR160W ts of SGD",
			"cdc28Δ":         "YBR160W deletion of SGD",
			"ALR1-supp1":     "YOL130W other of SGD",
			"dur1,2-1":       "YBR208C ts of SGD",
			"ARG5,6":         "YER069W deletion of SGD",
			"ABC-2":          "YOL1 ts of SGD",
			"ABC-D":          "",
			"ABC-D-1":        "",
			"ABC-D-E":        "",
			"abc-d-2":        "",
		} {
			want, ofSGD := strings.CutSuffix(want, " of SGD")
			if want != "" && (!ofSGD || aliases != "") {
				checkAllele(t, genes, aliases, name, want)
			} else {
				checkAllele(t, genes, aliases, name, "")
			}
		}
	}
}

// checkAllele checks what gene and kind a name means in a matrix, as an allele and as the id of a
// strain; "" is no gene.
func checkAllele(t *testing.T, genes *ingest.Nodes, aliases, name, want string) {
	t.Helper()
	spec := samples.Spec{Aliases: aliases, YeastAlleles: true}
	inMatrix, allele, strain, err := samples.AlleleMeanings(spec, genes, name)
	if err != nil {
		t.Fatal(err)
	}
	if inMatrix != want {
		t.Errorf("in a matrix, %s is read as %q, expected %q", name, inMatrix, want)
	}
	if allele != want && !strings.ContainsAny(name, "_ ") {
		t.Errorf("as an allele, %s is read as %q, expected %q", name, allele, want)
	}
	if want == "" && strain != "" {
		t.Errorf("as a strain, %s is read as %q", name, strain)
	}
}

// An allele named after a gene other than the strain's says nothing about the strain's gene.
func TestAllelesOfOtherGenes(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"YBL008W", "YOL130W"}, nil)
	spec := screenOf(t, "emap", "gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\ty\n"+
		"YOL130W\tYBL008W\t\tYBL008W-1\t1\n"+
		"YOL130W\tYBL008W\t\tYBL008W-A\t2\n"+
		"YOL130W\tYBL008W\t\tYBL008W-A-1\t3\n"+
		"YOL130W\tYBL008W\t\tswc3-1\t4\n", inputs.WriteSGD(t, "ORF YBL008W HIR1 -",
		"ORF YAL011W SWC3 -"))
	spec.Alleles = []samples.AlleleKind{samples.DeletionAllele, samples.TSAllele}
	spec.MaxDropped = new(1.0)
	screen, err := openForm(spec, &ingest.Graph{Genes: genes})
	samples, report, err := readScreen(t, screen, err, genes)
	if err != nil {
		t.Fatal(err)
	}
	checkSamples(t, samples, []string{"0 YBL008W+YOL130W [1]"})
	want := "samples: 1 of 4 entries of s.tsv; dropped: 3 of allele kind other, which is not " +
		"among alleles"
	if report != want {
		t.Errorf("got %s\nwant %s", report, want)
	}
}

// In every kind of input, a name of a gene outside the graph matches no other gene.
func TestGenesOutsideTheGraph(t *testing.T) {
	file := inputs.Write(t, "own.tsv",
		"orf\tname\talias\nYOL130W\tALR1\tSWC3\nYAL011W\tSWC3\tSWC1\nYAL001C\tTFC3\t\n")
	aliases := names.AliasTable{
		TextSpec: table.TextSpec{File: file}, ID: "orf", Names: []string{"name", "alias"},
	}
	const message = `gene "SWC3" (YAL011W) is not in the graph (2 genes)`
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"YAL001C", "YOL130W"}, nil)
	for _, c := range []struct{ name, source, text string }{
		{"columns", "", "genes\ty\nTFC3|SWC3\t1\nTFC3\t2\n"},
		{"matrix", "matrix", "gene\ty\nSWC3\t1\nTFC3\t2\n"},
		{"matrix of genes", "matrix", "gene\tSWC3\tALR1\nTFC3\t1\t2\n"},
		{"mutations", "emap",
			"gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\ty\nTFC3\tSWC3\t\t\t1\n" +
				"TFC3\tALR1\t\t\t2\n"},
		{"strains", "costanzo2016",
			sgaHeader +
				"TFC3_sn1\ttfc3\tSWC3_dma1\tswc3\tDMA30\t1\t0\n" +
				"TFC3_sn1\ttfc3\tALR1_dma1\talr1\tDMA30\t2\t0\n"},
		{"alleles", "kuzmin2018_links", "Triplete_Name y\ntfc3Δ_SWC3Δ 1\ntfc3Δ_alr1Δ 2\n"},
	} {
		spec := screenOf(t, "matrix", c.text, "")
		if c.source != "" {
			spec = screenOf(t, c.source, c.text, "")
		} else {
			spec.Matrix, spec.Alleles = false, nil
		}
		if c.name == "matrix of genes" {
			spec.ColumnsAre = samples.SecondGenes
		}
		spec.AliasTables = []names.AliasTable{aliases}
		screen, err := openForm(spec, &ingest.Graph{Genes: genes})
		_, _, err = readScreen(t, screen, err, genes)
		check.Fault(t, err, fault.Input, message)
		if got := fault.HintOf(err); !strings.HasPrefix(got, "add YAL011W to the graph") {
			t.Errorf("%s: the hint is %s", c.name, got)
		}
		spec.UnknownGenes = ingest.DropSample
		screen, err = openForm(spec, &ingest.Graph{Genes: genes})
		samples, report, err := readScreen(t, screen, err, genes)
		if err != nil || len(samples) != 1 || !strings.Contains(report, "1 of unknown genes") {
			t.Errorf("%s: got %v of %q, %v", c.name, samples, report, err)
		}
	}
}
