package samples

import (
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/internal/testing/inputs"
)

// TestForms reads tables as people have them.
func TestForms(t *testing.T) {
	human, _ := ingest.NewNodes(ingest.Gene, []string{"A1BG", "NAT2", "ADA", "NA"}, nil)
	matrix := func(columns MatrixColumns, rows MatrixRows) MatrixSpec {
		return MatrixSpec{ColumnsAre: columns, RowsAre: rows}
	}
	depMap := Spec{Matrix: true, MatrixSpec: matrix(SecondGenes, RowConditions)}
	depMap.GenePattern = `^(.+) \(\d+\)$`
	pairs := Spec{Matrix: true, MatrixSpec: matrix(Conditions, "")}
	underscored := pairs
	underscored.GeneDelimiter = "_"
	for _, test := range []struct {
		name, file, content string
		spec                Spec
		genes               *ingest.Nodes
		want                string
	}{
		{"DepMap", "CRISPRGeneEffect.csv",
			",A1BG (1),NAT2 (10),ADA (100)\nACH-000001,-0.12,0.01,\nACH-000004,0.02,-0.05,-1.5\n", depMap, human,
			`ACH-000001: A1BG (1) [0] [-0.12] "ACH-000001"; ACH-000001: NAT2 (10) [1] [0.01] "ACH-000001"; ` +
				`ACH-000004: A1BG (1) [0] [0.02] "ACH-000004"; ACH-000004: NAT2 (10) [1] [-0.05] "ACH-000004"; ` +
				`ACH-000004: ADA (100) [2] [-1.5] "ACH-000004"`},
		{"pairs in rows", "gi.tsv", "\tK562\tHeLa\nA|B\t-1\t2\nB|C\t0.5\t\n", pairs, threeGenes,
			`A|B: K562 [0 1] [-1] "K562"; A|B: HeLa [0 1] [2] "HeLa"; B|C: K562 [1 2] [0.5] "K562"`},
		{"pairs of R", "gi.tsv", "K562\tHeLa\nA_B\t-1\t2\nC\t0.5\t1\n", underscored, threeGenes,
			`A_B: K562 [0 1] [-1] "K562"; A_B: HeLa [0 1] [2] "HeLa"; C: K562 [2] [0.5] "K562"; C: HeLa [2] [1] "HeLa"`},
		{"empty columns of Excel", "m.csv", ",YPD,SC,,\nA,1,2,,\nB,3,4,,\n", pairs, threeGenes,
			`A: YPD [0] [1] "YPD"; A: SC [0] [2] "SC"; B: YPD [1] [3] "YPD"; B: SC [1] [4] "SC"`},
		{"no second gene", "r.tsv", "g1\tg2\ty\nA\tNA\t1\nA\tB\t2\nNA\tC\t3\n",
			Spec{GenesColumns: []string{"g1", "g2"}}, threeGenes, "0 [0] [1]; 1 [0 1] [2]; 2 [2] [3]"},
		{"no second gene in a list", "r.tsv", "genes\ty\nA|NA\t1\nA|B\t2\n", Spec{}, threeGenes, "0 [0] [1]; 1 [0 1] [2]"},
		{"a gene called NA", "r.tsv", "g1\tg2\ty\nA1BG\tNA\t1\nADA\tNaN\t2\n",
			Spec{GenesColumns: []string{"g1", "g2"}}, human, "0 [0 3] [1]; 1 [2] [2]"},
		{"spaces after commas", "s.tsv", "genes\ty\nA, B\t1\nC\t2\nB ,C\t3\n", Spec{GeneDelimiter: ","}, threeGenes,
			"0 [0 1] [1]; 1 [2] [2]; 2 [1 2] [3]"},
		{"Genes", "s.tsv", "Genes\ty\nA|B\t1\n", Spec{}, threeGenes, "0 [0 1] [1]"},
		{"gene", "s.csv", "gene,y\nA,1\n", Spec{}, threeGenes, "0 [0] [1]"},
		{"Gene", "s.csv", "y,Gene\n1,A\n", Spec{}, threeGenes, "0 [0] [1]"},
		{"gene beside genes", "s.csv", "gene,y,genes\nB,1,A\n", Spec{}, threeGenes, `0 [0] [1] "B"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := openFile(inputs.Write(t, test.file, test.content), test.genes, test.spec)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			got, _, err := showSamples(p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(got, "; "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestFormErrors(t *testing.T) {
	rows := Spec{Matrix: true, MatrixSpec: MatrixSpec{RowsAre: RowConditions}}
	for _, test := range []struct {
		name, file, content string
		spec                Spec
		want                string
	}{
		{"two columns of a gene each", "p.csv", "gene,gene_b,y\nA,B,1\n", Spec{},
			"read perturbations PATH: found columns gene, gene_b, expected one of genes"},
		{"two columns of genes", "p.csv", "Genes,Gene,y\nA,B,1\n", Spec{},
			"read perturbations PATH: found columns Genes, Gene, expected one of genes"},
		{"rows that are conditions beside conditions", "m.csv", ",A,B\nx,1,2\n", rows,
			"read settings: rows_are: found conditions, expected columns that are genes"},
		{"a value without a condition", "m.csv", ",YPD,,\nA,1,,2\n",
			Spec{Matrix: true, MatrixSpec: MatrixSpec{ColumnsAre: Conditions}},
			`read perturbations PATH:2: found "2" in column 4, which has no name`},
		{"a date", "p.csv", "gene,y\n2024-03-01,1\n", Spec{},
			`read perturbations PATH:2: gene "2024-03-01" (a date, as Excel makes of names such as SEP7) ` +
				`is not in the graph (3 genes)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := inputs.Write(t, test.file, test.content)
			p, err := openFile(path, threeGenes, test.spec)
			if err == nil {
				_, _, err = showSamples(p)
			}
			if err == nil || err.Error() != strings.ReplaceAll(test.want, "PATH", path) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}
