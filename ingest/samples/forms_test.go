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
		{
			name: "DepMap",
			file: "CRISPRGeneEffect.csv",
			content: ",A1BG (1),NAT2 (10),ADA (100)\nACH-000001,-0.12,0.01,\n" +
				"ACH-000004,0.02,-0.05,-1.5\n",
			spec:  depMap,
			genes: human,
			want: `ACH-000001: A1BG (1) [0] [-0.12] "ACH-000001"; ACH-000001: NAT2 (10) [1] ` +
				`[0.01] "ACH-000001"; ` +
				`ACH-000004: A1BG (1) [0] [0.02] "ACH-000004"; ACH-000004: NAT2 (10) [1] [-0.05] ` +
				`"ACH-000004"; ` +
				`ACH-000004: ADA (100) [2] [-1.5] "ACH-000004"`,
		},
		{
			name:    "pairs in rows",
			file:    "gi.tsv",
			content: "\tK562\tHeLa\nA|B\t-1\t2\nB|C\t0.5\t\n",
			spec:    pairs,
			genes:   threeGenes,
			want: `A|B: K562 [0 1] [-1] "K562"; A|B: HeLa [0 1] [2] "HeLa"; B|C: K562 [1 2] ` +
				`[0.5] "K562"`,
		},
		{
			name:    "pairs of R",
			file:    "gi.tsv",
			content: "K562\tHeLa\nA_B\t-1\t2\nC\t0.5\t1\n",
			spec:    underscored,
			genes:   threeGenes,
			want: `A_B: K562 [0 1] [-1] "K562"; A_B: HeLa [0 1] [2] "HeLa"; C: K562 [2] [0.5] ` +
				`"K562"; C: HeLa [2] [1] "HeLa"`,
		},
		{
			name:    "empty columns of Excel",
			file:    "m.csv",
			content: ",YPD,SC,,\nA,1,2,,\nB,3,4,,\n",
			spec:    pairs,
			genes:   threeGenes,
			want: `A: YPD [0] [1] "YPD"; A: SC [0] [2] "SC"; B: YPD [1] [3] "YPD"; B: SC [1] ` +
				`[4] "SC"`,
		},
		{
			name:    "no second gene",
			file:    "r.tsv",
			content: "g1\tg2\ty\nA\tNA\t1\nA\tB\t2\nNA\tC\t3\n",
			spec:    Spec{GenesColumns: []string{"g1", "g2"}},
			genes:   threeGenes,
			want:    "0 [0] [1]; 1 [0 1] [2]; 2 [2] [3]",
		},
		{
			name:    "a gene called NA",
			file:    "r.tsv",
			content: "g1\tg2\ty\nA1BG\tNA\t1\nADA\tNaN\t2\n",
			spec:    Spec{GenesColumns: []string{"g1", "g2"}},
			genes:   human,
			want:    "0 [0 3] [1]; 1 [2] [2]",
		},
		{
			name:    "a gene called NA in a list",
			file:    "r.tsv",
			content: "genes\ty\nA1BG|NA\t1\n",
			genes:   human,
			want:    "0 [0 3] [1]",
		},
		{
			name:    "spaces after commas",
			file:    "s.tsv",
			content: "genes\ty\nA, B\t1\nC\t2\nB ,C\t3\n",
			spec:    Spec{GeneDelimiter: ","},
			genes:   threeGenes,
			want:    "0 [0 1] [1]; 1 [2] [2]; 2 [1 2] [3]",
		},
		{
			name:    "Genes",
			file:    "s.tsv",
			content: "Genes\ty\nA|B\t1\n",
			genes:   threeGenes,
			want:    "0 [0 1] [1]",
		},
		{
			name:    "gene",
			file:    "s.csv",
			content: "gene,y\nA,1\n",
			genes:   threeGenes,
			want:    "0 [0] [1]",
		},
		{
			name:    "Gene",
			file:    "s.csv",
			content: "y,Gene\n1,A\n",
			genes:   threeGenes,
			want:    "0 [0] [1]",
		},
		{
			name:    "gene beside genes",
			file:    "s.csv",
			content: "gene,y,genes\nB,1,A\n",
			genes:   threeGenes,
			want:    `0 [0] [1] "B"`,
		},
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
		{
			name:    "two columns of a gene each",
			file:    "p.csv",
			content: "gene,gene_b,y\nA,B,1\n",
			want:    "read perturbations PATH: found columns gene, gene_b, expected one of genes",
		},
		{
			name:    "two columns of genes",
			file:    "p.csv",
			content: "Genes,GENES,y\nA,B,1\n",
			want: `read perturbations PATH: found columns "Genes" and "GENES", expected one ` +
				`column genes`,
		},
		{
			name:    "rows that are conditions beside conditions",
			file:    "m.csv",
			content: ",A,B\nx,1,2\n",
			spec:    rows,
			want:    "read settings: rows_are: found conditions, expected columns that are genes",
		},
		{
			name:    "a value without a condition",
			file:    "m.csv",
			content: ",YPD,,\nA,1,,2\n",
			spec:    Spec{Matrix: true, MatrixSpec: MatrixSpec{ColumnsAre: Conditions}},
			want:    `read perturbations PATH:2: found "2" in column 4, which has no name`,
		},
		{
			name:    "a date",
			file:    "p.csv",
			content: "gene,y\n2024-03-01,1\n",
			want: `read perturbations PATH:2: gene "2024-03-01" (a date, as Excel makes of names ` +
				`such as SEP7) ` +
				`is not in the graph (3 genes)`,
		},
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
