package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/internal/inspect"
	"tcbuild/internal/testing/lmdbtest"
)

// torchcellFixture adds to a fixture its genotypes with a fitness, its standard error and
// attributes, as numbers.tsv and as the stores processed/lmdb, of arrays, and conversion/lmdb, of
// single experiments.
func torchcellFixture(t *testing.T) fixture {
	t.Helper()
	f := newFixture(t, 400, 150)
	var table strings.Builder
	table.WriteString(
		"sample_id\tgenes\tfitness\tfitness_se\texperiment_type\ttemperature\tperturbation_type\n",
	)
	arrays, singles := make(map[string]string), make(map[string]string)
	for i, genotype := range f.genotypes {
		number := 3 * i // a store of a part of a build leaves numbers out
		var names, perturbations []string
		for _, gene := range genotype {
			name := f.graph.Genes.IDs[gene]
			names = append(names, name)
			perturbations = append(perturbations,
				fmt.Sprintf(`{"systematic_gene_name": "%s", "perturbation_type": "damp", `+
					`"expression_range": {"min": NaN, "max": Infinity}}`,
					name))
		}
		fitness, deviation, cell := fmt.Sprint(float64(i)/7), "null", ""
		if i%2 == 1 {
			deviation, cell = "0.25", "0.25"
		}
		types := strings.Join(slices.Repeat([]string{"damp"}, len(genotype)), "|")
		fmt.Fprintf(&table, "%d\t%s\t%s\t%s\tfitness\t%d\t%s\n", number, strings.Join(names, "|"),
			fitness, cell, 26+i%5, types)
		record := fmt.Sprintf(`{"experiment": {"experiment_type": "fitness", "environment": `+
			`{"temperature": {"value": %d, "unit": "Celsius"}}, "genotype": {"perturbations": `+
			`[%s]}, "phenotype": {"graph_level": "global", `+
			`"label_name": "fitness", "label_statistic_name": "fitness_se", "fitness": %s, `+
			`"fitness_se": %s}}, "experiment_reference": {}}`,
			26+i%5, strings.Join(perturbations, ", "), fitness, deviation)
		arrays[fmt.Sprint(number)], singles[fmt.Sprintf("data_%d", number)] = "["+record+"]", record
	}
	writeFiles(t, f.dir, map[string]string{"numbers.tsv": table.String()})
	lmdbtest.Write(t, filepath.Join(f.dir, "processed/lmdb"), maps.All(arrays))
	lmdbtest.Write(t, filepath.Join(f.dir, "conversion/lmdb"), maps.All(singles))
	return f
}

// A torchcell store and a table of the same samples give the same dataset.
func TestTorchcellStore(t *testing.T) {
	t.Parallel()
	f := torchcellFixture(t)
	// a temperature in a table is a phenotype otherwise
	const attributes = "experiment_type,temperature,perturbation_type"
	dataset := func(mode, perturbations, out string) []string {
		return []string{
			"dataset", "--mode", mode, "--graph", "graph", "--perturbations", perturbations,
			"--out", out, "--attributes", attributes,
		}
	}
	for _, mode := range []string{"indices", "full-masks"} {
		must(t, f.dir, dataset(mode, "numbers.tsv", mode)...)
		want := dataOf(t, filepath.Join(f.dir, mode))
		delete(want, "manifest.json") // names the inputs
		for _, stage := range []string{"processed", "conversion"} {
			out := filepath.Join(stage, mode)
			must(t, f.dir, dataset(mode, stage+"/lmdb", out)...)
			must(t, f.dir, "verify", out)
			got := dataOf(t, filepath.Join(f.dir, out))
			delete(got, "manifest.json")
			sameData(t, got, want)
			table := manifestOf(t, filepath.Join(f.dir, mode))
			store := manifestOf(t, filepath.Join(f.dir, out))
			if table.LogicalContent != store.LogicalContent ||
				len(store.Inputs.Perturbations) != 1 ||
				store.Inputs.Perturbations[0].Name != "data.mdb" {
				t.Errorf("%s: logical content %s, want %s; inputs %v", out, store.LogicalContent,
					table.LogicalContent, store.Inputs.Perturbations)
			}
			if of := store.Phenotypes[1].StatisticOf; of != "fitness" {
				t.Errorf("%s: fitness_se is a statistic of %q", out, of)
			}
		}
	}
	must(t, f.dir, "rebuild", "--root", "root", "--dataset", "set", "--graph", "graph",
		"--perturbations", "processed/lmdb", "variants=[indices]")
	o := must(t, f.dir, "ingest", "perturbations", "processed/lmdb", "--graph", "graph", "--out",
		"ingested.tsv")
	const printed = "samples: 150 of 150 entries of lmdb\n" +
		"genotypes: 135; repeated: 13, in 28 samples; all are kept\n" +
		"phenotypes: fitness, fitness_se\n" +
		"attributes: experiment_type, temperature, perturbation_type\ncolumns left out: none\n"
	if o.stdout != printed {
		t.Errorf("got %q, want %q", o.stdout, printed)
	}
	must(t, f.dir, "incidence", "--graph", "graph", "--perturbations", "ingested.tsv", "--out",
		"ingested", "--attributes", attributes)
	contentOf := func(name string) string {
		return manifestOf(t, filepath.Join(f.dir, name)).LogicalContent
	}
	if got, want := contentOf("ingested"), contentOf("indices"); got != want {
		t.Errorf("ingested: logical content %s, want %s", got, want)
	}
	summary := func(path string) *inspect.PerturbationSummary {
		var s inspect.PerturbationSummary
		err := json.Unmarshal(
			[]byte(must(t, f.dir, "inspect", path, "--graph", "graph", "--json").stdout), &s,
		)
		if err != nil {
			t.Fatal(err)
		}
		return &s
	}
	// inspect knows no flags for columns, and a table does not say what a column is a statistic of
	must(t, f.dir, "ingest", "perturbations", "processed/lmdb", "--graph", "graph", "--out",
		"texts.tsv", "--attributes", "experiment_type,perturbation_type")
	got, want := summary("processed/lmdb"), summary("texts.tsv")
	a := got.Attributes[1]
	if a.Name != "temperature" || a.Numbers == nil || a.Values+a.Missing != 150 {
		t.Errorf("inspect: found the attribute %+v, expected a temperature", a)
	}
	if of := got.Phenotypes[1].StatisticOf; of != "fitness" {
		t.Errorf("inspect: found fitness_se as a statistic of %q, expected fitness", of)
	}
	if got.Kinds["damp"] != 290 {
		t.Errorf("inspect: found kinds %v, expected 290 damp", got.Kinds)
	}
	got.Attributes, got.Phenotypes[1].StatisticOf = slices.Delete(got.Attributes, 1, 2), ""
	if !reflect.DeepEqual(got, want) || got.Samples != 150 {
		t.Errorf("inspect: got %+v, want %+v", got, want)
	}
}

