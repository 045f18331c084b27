package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/conf"
	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/internal/download"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

// data is the folder of the public files.
const data = "../../../../shared/data"

// yeastPreset is conf/yeast.yaml with its paths seen from this package.
func yeastPreset(t testing.TB) Spec {
	t.Helper()
	settings, err := conf.Load("../../../conf/yeast.yaml", []string{"data=" + data})
	if err != nil {
		t.Fatal(err)
	}
	var spec Spec
	if err := settings.Decode(&spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

// yeastSpec is yeastPreset, for tests that read the files.
func yeastSpec(t testing.TB) Spec {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it reads the real data")
	}
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the public yeast data is not there: %v", err)
	}
	return yeastPreset(t)
}

func TestYeastPresetIsValid(t *testing.T) {
	if _, err := yeastPreset(t).prepared(); err != nil {
		t.Error(err)
	}
}

// TestYeastPresetDigests compares the files with the digests in the preset, which names every file
// that it reads.
func TestYeastPresetDigests(t *testing.T) {
	spec := yeastSpec(t)
	downloads := make(map[string]download.Entry)
	for _, download := range spec.Downloads {
		downloads[download.File] = download
	}
	for _, path := range spec.Files() {
		file, named := downloads[path]
		if !named {
			t.Errorf("the preset reads %s, which it does not download", path)
			continue
		}
		delete(downloads, path)
		if filepath.Base(path) == "yeast_string_genes.txt" {
			continue // our copy ends its last line
		}
		fetched, err := file.Fetch(t.Context(), download.Client{})
		if err != nil || !fetched.Present || fetched.Found != file.SHA256 {
			t.Errorf("%s: %+v, %v", path, fetched, err)
		}
	}
	if len(downloads) > 0 {
		t.Errorf("the preset downloads files that it does not read: %v", downloads)
	}
}

// TestYeast checks the totals of the real graph, counted independently of this code.
func TestYeast(t *testing.T) {
	g, report, err := Graph(inputs.Opened(t), yeastSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	check.Accounts(t, report)
	if g.Genes.Len() != 6_604 || g.Reactions.Len() != 4_131 || g.Metabolites.Len() != 2_806 {
		t.Errorf("%d genes, %d reactions, %d metabolites; want 6604, 4131, 2806", g.Genes.Len(),
			g.Reactions.Len(), g.Metabolites.Len())
	}
	want := strings.TrimSpace(`
gene__coexpression_hu2007__gene 14826 of 14826
gene__genetic_costanzo2016__gene 33056 of 33056
gene__gpr__reaction 4095 of 4095
gene__motif_prior__gene 71702 of 1940400
gene__physical_krogan2006__gene 7055 of 7075
gene__string12_0_physical_database__gene 25345 of 352606
gene__string12_0_physical_experiments__gene 125321 of 352606
gene__string12_0_physical_textmining__gene 9460 of 352606
gene__string9_1_cooccurence__gene 2659 of 5328
gene__string9_1_database__gene 33486 of 66972
gene__string9_1_fusion__gene 1358 of 2722
gene__string9_1_neighborhood__gene 45601 of 91220
gene__yeastract__gene 11352 of 1514700
reaction__rmr__metabolite 15567 of 15567`)
	var got []string
	for _, edges := range g.Edges {
		got = append(got,
			fmt.Sprintf("%s %d of %d", edges.Type, edges.Len(),
				check.AccountOf(t, report, edges.Type.String()).Rows))
	}
	if strings.Join(got, "\n") != want {
		t.Errorf("edges:\n%s\nwant:\n%s", strings.Join(got, "\n"), want)
	}
}

// TestYeastGEM compares the model with tables made from it by other means.
func TestYeastGEM(t *testing.T) {
	spec := yeastSpec(t)
	spec.Edges = nil
	g, _, err := Graph(inputs.Opened(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(spec.GEM.File)
	rules := g.Reactions.Column("gpr")
	lower, upper := check.Numbers(g.Reactions.Columns[2]), check.Numbers(g.Reactions.Columns[3])
	reactions := filepath.Join(folder, "reactions.tsv.gz")
	visitTable(t, reactions, func(row int, batch *table.Batch, i int) {
		lb, _, _ := batch.Number(2, i)
		ub, _, _ := batch.Number(3, i)
		isBounded := lower[row] == lb && upper[row] == ub
		isNamed := g.Reactions.IDs[row] == string(batch.Text(0, i))
		if !isNamed || !isBounded || rules[row] != string(batch.Text(4, i)) {
			t.Fatalf("reaction %d is %s [%v, %v] %q, want %s [%v, %v] %q", row,
				g.Reactions.IDs[row], lower[row], upper[row], rules[row], batch.Text(0, i), lb, ub,
				batch.Text(4, i))
		}
	})
	rmr := g.EdgesOf(ingest.RMR)
	stoichiometry := filepath.Join(folder, "stoichiometry.tsv.gz")
	visitTable(t, stoichiometry, func(row int, batch *table.Batch, i int) {
		value, _, _ := batch.Number(2, i)
		reaction, metabolite := g.Reactions.IDs[rmr.Src[row]], g.Metabolites.IDs[rmr.Dst[row]]
		if reaction != string(batch.Text(0, i)) || metabolite != string(batch.Text(1, i)) ||
			check.Numbers(rmr.Columns[0])[row] != value {
			t.Fatalf("edge %d is %s %s %v, want %s %s %v", row, reaction, metabolite,
				check.Numbers(rmr.Columns[0])[row], batch.Text(0, i), batch.Text(1, i), value)
		}
	})
	var and, or, both int
	genes := make(map[string]bool)
	for _, text := range rules {
		rule, err := gpr.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, gene := range rule.Genes() {
			genes[gene] = true
		}
		hasAnd, hasOr := strings.Contains(text, " and "), strings.Contains(text, " or ")
		switch {
		case hasAnd && hasOr:
			both++
		case hasAnd:
			and++
		case hasOr:
			or++
		}
	}
	found := [...]int{len(genes), and + both, or + both, both}
	if found != [...]int{1_161, 209, 591, 50} {
		t.Errorf("%d genes, %d rules with `and`, %d with `or`, %d with both; want 1161, 209, "+
			"591, 50",
			len(genes), and+both, or+both, both)
	}
}

// visitTable visits the rows of a table with a header.
func visitTable(t *testing.T, path string, visit func(row int, batch *table.Batch, i int)) {
	t.Helper()
	reader, err := table.TextSpec{File: path}.Open(new(inputfile.Files))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	rows := 0
	if err := reader.Each(func(batch *table.Batch, i int) error {
		visit(rows, batch, i)
		rows++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if rows == 0 {
		t.Fatalf("%s has no rows", path)
	}
}

func BenchmarkYeast(b *testing.B) {
	spec := yeastSpec(b)
	for b.Loop() {
		if _, _, err := Graph(inputs.Opened(b), spec); err != nil {
			b.Fatal(err)
		}
	}
}
