package source

import (
	"fmt"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
)

// sgdFile writes rows of type, systematic name, standard name and aliases as SGD_features.tab.
func sgdFile(t testing.TB, rows ...string) string {
	t.Helper()
	var text strings.Builder
	for i, row := range rows {
		f := strings.Split(row, " ")
		text.WriteString(fmt.Sprintf("S%09d\t", i+1) + f[0] + "\tVerified\t" + f[1] + "\t" + f[2] + "\t" + f[3] + strings.Repeat("\t", 10) + "\n")
	}
	return writeFile(t, "SGD_features.tab", strings.ReplaceAll(text.String(), "-\t", "\t"))
}

// In every kind of input, a name of a gene outside the graph matches no other gene.
func TestGenesOutsideTheGraph(t *testing.T) {
	file := writeFile(t, "own.tsv", "orf\tname\talias\nYOL130W\tALR1\tSWC3\nYAL011W\tSWC3\tSWC1\nYAL001C\tTFC3\t\n")
	aliases := names.AliasTable{TextSpec: table.TextSpec{File: file}, ID: "orf", Names: []string{"name", "alias"}}
	const message = `gene "SWC3" (YAL011W) is not in the graph (2 genes)`
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"YAL001C", "YOL130W"}, nil)
	for _, c := range []struct{ name, source, text string }{
		{"columns", "", "genes\ty\nTFC3|SWC3\t1\nTFC3\t2\n"},
		{"matrix", "matrix", "gene\ty\nSWC3\t1\nTFC3\t2\n"},
		{"matrix of genes", "matrix", "gene\tSWC3\tALR1\nTFC3\t1\t2\n"},
		{"mutations", "emap", "gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\ty\nTFC3\tSWC3\t\t\t1\nTFC3\tALR1\t\t\t2\n"},
		{"strains", "costanzo2016", sgaHeader + "TFC3_sn1\ttfc3\tSWC3_dma1\tswc3\tDMA30\t1\t0\nTFC3_sn1\ttfc3\tALR1_dma1\talr1\tDMA30\t2\t0\n"},
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
		checkFault(t, err, fault.Input, message)
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
