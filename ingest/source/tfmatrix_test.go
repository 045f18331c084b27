package source

import (
	"path/filepath"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
)

func TestTFMatrix(t *testing.T) {
	for name, text := range map[string]string{
		"named": "gene\tYA\tYX\tYB\nYA\t1\t2\t-0.5\nYB\t0\t0\tNA\nYY\t0\t0\t3\nYB\t4\t0\t0\n",
		"R":     "\"YA\"\t\"YX\"\t\"YB\"\n\"YA\"\t1\t2\t-0.5\n\"YB\"\t0\t0\tNA\n\"YY\"\t0\t0\t3\n\"YB\"\t4\t0\t0\n",
	} {
		spec := GraphSpec{Genes: genesNamed(t, "YA", "YB"), UnknownGenes: ingest.DropGene, Edges: []EdgesSpec{
			{TFMatrix: &TFMatrixSpec{TextSpec: TextSpec{File: writeFile(t, "m.tsv", text)}, Relation: "tf"}},
		}}
		g, report, err := BuildGraph(opened(t), spec)
		if err != nil {
			t.Fatal(err)
		}
		checkAccounts(t, report)
		if got := edgeText(g.Edges[0], g.Genes, g.Genes); got != "YA-YA:1 YB-YA:-0.5 YA-YB:4" {
			t.Errorf("%s: edges %s", name, got)
		}
		const want = "gene__tf__gene: 3 of 12 entries of m.tsv; dropped: 2 of unknown genes, 7 with a weight of 0 or none; unknown names: YX, YY"
		if got := report[1].String(); got != want {
			t.Errorf("%s: report\n%s\nwant\n%s", name, got, want)
		}
		spec.UnknownGenes, spec.SelfLoops = "", LoopsNone
		_, _, err = BuildGraph(opened(t), spec)
		checkFault(t, err, fault.Input, "m.tsv:2", `"YX"`)
	}
}

// TestRealTFMatrices checks totals of the published matrices, counted independently of this code.
func TestRealTFMatrices(t *testing.T) {
	preset := yeastSpec(t)
	spec := GraphSpec{Genes: preset.Genes, Aliases: preset.Aliases, UnknownGenes: ingest.DropGene}
	files := []string{"YEASTRACT_20190713_BOTH", "gold_standard", "yeast-motif-prior"}
	for _, file := range files {
		path := filepath.Join(data, "regulatory_inferelator", file+".tsv.gz")
		spec.Edges = append(spec.Edges, EdgesSpec{TFMatrix: &TFMatrixSpec{TextSpec: TextSpec{File: path}, Relation: file}})
	}
	g, report, err := BuildGraph(opened(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	checkAccounts(t, report)
	for k, want := range []struct {
		rows, kept int
		sum        float64
	}{{1_514_700, 11_352, 11_352}, {97_314, 1_395, 573}, {1_940_400, 71_702, 47_767}} {
		made := ingest.EdgeType{Source: ingest.Gene, Relation: files[k], Target: ingest.Gene}
		edges, sum := g.EdgesOf(made), 0.0
		for _, weight := range numbersOf(edges.Columns[0]) {
			sum += weight
		}
		if rows := reportOf(t, report, made.String()).Rows; rows != want.rows || edges.Len() != want.kept || sum != want.sum {
			t.Errorf("%s: %d cells, %d edges of sum %v; want %+v", files[k], rows, edges.Len(), sum, want)
		}
	}
}

func FuzzTFMatrix(f *testing.F) {
	f.Add("gene\tYA\tYB\nYA\t1\t-2\n")
	f.Add("\"YA\"\n\"YB\"\t1e3\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, report, err := BuildGraph(opened(t), GraphSpec{Genes: genesNamed(t, "YA", "YB"), UnknownGenes: ingest.DropGene, Edges: []EdgesSpec{
			{TFMatrix: &TFMatrixSpec{TextSpec: TextSpec{File: writeFile(t, "m.tsv", text)}, Relation: "r"}},
		}})
		if err != nil && fault.KindOf(err) != fault.Input {
			t.Fatalf("error %v is not of the input", err)
		}
		checkAccounts(t, report)
	})
}