// A filter keeps the same samples of a store as of the table.
func TestTorchcellStoreFiltered(t *testing.T) {
	t.Parallel()
	f := torchcellFixture(t)
	content := make(map[string]bool)
	for _, set := range []string{"numbers.tsv", "processed/lmdb", "conversion/lmdb"} {
		out := strings.ReplaceAll(set, "/", "-") + ".kept"
		must(t, f.dir, "incidence", "--graph", "graph", "--perturbations", set, "--out", out,
			"--attributes", "experiment_type,temperature,perturbation_type", "--where",
			`temperature == 30 and not missing(fitness_se) and perturbation_type contains "damp"`)
		m := manifestOf(t, filepath.Join(f.dir, out))
		if m.Samples != 15 || m.Account.Sum(ingest.WhereNotTrue) != 135 {
			t.Errorf("%s: found %d samples and %d left out, expected 15 and 135", set, m.Samples,
				m.Account.Sum(ingest.WhereNotTrue))
		}
		content[m.LogicalContent] = true
	}
	if len(content) != 1 {
		t.Errorf("found %d logical contents, expected one", len(content))
	}
}

func TestTorchcellStoreRefused(t *testing.T) {
	t.Parallel()
	f := torchcellFixture(t)
	build := []string{
		"dataset", "--mode", "indices", "--graph", "graph", "--out", "out", "--perturbations",
	}
	data := filepath.Join(f.dir, "processed/lmdb/data.mdb")

	execute(t, f.dir, with(build, "processed")...).refused(t, 3,
		"processed: found a folder without data.mdb")
	execute(t, f.dir, "ingest", "perturbations", "processed/lmdb", "--graph", "graph", "--out",
		"out.tsv", "id_column=strain").refused(t, 2, "id_column: it does not apply to a store")

	writeFiles(t, f.dir, map[string]string{"conversion/STAGE_COMPLETE": "\n"})
	execute(t, f.dir, with(build, "processed/lmdb")...).refused(t, 3,
		"processed/lmdb: the stage is unfinished")
	writeFiles(t, f.dir, map[string]string{"processed/STAGE_COMPLETE": "\n"})

	lmdbtest.Write(t, filepath.Dir(data), maps.All(map[string]string{"500": `{"experiment": {}}`}))
	execute(t, f.dir, with(build, "processed/lmdb")...).refused(t, 3,
		`processed/lmdb: record 500: found no "genotype"`)
	execute(t, f.dir, "inspect", "processed/lmdb").refused(t, 3,
		`processed/lmdb: record 500: found no "genotype"`)

	if err := os.Truncate(data, 40_000); err != nil {
		t.Fatal(err)
	}
	execute(t, f.dir, with(build, "processed/lmdb")...).refused(t, 3, "processed/lmdb",
		"damaged LMDB file: page")
	nothing(t, filepath.Join(f.dir, "out"), filepath.Join(f.dir, "out.building"),
		filepath.Join(f.dir, "out.tsv"))
}

// Infinite values are no reason to stop, and are not lost in silence.
func TestTorchcellInfiniteValues(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 40, 1)
	lmdbtest.Write(t, filepath.Join(f.dir, "lmdb"),
		maps.All(map[string]string{
			"0": `{"experiment": {"genotype": {"perturbations": [{"systematic_gene_name": ` +
				`"Y000"}]}, ` +
				`"phenotype": {"label_name": "fitness", "label_statistic_name": "fitness_std", ` +
				`"fitness": -Infinity, "fitness_std": NaN}}}`,
		}))
	o := must(t, f.dir, "incidence", "--graph", "graph", "--perturbations", "lmdb", "--out", "out")
	if !strings.Contains(o.stderr, "infinite phenotype values count as missing") {
		t.Errorf("stderr:\n%s", o.stderr)
	}
	o = must(t, f.dir, "inspect", "out", "--samples", "0:1", "--json")
	if !strings.Contains(o.stdout, `"phenotypes":{"fitness":null,"fitness_std":null}`) {
		t.Errorf("got %s", o.stdout)
	}
}
