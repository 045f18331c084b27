package source

import (
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
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
