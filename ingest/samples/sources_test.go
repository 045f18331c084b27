package samples_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
	"tcbuild/internal/testing/sets"
)

func TestPerturbations(t *testing.T) {
	features := inputs.WriteSGD(t, "ORF YA STDA OLD", "ORF YB STDB SHARED", "ORF YC - SHARED")
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"YA", "YB", "YC"}, nil)
	spec := samples.Spec{
		GenesColumns:  []string{"orfs"},
		Phenotypes:    []string{"y"},
		Aliases:       features,
		UnknownGenes:  ingest.DropGene,
		GeneDelimiter: ";",
		IDColumn:      "strain",
		TextSpec: table.TextSpec{
			File: inputs.Write(t, "p.txt",
				"s1 YB;OLD 0.5 7\ns2 STDB;YC 0.25 8\ns3 SHARED;YA NA 9\n"),
			Delimiter: "space", Columns: []string{"strain", "orfs", "x", "y"},
		},
	}
	p, err := openForm(spec, &ingest.Graph{Genes: genes})
	if err != nil {
		t.Fatal(err)
	}
	texts, account, err := readTexts(p, genes)
	if err != nil {
		t.Fatal(err)
	}
	checkSamples(t, texts, []string{"s1 YA+YB [7]", "s2 YB+YC [8]", "s3 YA [9]"})
	if counts, want := sets.Counts(account), "3 kept, 1 unknown_left_out"; counts != want {
		t.Errorf("counts %+v, want %+v", counts, want)
	}
	if !slices.Equal(p.Columns().PhenotypeNames(), []string{"y"}) ||
		!slices.Equal(p.Columns().Ignored, []string{"x"}) {
		t.Errorf("phenotypes %q, ignored %q", p.Columns().PhenotypeNames(), p.Columns().Ignored)
	}

	spec.UnknownGenes = ""
	if p, err = openForm(spec, &ingest.Graph{Genes: genes}); err != nil {
		t.Fatal(err)
	}
	_, _, err = readTexts(p, genes)
	check.Fault(t, err, fault.Input, "p.txt:3", `"SHARED"`)
	spec.Delimiter = "semicolon"
	_, err = openForm(spec, &ingest.Graph{Genes: genes})
	check.Fault(t, err, fault.Usage, `"semicolon"`)
	spec.Delimiter, spec.Aliases = "", "absent.tab"
	_, err = openForm(spec, &ingest.Graph{Genes: genes})
	check.Fault(t, err, fault.Failed, "open absent.tab: there is no such file")
}

// TestRealPerturbations checks the totals of the published sets, counted independently of this
// code.
func TestRealPerturbations(t *testing.T) {
	g := yeast(t)
	for _, test := range []struct {
		file       string
		spec       samples.Spec
		counts     string
		deleted    int // genes of all samples
		phenotypes string
	}{
		{
			file:       "kuzmin2018_significant/perturbations.tsv.gz",
			spec:       samples.Spec{GenesColumns: []string{"orfs"}, GeneDelimiter: ";"},
			counts:     "17285 kept",
			deleted:    37_765,
			phenotypes: "n_genes n_rating0 n_rating1",
		},
		{
			file: "emap_collins2007/pairs.tsv.gz",
			spec: samples.Spec{
				GenesColumns: []string{"gene_a", "gene_b"},
				Phenotypes:   []string{"score"},
				UnknownGenes: ingest.DropGene,
			},
			counts:     "186500 kept, 762 unknown_left_out",
			deleted:    372_238,
			phenotypes: "score",
		},
		{
			file: "celaj2020_xga/perturbations_long.tsv.gz",
			spec: samples.Spec{
				GenesColumns:  []string{"orfs"},
				Phenotypes:    []string{"resistance"},
				GeneDelimiter: ";",
				AllowWildtype: true,
			},
			counts:     "85648 kept, 848 wildtype",
			deleted:    593_600,
			phenotypes: "resistance",
		},
	} {
		t.Run(filepath.Dir(test.file), func(t *testing.T) {
			test.spec.File = filepath.Join(data, test.file)
			p, err := openForm(test.spec, g)
			if err != nil {
				t.Fatal(err)
			}
			deleted := 0
			account, err := sets.Read(p, func(batch *ingest.Samples) error {
				for i := range batch.Len() {
					deleted += len(batch.Genes(i))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			counts := sets.Counts(account)
			if counts != test.counts || deleted != test.deleted ||
				strings.Join(p.Columns().PhenotypeNames(), " ") != test.phenotypes {
				t.Errorf("counts %+v, %d genes, phenotypes %q; want %+v, %d, %s",
					counts, deleted, p.Columns().PhenotypeNames(),
					test.counts, test.deleted, test.phenotypes)
			}

			test.spec.UnknownGenes, test.spec.AllowWildtype = ingest.RefuseUnknownGenes, false
			if p, err = openForm(test.spec, g); err != nil {
				t.Fatal(err)
			}
			_, err = sets.ReadAll(p)
			switch {
			case strings.Contains(test.counts, "unknown"):
				check.Fault(t, err, fault.Input, "pairs.tsv.gz:2", `"REP1"`)
			case strings.Contains(test.counts, "wildtype"):
				check.Fault(t, err, fault.Input, "perturbations_long.tsv.gz:")
			case err != nil:
				t.Error(err)
			}
		})
	}
}
