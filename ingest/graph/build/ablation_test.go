package build

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

// randomTable has rows of genes g0 … with few different weights, so that there are ties, in a
// column w, and their row in a column n.
func randomTable(random *rand.Rand, genes, rows int) (ids []string, text string) {
	for i := range genes {
		ids = append(ids, fmt.Sprintf("g%02d", i))
	}
	var b strings.Builder
	b.WriteString("a\tb\tw\tn\n")
	for i := range rows {
		weight := fmt.Sprint(random.IntN(4))
		if random.IntN(10) == 0 {
			weight = "NA"
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%d\n", ids[random.IntN(genes)], ids[random.IntN(genes)],
			weight, i)
	}
	return ids, b.String()
}

// ablatedEdge is an edge "src", "dst" with its columns as text.
type ablatedEdge struct{ src, dst, columns string }

// ablatedEdges builds edges of a table with further settings.
func ablatedEdges(
	t *testing.T, ids []string, text, settings string,
) ([]ablatedEdge, *ingest.Account) {
	t.Helper()
	spec, err := decodeSpec(t,
		"genes: {file: x, column: id}\nedges: [{file: x, relation: s, from: a, to: b, weight: w, "+
			"keep: {n: integer}, "+settings+"}]")
	if err != nil {
		t.Fatal(err)
	}
	spec.Genes, spec.Edges[0].File = genesNamed(t, ids...), inputs.Write(t, "e.tsv", text)
	g, report, err := Graph(inputs.Opened(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	check.Accounts(t, report)
	var edges []ablatedEdge
	for i, src := range g.Edges[0].Src {
		columns := g.Edges[0].Columns[0].Values.ValueStr(i) + " " +
			g.Edges[0].Columns[1].Values.ValueStr(i)
		edges = append(edges, ablatedEdge{ids[src], ids[g.Edges[0].Dst[i]], columns})
	}
	return edges, report[1]
}

func countOf(counts []ingest.Count, what string) int {
	for _, c := range counts {
		if c.What() == what {
			return c.Rows
		}
	}
	return 0
}

// TestTop compares with every target's edges, sorted.
func TestTop(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	for _, undirected := range []bool{false, true} {
		ids, text := randomTable(random, 12, 150)
		settings := fmt.Sprintf("undirected: %v", undirected)
		all, _ := ablatedEdges(t, ids, text, settings)
		for _, top := range []int{1, 3, 1000} {
			stays := make(map[int]bool)
			for _, id := range ids {
				var rows []int
				for i, e := range all {
					if e.dst == id || undirected && e.src == id {
						rows = append(rows, i)
					}
				}
				weight := func(i int) string { // single digits; "NaN" is the least here
					w, _, _ := strings.Cut(all[i].columns, " ")
					return strings.Replace(w, "NaN", "", 1)
				}
				slices.SortStableFunc(rows,
					func(a, b int) int { return cmp.Compare(weight(b), weight(a)) })
				for _, row := range rows[:min(top, len(rows))] {
					stays[row] = true
				}
			}
			var want []ablatedEdge
			for i, e := range all {
				if stays[i] {
					want = append(want, e)
				}
			}
			got, report := ablatedEdges(t, ids, text, fmt.Sprintf("%s, top: %d", settings, top))
			if !slices.Equal(got, want) {
				t.Errorf("undirected %v, top %d: got\n%v\nwant\n%v", undirected, top, got, want)
			}
			reason := fmt.Sprintf("not among the top %d of its target", top)
			if n := countOf(report.Dropped, reason); n != len(all)-len(want) {
				t.Errorf("top %d: %d rows are accounted for, expected %d", top, n,
					len(all)-len(want))
			}
		}
	}
}

func TestSample(t *testing.T) {
	ids, text := randomTable(rand.New(rand.NewPCG(2, 0)), 12, 100)
	all, _ := ablatedEdges(t, ids, text, "undirected: false")
	// within returns whether part is a subsequence of whole, whose columns are unique.
	within := func(part, whole []ablatedEdge) bool {
		for _, e := range whole {
			if len(part) > 0 && part[0] == e {
				part = part[1:]
			}
		}
		return len(part) == 0
	}
	half, report := ablatedEdges(t, ids, text, "undirected: false, sample: 0.5")
	again, _ := ablatedEdges(t, ids, text, "undirected: false, sample: 0.5, seed: 0")
	other, _ := ablatedEdges(t, ids, text, "undirected: false, sample: 0.5, seed: 1")
	less, _ := ablatedEdges(t, ids, text, "undirected: false, sample: 0.2")
	whole, _ := ablatedEdges(t, ids, text, "undirected: false, sample: 1")
	switch {
	case len(half) != 50 || len(less) != 20:
		t.Errorf("%d and %d edges, expected 50 and 20 of 100", len(half), len(less))
	case !within(half, all) || !within(other, all) || !within(less, half) ||
		!slices.Equal(whole, all):
		t.Error("the edges of a share are not a part of the greater share, in order")
	case !slices.Equal(half, again) || slices.Equal(half, other):
		t.Error("the same edges for another seed, or other edges for the same seed")
	case countOf(report.Dropped, "not sampled (share 0.5, seed 0)") != 50:
		t.Errorf("the account is %+v", report)
	}
}

func TestRewire(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 0))
	for _, undirected := range []bool{false, true} {
		ids, text := randomTable(random, 20, 90)
		settings := fmt.Sprintf("undirected: %v", undirected)
		all, _ := ablatedEdges(t, ids, text, settings)
		got, report := ablatedEdges(t, ids, text, settings+", rewire: true")
		again, _ := ablatedEdges(t, ids, text, settings+", rewire: true")
		other, _ := ablatedEdges(t, ids, text, settings+", rewire: true, seed: 7")
		if !slices.Equal(got, again) || slices.Equal(got, other) {
			t.Error("the same edges for another seed, or other edges for the same seed")
		}
		// statistics that rewiring must keep: degrees, self loops, columns, repeats; and the pairs
		type summary struct {
			degrees, loops, columns string
			repeats                 int
		}
		summarize := func(edges []ablatedEdge) (s summary, pairs map[string]int) {
			degrees := make(map[string]int)
			pairs = make(map[string]int)
			var loops, columns []string
			for _, e := range edges {
				ends := []string{e.src, e.dst}
				if undirected {
					slices.Sort(ends)
					degrees[e.src]++
					degrees[e.dst]++
				} else {
					degrees["from "+e.src]++
					degrees["to "+e.dst]++
				}
				pairs[strings.Join(ends, "-")]++
				if e.src == e.dst {
					loops = append(loops, e.src+" "+e.columns)
				}
				columns = append(columns, e.columns)
			}
			return summary{
				fmt.Sprint(degrees), fmt.Sprint(loops), fmt.Sprint(columns),
				len(edges) - len(pairs),
			}, pairs
		}
		want, before := summarize(all)
		found, after := summarize(got)
		if found.repeats > want.repeats {
			t.Errorf("undirected %v: %d repeats, expected at most %d", undirected, found.repeats,
				want.repeats)
		}
		if found.repeats = want.repeats; found != want {
			t.Errorf("undirected %v: got\n%+v\nwant\n%+v", undirected, found, want)
		}
		rewired := 0
		for pair, n := range after {
			if before[pair] == 0 {
				rewired += n
			}
		}
		if n := countOf(report.Noted, "rewired (seed 0)"); n != rewired || rewired < len(all)/3 {
			t.Errorf("undirected %v: %d edges are noted, and %d new, of %d", undirected, n, rewired,
				len(all))
		}
	}
}

