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
	for _, test := range []struct {
		name, file, content string
		spec                Spec
		genes               *ingest.Nodes
		want                string
	}{
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
