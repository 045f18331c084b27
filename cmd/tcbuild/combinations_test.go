package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Pairs of a list, from which dataset they come, are those of a table that lists them.
func TestCombinations(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 900, 1)
	var list, table strings.Builder
	var genes []string
	for i := range 40 {
		genes = append(genes, f.graph.Genes.IDs[(i*37+5)%fixtureGenes])
		fmt.Fprintln(&list, genes[i])
	}
	table.WriteString("sample_id\tgenes\n")
	number := 0
	for i, first := range genes {
		for _, second := range genes[i+1:] {
			if number >= 100 {
				fmt.Fprintf(&table, "%d\t%s|%s\n", number, first, second)
			}
			number++
		}
	}
	writeFiles(t, f.dir, map[string]string{"genes.txt": list.String(), "table.tsv": table.String()})
	pairs := fmt.Sprintf("combinations:genes.txt:2:100:%d", number)
	build := func(mode, perturbations, out string, more ...string) {
		must(t, f.dir,
			with(f.dataset(mode, "zstd", out, "--perturbations", perturbations), more...)...)
	}
	build("indices", "table.tsv", "listed", "--shards", "4")
	build("indices", pairs, "whole", "--shards", "4")
	apart := rebuildOf("--perturbations", pairs, "variants=[indices]")
	must(t, f.dir, with(apart, "--step", "prepare", "--parts", "4")...)
	for _, part := range []string{"4/4", "2/4", "1/4", "3/4"} {
		must(t, f.dir, with(apart, "--step", "build", "--part", part)...)
	}
	build("full-masks", pairs, "masks")
	must(t, f.dir, "incidence", "--graph", "graph", "--perturbations", pairs, "--out", "table")

	unfinished := glob(t, f.dir, "out/set/.build-*/indices")[0]
	sameData(t, dataOf(t, unfinished), dataOf(t, filepath.Join(f.dir, "whole")))
	want := manifestOf(t, filepath.Join(f.dir, "listed"))
	for _, dataset := range []string{"whole", "masks", "table"} {
		must(t, f.dir, "verify", dataset, "--method", "both")
		must(t, f.dir, "diff", "listed", dataset)
		got := manifestOf(t, filepath.Join(f.dir, dataset))
		if got.LogicalContent != want.LogicalContent || got.Samples != number-100 {
			t.Errorf("%s has %d samples of content %s, want %d of %s", dataset, got.Samples,
				got.LogicalContent, number-100, want.LogicalContent)
		}
	}
}

// The last of all combinations that 300 genes allow are the last genes.
func TestLastCombinations(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 900, 1)
	writeFiles(t, f.dir,
		map[string]string{"genes.txt": strings.Join(f.graph.Genes.IDs, "\n") + "\n"})
	const all = 300 * 299 / 2 * 298 / 3 * 297 / 4
	must(t, f.dir,
		f.dataset("indices", "zstd", "end", "--perturbations",
			fmt.Sprintf("combinations:genes.txt:4:%d:%d", all-2, all))...)
	o := must(t, f.dir, "inspect", "end", "--samples", ":", "--json")
	for i, want := range []string{
		fmt.Sprintf(`{"sample":0,"sample_id":"%d","genes":["Y295","Y297","Y298","Y299"],`+
			`"perturbation_indices":[295,297,298,299],"phenotypes":{},`, all-2),
		fmt.Sprintf(`{"sample":1,"sample_id":"%d","genes":["Y296","Y297","Y298","Y299"],`+
			`"perturbation_indices":[296,297,298,299],"phenotypes":{},`, all-1),
	} {
		if line := strings.Split(o.stdout, "\n")[i]; !strings.HasPrefix(line, want) {
			t.Errorf("got %s, want %s", line, want)
		}
	}
}

func TestWrongCombinations(t *testing.T) {
	for perturbations, want := range map[string]string{
		"combinations:genes.txt": "read perturbations combinations:genes.txt: expected " +
			"combinations:FILE:K",
		"combinations:genes.txt:4":     "found k = 4, expected 1 to the 3 genes of genes.txt",
		"combinations:genes.txt:2:0:4": "found range 0 to 4, expected one within 0 to 3",
		"c.yaml": "read settings: c.yaml: found a settings file, expected " +
			"a table, a torchcell store or a computed set",
	} {
		files := map[string]string{
			"genes.txt": "YA\nYB\nYC\n", "c.yaml": "combinations: {genes: genes.txt, k: 2}\n",
		}
		t.Run(perturbations, func(t *testing.T) {
			faulty(t, 2, files, with(buildArgs, "--perturbations", perturbations), want)
		})
	}
	t.Run("unknown gene", func(t *testing.T) {
		faulty(t, 3, map[string]string{"genes.txt": "YA\nYX\n"},
			with(buildArgs, "--perturbations", "combinations:genes.txt:1"),
			`read genes genes.txt:2: gene "YX" is not in the graph`)
	})
}
