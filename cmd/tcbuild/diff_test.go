package main

import (
	"strings"
	"testing"
)

// differingLines checks that a diff ended with exit code 4 and printed lines that begin so.
func (o outcome) differingLines(t *testing.T, want ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(o.stdout, "\n"), "\n")
	if o.code != 4 || !strings.Contains(o.stderr, ": found other content; first: "+want[0]) ||
		len(lines) != len(want) {
		t.Fatalf("got exit code %d, stdout\n%s\nstderr\n%swant\n%s", o.code, o.stdout, o.stderr,
			strings.Join(want, "\n"))
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("got  %s\nwant %s", line, want[i])
		}
	}
}

// The variants of one input, however stored, have the same content.
func TestDiffOfVariants(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 900, 150)
	must(t, f.dir, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out",
		"incidence")
	must(t, f.dir, f.dataset("indices", "zstd", "indices", "--shards", "3")...)
	must(t, f.dir, f.dataset("full-masks", "raw", "masks")...)
	for _, pair := range [][2]string{
		{"incidence", "indices"}, {"indices", "masks"}, {"masks", "incidence"}, {"masks", "masks"},
	} {
		o := must(t, f.dir, "diff", pair[0], pair[1])
		want := pair[0] + " and " + pair[1] + " have the same content: 150 samples, "
		if !strings.HasPrefix(o.stdout, want) {
			t.Errorf("got %q, want %q", o.stdout, want)
		}
	}
	if o := must(t, f.dir, "diff", "masks", "indices", "--quiet"); o.stdout != "" {
		t.Errorf("got %q, want nothing", o.stdout)
	}
	execute(t, f.dir, "diff", "masks", "graph").refused(t, 3, "open dataset graph")
}

// diff names the parts of the manifests that differ, then the first sample that does.
func TestDiff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const nodes = "id\tname\nYA\tone\nYB\ttwo\n"
	const table = "sample_id\tgenes\tfitness\tsize\tmedium\n"
	writeFiles(t, dir, map[string]string{
		"graph/nodes/gene.tsv":                 nodes,
		"graph/edges/gene__physical__gene.tsv": "src\tdst\nYA\tYB\n",
		"named/nodes/gene.tsv":                 "id\tname\nYA\tother\nYB\ttwo\n",
		"named/edges/gene__physical__gene.tsv": "src\tdst\nYA\tYB\n",
		"more/nodes/gene.tsv":                  nodes + "YC\t\n",
		"more/edges/gene__physical__gene.tsv":  "src\tdst\nYA\tYB\nYB\tYC\n",
		"more/edges/gene__genetic__gene.tsv":   "src\tdst\nYA\tYB\n",

		"plus.tsv":     table + "s\tYA\t0\t\tYPD\nt\tYB\t1\t2\t\n",
		"missing.tsv":  table + "s\tYA\t0\tNaN\tYPD\nt\tYB\t1\t2\tNA\n",
		"negative.tsv": table + "s\tYA\t-0.0\t\tYPD\nt\tYB\t1\t2\t\n",
		"genes.tsv":    table + "s\tYA\t0\t\tYPD\nt\tYA|YB\t1\t2\t\n",
		"medium.tsv":   table + "s\tYA\t0\t\tSC\nt\tYB\t1\t2\t\n",
		"swapped.tsv":  table + "t\tYB\t1\t2\t\ns\tYA\t0\t\tYPD\n",
		"fewer.tsv":    "sample_id\tgenes\tfitness\ns\tYA\t0\n",
	})
	build := func(graph, set, out string, more ...string) {
		t.Helper()
		must(t, dir, with([]string{"incidence", "--graph", graph, "--perturbations", set + ".tsv",
			"--out", out}, more...)...)
	}
	for _, set := range []string{
		"plus", "missing", "negative", "genes", "medium", "swapped", "fewer",
	} {
		build("graph", set, set)
	}
	build("named", "plus", "named-plus")
	build("more", "plus", "more-plus")
	build("graph", "plus", "rule", "--reaction-rule", "gpr")

	must(t, dir, "diff", "plus", "missing")
	for _, c := range []struct {
		b    string
		want []string
	}{
		{"negative", []string{"sample 0 (id s): fitness: 0 in A, -0 in B"}},
		{"genes", []string{"sample 1 (id t): deleted genes: YB in A, YA|YB in B"}},
		{"medium", []string{`sample 0 (id s): medium: "YPD" in A, "SC" in B`}},
		{"swapped", []string{"sample 0 (id s): id: s in A, t in B"}},
		{"fewer", []string{
			"samples: 2 in A, 1 in B",
			"phenotypes: [fitness, size] in A, [fitness] in B",
			"attributes: [medium] in A, [] in B",
		}},
		{"named-plus", []string{"digest of the graph with names and other columns: "}},
		{"more-plus", []string{
			"gene: 2 in A, 3 in B",
			"gene__physical__gene: 1 in A, 2 in B",
			"gene__genetic__gene: none in A, 1 in B",
			"digest of the graph's ids and edges: ",
		}},
		{"rule", []string{"reaction rule: all in A, gpr in B"}},
	} {
		execute(t, dir, "diff", "plus", c.b).differingLines(t, c.want...)
	}
}
