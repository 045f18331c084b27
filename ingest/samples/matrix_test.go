package samples_test

import (
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/internal/testing/check"
)

// TestMatrixColumns checks that a matrix of double mutants, or of strains that keep a copy of the
// gene, is not read as single deletions, and how the settings say what it is.
func TestMatrixColumns(t *testing.T) {
	genes, aliases := screenGenes(t)
	square := "gene\tTFC3\tVPS8\nTFC3\t\t1\nVPS8\t1\t\n"
	het := "orf\thap a | growth | cold\thet | growth | cold\tHeterozygous, hot\nVPS8\t1\t2\t3\n" +
		"TFC3\t4\t\t6\n"
	for _, c := range []struct {
		name, text string
		change     func(*samples.Spec)
		samples    []string
		report     string
		fault      []string
	}{
		{
			name:  "square",
			text:  square,
			fault: []string{"2 of its 2 columns are named like genes", `"TFC3"`},
		},
		{
			name:  "rectangular",
			text:  "gene\tyal002w\tTBS1\tx\nTFC3\t1\t2\t3\n",
			fault: []string{"2 of its 3 columns are named like genes"},
		},
		{
			name:  "strains",
			text:  "gene\tYAL001C_tsq1\ttbs1Δ\nVPS8\t1\t2\n",
			fault: []string{"2 of its 2 columns are named like genes"},
		},
		{
			name:  "genes of another graph",
			text:  "gene\tYDR111C\tYDR112C-A\nVPS8\t1\t2\n",
			fault: []string{"2 of its 2 columns are named like genes"},
		},
		{
			name:   "unknown genes on both axes",
			text:   "gene\tONE\tTWO\nVPS8\t1\t2\nTWO\t1\t2\n",
			change: func(s *samples.Spec) { s.UnknownGenes = ingest.DropSample },
			fault:  []string{"s.tsv:3", `"TWO"`, "found row \"TWO\", which is also a column"},
		},
		{
			name:    "conditions",
			text:    "gene\tTFC3\tVPS8\nTBS1\t\t1\n",
			change:  func(s *samples.Spec) { s.ColumnsAre = samples.Conditions },
			samples: []string{"TBS1: VPS8 YBR150C [1]"},
			report:  "1 of 2 entries of s.tsv; dropped: 1 without a phenotype; noted: 1 rows",
		},
		{
			name:    "genes",
			text:    square,
			change:  func(s *samples.Spec) { s.ColumnsAre = samples.SecondGenes },
			samples: []string{"TFC3: VPS8 YAL001C+YAL002W [1]"},
			report: "1 of 4 entries of s.tsv; dropped: 2 of a gene with itself, 1 equal to the " +
				"value of the same pair in the other half; noted: 2 rows",
		},
		{name: "both halves", text: square, change: func(s *samples.Spec) {
			s.ColumnsAre = samples.SecondGenes
			s.BothHalves = true
		},
			samples: []string{"TFC3: VPS8 YAL001C+YAL002W [1]", "VPS8: TFC3 YAL001C+YAL002W [1]"},
			report: "2 of 4 entries of s.tsv; dropped: 2 of a gene with itself; noted: 2 rows, " +
				"1 of pairs that have an earlier cell"},
		{
			name:   "halves with gaps",
			text:   "gene\tTFC3\tVPS8\tTBS1\nTFC3\t\tNA\t3\nVPS8\t1\t\t2\nTBS1\tNA\t2\t\n",
			change: func(s *samples.Spec) { s.ColumnsAre = samples.SecondGenes },
			samples: []string{
				"TFC3: TBS1 YAL001C+YBR150C [3]", "VPS8: TFC3 YAL001C+YAL002W [1]",
				"VPS8: TBS1 YAL002W+YBR150C [2]",
			},
			report: "3 of 9 entries of s.tsv; dropped: 3 of a gene with itself, 1 equal to the " +
				"value of the same pair in the other half, 2 without a phenotype; noted: 3 rows",
		},
		{
			name:    "halves in another order",
			text:    "gene\tTFC3\tVPS8\nVPS8\t1\t\nTFC3\t\t1\n",
			change:  func(s *samples.Spec) { s.ColumnsAre = samples.SecondGenes },
			samples: []string{"VPS8: TFC3 YAL001C+YAL002W [1]"},
		},
		{
			name: "measured both ways",
			text: "gene\tTFC3\tVPS8\nTFC3\t\t1\nVPS8\t2\t\n",
			change: func(s *samples.Spec) {
				s.ColumnsAre = samples.SecondGenes
				s.Triangle = samples.BothTriangles
			},
			samples: []string{"TFC3: VPS8 YAL001C+YAL002W [1]", "VPS8: TFC3 YAL001C+YAL002W [2]"},
			report: "2 of 4 entries of s.tsv; dropped: 2 of a gene with itself; noted: 2 rows, " +
				"1 of pairs that have an earlier cell",
		},
		{
			name:   "halves that differ in a cell",
			text:   "gene\tTFC3\tVPS8\tTBS1\nTFC3\t\t1\t3\nVPS8\t1\t\t2\nTBS1\t3.5\t2\t\n",
			change: func(s *samples.Spec) { s.ColumnsAre = samples.SecondGenes },
			fault: []string{
				"s.tsv:4: found 3 for \"TFC3: TBS1\" and 3.5 for \"TBS1: TFC3\", expected one " +
					"value",
			},
		},
		{
			name:   "halves that differ in the first cell",
			text:   "gene\tTFC3\tVPS8\tTBS1\nTFC3\t\t1\t3\nVPS8\t1.5\t\t2\nTBS1\t3\t2\t\n",
			change: func(s *samples.Spec) { s.ColumnsAre = samples.SecondGenes },
			fault: []string{
				"found 1 for \"TFC3: VPS8\" and 1.5 for \"VPS8: TFC3\", expected one value",
			},
		},
		{
			name:   "unknown column",
			text:   "gene\tTFC3\tNONE\nVPS8\t1\t2\n",
			change: func(s *samples.Spec) { s.ColumnsAre = samples.SecondGenes },
			fault:  []string{"s.tsv:2", `"NONE"`},
		},
		{
			name: "unknown column dropped",
			text: "gene\tTFC3\tNONE\nVPS8\t1\t2\n",
			change: func(s *samples.Spec) {
				s.ColumnsAre = samples.SecondGenes
				s.UnknownGenes = ingest.DropSample
			},
			samples: []string{"VPS8: TFC3 YAL001C+YAL002W [1]"},
			report: "1 of 2 entries of s.tsv; dropped: 1 of unknown genes; noted: 1 rows; " +
				"unknown names: NONE",
		},
		{
			name:  "heterozygous",
			text:  het,
			fault: []string{"2 of 3 columns", `"het | growth | cold"`},
		},
		{
			name:  "all heterozygous",
			text:  "het strain\tcold\nVPS8\t1\n",
			fault: []string{"1 of 1 column ", `"cold"`},
		},
		{
			name:   "heterozygous dropped",
			text:   het,
			change: func(s *samples.Spec) { s.PartialLoss = samples.DropPartialLoss },
			samples: []string{
				"VPS8: hap a | growth | cold YAL002W [1]",
				"TFC3: hap a | growth | cold YAL001C [4]",
			},
			report: "2 of 6 entries of s.tsv; dropped: 4 of columns without a whole deletion; " +
				"noted: 2 rows",
		},
		{
			name:   "heterozygous kept",
			text:   "orf\thet\tcold\nVPS8\t1\t2\nTFC3\t\t4\n",
			change: func(s *samples.Spec) { s.PartialLoss = samples.KeepPartialLoss },
			samples: []string{
				"VPS8: het YAL002W [1]", "VPS8: cold YAL002W [2]", "TFC3: cold YAL001C [4]",
			},
			report: "3 of 4 entries of s.tsv; dropped: 1 without a phenotype; noted: 2 rows, 1 " +
				"of columns without a whole deletion, taken as deletions",
		},
		{
			name:    "words within words",
			text:    "orf\tdiethyl ether\tchip\nVPS8\t1\t2\n",
			samples: []string{"VPS8: diethyl ether YAL002W [1]", "VPS8: chip YAL002W [2]"},
			report:  "2 of 2 entries of s.tsv; noted: 1 rows",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := screenOf(t, "matrix", c.text, aliases)
			if c.change != nil {
				c.change(&spec)
			}
			screen, err := openForm(spec, &ingest.Graph{Genes: genes})
			samples, report, err := readScreen(t, screen, err, genes)
			if c.fault != nil {
				check.Fault(t, err, fault.Input, c.fault...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkSamples(t, samples, c.samples)
			if !strings.HasSuffix(report, c.report) {
				t.Errorf("report\n%s\nwant its end to be\n%s", report, c.report)
			}
		})
	}
	for _, change := range []func(*samples.Spec){
		func(s *samples.Spec) { s.ColumnsAre = "x" },
		func(s *samples.Spec) { s.PartialLoss = "x" },
	} {
		spec := screenOf(t, "matrix", square, aliases)
		change(&spec)
		_, err := openForm(spec, &ingest.Graph{Genes: genes})
		check.Fault(t, err, fault.Usage, `"x"`)
	}
}

// TestNothingLeft checks that a screen without samples is an error that says why.
func TestNothingLeft(t *testing.T) {
	genes, aliases := screenGenes(t)
	for _, c := range []struct {
		name, text, hint string
		want             []string
	}{
		{
			name: "unknown genes",
			text: "gene_a\tgene_b\tscore\nNONE1\tVPS8\t1\nNONE2\tVPS8\t1\n",
			hint: "other names with aliases",
			want: []string{"kept 0 of 2 entries; dropped: 2 of unknown genes"},
		},
		{
			name: "alleles",
			text: "gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\tscore\n" +
				"TFC3\tVPS8\tDAMP\tDAMP\t1\n",
			hint: "no row has only deletions",
			want: []string{"1 of allele kind damp"},
		},
		{
			name: "scores",
			text: "gene_a\tgene_b\tscore\nTFC3\tVPS8\tN/A\n",
			hint: "keep_unmeasured=true",
			want: []string{"1 without a phenotype"},
		},
		{
			name: "rows",
			text: "gene_a\tgene_b\tscore\n",
			hint: "right file",
			want: []string{"found no entries"},
		},
	} {
		spec := screenOf(t, "emap", c.text, aliases)
		if spec.UnknownGenes = ingest.DropSample; !strings.Contains(c.text, "mutation") {
			spec.Strains = genePairs
		}
		screen, err := openForm(spec, &ingest.Graph{Genes: genes})
		_, _, err = readScreen(t, screen, err, genes)
		check.Fault(t, err, fault.Input, append(c.want, "s.tsv")...)
		if !strings.Contains(fault.HintOf(err), c.hint) {
			t.Errorf("%s: hint %q lacks %q", c.name, fault.HintOf(err), c.hint)
		}
	}
}
