package main

import (
	"os"
	"path/filepath"
	"strings"
	"tcbuild/encode"
	"testing"
)

// A graph may have only genes, without a folder for edges: every command accepts it.
func TestGenesAlone(t *testing.T) {
	skipShort(t)
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"graph/nodes/gene.tsv": "id\nYA\nYB\nYC\n",
		"sets.tsv":             "sample_id\tgenes\tfitness\ns0\tYA\t1\ns1\tYB|YC\t0.5\n",
	})
	must(t, dir, "incidence", "--graph", "graph", "--out", "table")
	must(t, dir, "verify", "table")
	must(t, dir, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "table-of-samples")
	builds := [][]string{{"incidence"}}
	for _, mode := range []encode.Mode{encode.Indices, encode.FullMasks} {
		for _, codec := range encode.Codecs(mode) {
			builds = append(builds, []string{"dataset", "--mode", string(mode), "--codec", codec})
		}
	}
	for _, build := range builds {
		for _, rule := range []string{"all", "gpr"} {
			out := strings.Join(append([]string{rule}, build...), "-")
			must(t, dir, with(build, "--reaction-rule", rule, "--graph", "graph", "--perturbations", "sets.tsv", "--out", out)...)
			shown := must(t, dir, "inspect", out, "--samples", "0:2", "--json").stdout
			if !strings.Contains(shown, `"masks":{"gene":{"size":3,"removed":[0]}}`) || !strings.Contains(shown, `"masks":{"gene":{"size":3,"removed":[1,2]}}`) {
				t.Errorf("%s: got %s", out, shown)
			}
			// a copy may leave empty folders
			if err := os.Remove(filepath.Join(dir, out, "graph", "edges")); err != nil {
				t.Fatal(err)
			}
			for _, method := range []string{"edges", "incidence", "both"} {
				must(t, dir, "verify", out, "--method", method)
			}
			if rule == "all" {
				must(t, dir, "diff", out, "table-of-samples")
			}
		}
	}
}

// Requested rules must exist; genes that only rules name are reported once.
func TestReactionRuleGPRNeedsRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	graph := func(name, reactions string) map[string]string {
		return map[string]string{
			name + "/nodes/gene.tsv": "id\nYA\nYB\n", name + "/nodes/reaction.tsv": reactions,
			name + "/edges/gene__physical__gene.tsv": "src\tdst\nYA\tYB\n",
		}
	}
	writeFiles(t, dir, map[string]string{"sets.tsv": "genes\nYA\nYB\n"},
		graph("without", "id\trule\nr1\tYA\n"), graph("none", "id\n"), graph("unknown", "id\tgpr\nr1\tYA and NOT1\nr2\tNOT2 or NOT1\nr3\tYB\nr4\t\n"))
	for _, build := range [][]string{{"incidence"}, {"dataset", "--mode", "indices"}, {"dataset", "--mode", "full-masks"}, {"bench"}} {
		build = with(build, "--reaction-rule", "gpr", "--perturbations", "sets.tsv")
		o := execute(t, dir, with(build, "--graph", "without", "--out", "out")...)
		o.refused(t, 2, "nodes/reaction.tsv has no column gpr")
		nothing(t, filepath.Join(dir, "out"))
	}
	must(t, dir, "incidence", "--reaction-rule", "gpr", "--graph", "none", "--out", "none-built")
	must(t, dir, "incidence", "--graph", "without", "--out", "without-built")
	o := must(t, dir, "incidence", "--reaction-rule", "gpr", "--graph", "unknown", "--perturbations", "sets.tsv", "--out", "unknown-built")
	if strings.Count(o.stderr, "unknown genes in gpr rules stay  genes=2 reactions=2 first=NOT1\n") != 1 {
		t.Errorf("got %s", o.stderr)
	}
}
