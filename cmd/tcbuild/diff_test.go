package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/ingest"
	"tcbuild/ingest/graph"
)

// diffs checks that a diff ended with exit code 4 and printed exactly the lines of want.
func (o outcome) diffs(t *testing.T, want string) {
	t.Helper()
	kinds := "kinds of differences; first"
	if strings.Contains(o.stderr, ": found 1 ") {
		kinds = "kind of difference; first"
	}
	if o.code != 4 || !strings.Contains(o.stderr, "compare A = ") || !strings.Contains(o.stderr, kinds) || countLines(o.stderr) > 2 {
		t.Errorf("got exit code %d, stderr:\n%s", o.code, o.stderr)
	}
	if cut := strings.Contains(want, " more\n"); hasHint(o.stderr) != cut {
		t.Errorf("got stderr:\n%swant a hint: %v", o.stderr, cut)
	}
	if o.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", o.stdout, want)
	}
}

// The variants of one input, however stored, are the same; with another rule, sample or label they
// are not.
func TestDiffOfVariants(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 900, 150)
	must(t, f.dir, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "incidence")
	must(t, f.dir, f.dataset("indices", "zstd", "indices", "--shards", "3")...)
	must(t, f.dir, f.dataset("full-masks", "raw", "masks")...)
	for _, pair := range [][2]string{{"incidence", "indices"}, {"indices", "masks"}, {"masks", "incidence"}, {"masks", "masks"}, {"indices", "incidence"}} {
		o := must(t, f.dir, "diff", pair[0], pair[1])
		if want := pair[0] + " and " + pair[1] + " are the same: 150 samples x 7 masks\n"; o.stdout != want {
			t.Errorf("got %q, want %q", o.stdout, want)
		}
	}
	if o := must(t, f.dir, "diff", "masks", "graph"); !strings.Contains(o.stdout, "are the same: 355 nodes, 1,090 edges") {
		t.Errorf("got %q", o.stdout)
	}
	if o := must(t, f.dir, "diff", "masks", "indices", "--quiet"); o.stdout != "" {
		t.Errorf("got %q, want nothing", o.stdout)
	}
}

// Samples are matched by id, whichever their order, and every change is named, with each pair of
// variants.
func TestDiffOfSamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	graph := map[string]string{
		"graph/nodes/gene.tsv":                      "id\nYA\nYB\nYC\n",
		"graph/nodes/reaction.tsv":                  "id\tgpr\nr1\tYA or YB\n",
		"graph/nodes/metabolite.tsv":                "id\nm1\n",
		"graph/edges/gene__physical__gene.tsv":      "src\tdst\nYA\tYB\nYB\tYC\nYC\tYC\n",
		"graph/edges/gene__gpr__reaction.tsv":       "src\tdst\nYA\tr1\nYB\tr1\n",
		"graph/edges/reaction__rmr__metabolite.tsv": "src\tdst\nr1\tm1\n",
	}
	writeFiles(t, dir, graph, map[string]string{
		"a.tsv": "sample_id\tgenes\tfitness\tsize\nsame\tYA\t1\t\nlabel\tYB\t0.5\t1\ngene\tYA\t1\t1\ngone\tYC\t1\t1\nback\tYB|YC\t1\t1\ntwice\tYA\t1\t1\ntwice\tYB\t1\t1\n",
		"b.tsv": "sample_id\tgenes\tfitness\tgrowth\nback\tYB|YC\t1\t1\nnew\tYC\t1\t1\nsame\tYA\t1\t\nlabel\tYB\t\t1\ngene\tYC\t1\t1\ntwice\tYA\t1\t1\ntwice\tYB\t1\t1\n",
	})
	for _, name := range []string{"a", "b"} {
		args := []string{"--graph", "graph", "--perturbations", name + ".tsv", "allow_duplicate_ids=true", "--out"}
		must(t, dir, append([]string{"incidence"}, append(args, name+"-incidence")...)...)
		must(t, dir, append([]string{"dataset", "--mode", "indices"}, append(args, name+"-indices")...)...)
		must(t, dir, append([]string{"dataset", "--mode", "full-masks"}, append(args, name+"-full-masks")...)...)
	}
	want := `phenotypes only in A: 1
  size
phenotypes only in B: 1
  growth
samples with another fitness: 1
  label (number 1): 0.5 in A, missing in B
samples with other deleted genes: 1
  gene (number 2): YA in A, YC in B
samples with another mask gene: 1
  gene (number 2): only A removes YA; only B removes YC
samples with another mask reaction: 1
  gene (number 2): only A removes r1
samples with another mask gene__gpr__reaction: 1
  gene (number 2): only A removes YA -> r1 (position 0)
samples with another mask gene__physical__gene: 1
  gene (number 2): only A removes YA -> YB (position 0); only B removes YB -> YC (position 1), YC -> YC (position 2)
samples with another mask reaction__rmr__metabolite: 1
  gene (number 2): only A removes r1 -> m1 (position 0)
samples only in A: 1
  gone (number 3)
samples only in B: 1
  new (number 1)
`
	for _, variants := range [][2]string{{"indices", "indices"}, {"incidence", "full-masks"}, {"full-masks", "indices"}} {
		execute(t, dir, "diff", "a-"+variants[0], "b-"+variants[1]).diffs(t, want)
	}

	// Of several samples of one id, the first goes with the first, even while others wait.
	writeFiles(t, dir, map[string]string{
		"c.tsv": "sample_id\tgenes\nfirst\tYC\ntwice\tYA\ntwice\tYB\n", "d.tsv": "sample_id\tgenes\ntwice\tYA\ntwice\tYB\nfirst\tYC\n",
	})
	for _, name := range []string{"c", "d"} {
		must(t, dir, "incidence", "--graph", "graph", "--perturbations", name+".tsv", "allow_duplicate_ids=true", "--out", name)
	}
	reordered(t, dir, "c", "d", "logical content, such as the order of samples: 1\n")

	must(t, dir, "dataset", "--mode", "indices", "--graph", "graph", "--perturbations", "a.tsv", "allow_duplicate_ids=true", "--reaction-rule", "gpr", "--out", "rule")
	execute(t, dir, "diff", "a-indices", "rule", "--limit", "1").diffs(t, `reaction rule: 1
  all in A, gpr in B
samples with another mask reaction: 6
  same (number 0): only A removes r1
  and 5 more
samples with another mask reaction__rmr__metabolite: 6
  same (number 0): only A removes r1 -> m1 (position 0)
  and 5 more
`)
}

