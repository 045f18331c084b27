package graph

import (
	"os"
	"path/filepath"
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/sets"
)

// TestRealPerturbations reads the public data sets next to the repository, as they are. Their row
// counts are those in the data's README.
func TestRealPerturbations(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it reads the real data")
	}
	data := filepath.Join("..", "..", "..", "shared", "data")
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the real data is not there: %v", err)
	}
	genes, err := readRealGenes(filepath.Join(data, "genes_sgd", "orf_universe.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	if genes.Len() != 6604 {
		t.Errorf("found %d genes, expected 6604", genes.Len())
	}
	for _, test := range []struct {
		file    string
		options samples.Spec
		samples int
	}{
		{"kuzmin2018_significant/perturbations.tsv.gz", samples.Spec{
			GenesColumns: []string{"orfs"}, GeneDelimiter: ";", IDColumn: "alleles"}, 17_285},
		{"emap_collins2007/pairs.tsv.gz", samples.Spec{
			GenesColumns: []string{"gene_a", "gene_b"}, Phenotypes: []string{"score"}}, 186_500},
		{"celaj2020_xga/perturbations_long.tsv.gz", samples.Spec{
			GenesColumns: []string{"orfs"}, GeneDelimiter: ";", IDColumn: "strain", AllowDuplicateIDs: true, Phenotypes: []string{"resistance"}}, 85_648},
	} {
		test.options.UnknownGenes, test.options.AllowWildtype = ingest.DropGene, true
		test.options.File = filepath.Join(data, test.file)
		p, err := samples.Open(test.options, &ingest.Graph{Genes: genes})
		if err != nil {
			t.Error(err)
			continue
		}
		counts, err := sets.ReadAll(p)
		if err != nil || counts.Kept != test.samples {
			t.Errorf("%s: found %+v, expected %d samples: %v", test.file, counts, test.samples, err)
		}
		t.Logf("%s: %+v, phenotypes %q, ignored %q", test.file, counts, p.Columns().PhenotypeNames(), p.Columns().Ignored)
	}
}

func readRealGenes(path string) (*ingest.Nodes, error) {
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := table.OpenFile(file)
	if err != nil {
		return nil, err
	}
	t := &graphTable{Reader: r, path: path, what: "nodes"}
	defer t.Close()
	var ids []string
	_, err = t.read(func(b *table.Batch) (err error) {
		ids, err = appendIDs(ids, ingest.Gene, t, b, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	nodes, _ := ingest.NewNodes(ingest.Gene, ids, nil)
	return nodes, nil
}
