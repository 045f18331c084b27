package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	execute(t, f.dir, with(build, "processed/lmdb", "id_column=strain")...).refused(t, 2,
		"found id_column, which does not apply to a torchcell store")

	writeFiles(t, f.dir, map[string]string{"conversion/STAGE_COMPLETE": "\n"})
	execute(t, f.dir, with(build, "processed/lmdb")...).refused(t, 3,
		"processed/lmdb: the stage is unfinished")
	writeFiles(t, f.dir, map[string]string{"processed/STAGE_COMPLETE": "\n"})

	lmdbtest.Write(t, filepath.Dir(data), maps.All(map[string]string{"500": `{"experiment": {}}`}))
	execute(t, f.dir, with(build, "processed/lmdb")...).refused(t, 3,
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