// Whatever makes the logical contents differ is a difference: the sign of zero, and the order of
// samples, by their ids.
func TestDiffIsOfContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"graph/nodes/gene.tsv":                   "id\nYA\nYB\n",
		"graph/edges/gene__physical__gene.tsv":   "src\tdst\tscore\tsource\nYA\tYB\t0\tx\n",
		"minus/nodes/gene.tsv":                   "id\nYA\nYB\n",
		"minus/edges/gene__physical__gene.tsv":   "src\tdst\tscore\tsource\nYA\tYB\t-0\tx\n",
		"float/nodes/gene.tsv":                   "id\nYA\nYB\n",
		"float/edges/gene__physical__gene.arrow": scoredEdge(t, 0),
		"below/nodes/gene.tsv":                   "id\nYA\nYB\n",
		"below/edges/gene__physical__gene.arrow": scoredEdge(t, math.Copysign(0, -1)),
		"order/nodes/gene.tsv":                   "id\nYA\nYB\n",
		"order/edges/gene__physical__gene.tsv":   "src\tdst\tsource\tscore\nYA\tYB\tx\t0\n",
		"plus.tsv":                               "sample_id\tgenes\tfitness\tsize\ns\tYA\t0\t\nt\tYB\t1\t2\n",
		"negative.tsv":                           "sample_id\tgenes\tfitness\tsize\ns\tYA\t-0.0\tNaN\nt\tYB\t1\t2\n",
		"missing.tsv":                            "sample_id\tgenes\tfitness\tsize\ns\tYA\t0\tNaN\nt\tYB\t1\t2\n",
		"swapped.tsv":                            "sample_id\tgenes\tfitness\tsize\nt\tYB\t1\t2\ns\tYA\t0\t\n",
	})
	for _, name := range []string{"plus", "negative", "missing", "swapped"} {
		must(t, dir, "dataset", "--mode", "indices", "--graph", "graph", "--perturbations", name+".tsv", "allow_duplicate_ids=true", "--out", name)
	}
	execute(t, dir, "diff", "plus", "negative").diffs(t, "samples with another fitness: 1\n  s (number 0): 0 in A, -0 in B\n")
	reordered(t, dir, "plus", "swapped", "logical content, such as the order of samples: 1\n")
	must(t, dir, "diff", "plus", "missing")
	execute(t, dir, "diff", "graph", "minus").diffs(t, "gene__physical__gene: values of column score: 1\n  YA -> YB (row 0): \"0\" in A, \"-0\" in B\n")
	execute(t, dir, "diff", "float", "below").diffs(t, "gene__physical__gene: values of column score: 1\n  YA -> YB (row 0): 0 in A, -0 in B\n")
	reordered(t, dir, "graph", "order", "content of the graph, such as the order of rows or columns: 1\n")
	execute(t, dir, "diff", "graph", "float").diffs(t, "gene__physical__gene: columns of another type: 1\n  score (utf8 in A, float64 in B)\n")
}

// reordered checks that nothing differs but the order, which digests tell.
func reordered(t *testing.T, dir, a, b, want string) {
	t.Helper()
	o := execute(t, dir, "diff", a, b)
	if lines := strings.SplitAfter(o.stdout, "\n"); o.code != 4 || lines[0] != want || len(lines) != 3 || !strings.Contains(lines[1], " in A, ") {
		t.Errorf("%s and %s: got exit code %d, %s, want %s", a, b, o.code, o.stdout, want)
	}
}