func TestAblationErrors(t *testing.T) {
	for _, test := range []struct{ settings, want string }{
		{"weight: w, top: 0", "edges.0: top: found 0, expected at least 1"},
		{"top: 3", "edges.0: weight: missing, although top is set"},
		{"sample: 0", "edges.0: sample: found 0, expected a share above 0 and at most 1"},
		{"sample: 1.5", "edges.0: sample: found 1.5"},
		{"weight: w, top: 1, seed: 3", "edges.0: seed: found 3 without sample or rewire"},
		{"rewire: true",
			"rewire edge type gene__s__gene: found no other graph of these degrees for its 2 " +
				"edges"},
	} {
		spec, err := decodeSpec(t,
			"genes: {file: x, column: id}\nedges: [{file: x, relation: s, from: a, to: b, "+
				"undirected: false, "+test.settings+"}]")
		if err != nil {
			t.Fatal(err)
		}
		spec.Genes = genesNamed(t, "A", "B", "C")
		spec.Edges[0].File = inputs.Write(t, "e.tsv", "a\tb\tw\nA\tB\t1\nA\tC\t2\n")
		_, _, err = Graph(inputs.Opened(t), spec)
		kind := fault.Usage
		if strings.HasPrefix(test.want, "rewire") {
			kind = fault.Input
		}
		check.Fault(t, err, kind, test.want)
		if fault.HintOf(err) == "" {
			t.Errorf("%s: the error has no hint", test.settings)
		}
	}
}