// scoredEdge is an edge table as an Arrow file: from YA to YB, with a score and the source x.
func scoredEdge(t *testing.T, score float64) string {
	var fields []arrow.Field
	var values []arrow.Array
	for _, c := range []ingest.Column{
		ingest.TextColumn("src", []string{"YA"}), ingest.TextColumn("dst", []string{"YB"}),
		ingest.NumberColumn("score", []float64{score}), ingest.TextColumn("source", []string{"x"}),
	} {
		fields, values = append(fields, arrow.Field{Name: c.Name, Type: c.Values.DataType()}), append(values, c.Values)
	}
	return arrowFile(t, array.NewRecord(arrow.NewSchema(fields, nil), values, 1))
}

func TestDiffOfGraphs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := map[string]string{
		"a/nodes/gene.tsv":                      "id\tname\nYA\tone\nYB\ttwo\nYC\tthree\n",
		"a/edges/gene__physical__gene.tsv":      "src\tdst\tscore\nYA\tYB\t1\nYA\tYB\t2\nYB\tYC\t3\nYC\tYC\t\n",
		"a/edges/gene__genetic__gene.tsv":       "src\tdst\nYA\tYB\n",
		"a/nodes/reaction.tsv":                  "id\nr1\n",
		"a/nodes/metabolite.tsv":                "id\nm1\n",
		"a/edges/reaction__rmr__metabolite.tsv": "src\tdst\nr1\tm1\n",
	}
	b := map[string]string{
		"b/nodes/gene.tsv":                   "id\tname\nYB\ttwo\nYA\tONE\nYD\tfour\n",
		"b/edges/gene__physical__gene.tsv":   "src\tdst\tscore\tsource\nYD\tYA\t9\tx\nYA\tYB\t1\tx\nYA\tYB\t7\tx\n",
		"b/edges/gene__regulatory__gene.tsv": "src\tdst\nYA\tYB\n",
	}
	writeFiles(t, dir, a, b)
	execute(t, dir, "diff", "a", "b").diffs(t, `gene: nodes only in A: 1
  YC (row 2)
gene: nodes only in B: 1
  YD (row 2)
gene: values of column name: 1
  YA (row 0): "one" in A, "ONE" in B
node types only in A: 2
  reaction, of size 1
  metabolite, of size 1
edge types only in A: 2
  gene__genetic__gene, of size 1
  reaction__rmr__metabolite, of size 1
gene__physical__gene: edges only in A: 2
  YB -> YC (row 2)
  YC -> YC (row 3)
gene__physical__gene: edges only in B: 1
  YD -> YA (row 0)
gene__physical__gene: values of column score: 1
  YA -> YB (row 1): "2" in A, "7" in B
gene__physical__gene: columns only in B: 1
  source
edge types only in B: 1
  gene__regulatory__gene, of size 1
`)
	must(t, dir, "diff", "b", "b")
	execute(t, dir, "diff", "a", "nowhere").refused(t, 1, "read graph nowhere: found no such folder")
	execute(t, dir, "diff", "a").refused(t, 2, "diff: ")
	execute(t, dir, "diff", "a", "b", "--limit", "-1").refused(t, 2, `read --limit: found "-1", expected a whole decimal number, 0 or more`)
}

// With edges removed, added and shuffled, the graphs' differences are named and the masks differ in
// nothing else.
func TestDiffOfDatasetsOfDifferentGraphs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 600, 60)
	must(t, f.dir, f.dataset("indices", "zstd", "a")...)
	edges := f.graph.EdgesOf(ingest.EdgeType{Source: ingest.Gene, Relation: "physical", Target: ingest.Gene})
	name := func(row int) string {
		return fmt.Sprintf("%s -> %s", f.graph.Genes.IDs[edges.Src[row]], f.graph.Genes.IDs[edges.Dst[row]])
	}
	removed := name(edges.Len() - 1)
	edges.Src, edges.Dst = edges.Src[:edges.Len()-1], edges.Dst[:edges.Len()-1]
	edges.Src[0] = 299
	r := rand.New(rand.NewPCG(5, 6))
	r.Shuffle(edges.Len(), func(i, j int) {
		edges.Src[i], edges.Src[j] = edges.Src[j], edges.Src[i]
		edges.Dst[i], edges.Dst[j] = edges.Dst[j], edges.Dst[i]
	})
	if err := graph.Write(filepath.Join(f.dir, "other"), f.graph); err != nil {
		t.Fatal(err)
	}
	must(t, f.dir, f.dataset("full-masks", "zstd", "b", "--graph", "other")...)
	o := execute(t, f.dir, "diff", "a", "b")
	if o.code != 4 || !strings.Contains(o.stderr, "found 2 kinds of differences") {
		t.Errorf("got exit code %d, stderr:\n%s", o.code, o.stderr)
	}
	for _, want := range []string{"gene__physical__gene: edges only in A: 2\n", removed + " (row 299)\n", "gene__physical__gene: edges only in B: 1\n"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("got\n%s\nwant it to have %q", o.stdout, want)
		}
	}
	if strings.Contains(o.stdout, "samples with another") {
		t.Errorf("masks differ at edges that both graphs have:\n%s", o.stdout)
	}
}
