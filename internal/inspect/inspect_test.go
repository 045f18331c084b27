package inspect

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/samples"
)

func TestDistribute(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		counts := make([]int, 1+r.IntN(40))
		for i := range counts {
			counts[i] = r.IntN(1 + r.IntN(70))
		}
		d := distribute(counts, func(i int) string { return fmt.Sprint(i) })
		none, sum, atMostMedian, atMostP90 := 0, 0, 0, 0
		for _, n := range counts {
			sum += n
			if n == 0 {
				none++
			}
			if n <= d.Median {
				atMostMedian++
			}
			if n <= d.P90 {
				atMostP90++
			}
		}
		most := slices.Index(counts, slices.Max(counts))
		isMost := d.Max == counts[most] && d.Most == fmt.Sprint(most)
		isMean := d.Mean == float64(sum)/float64(len(counts))
		isCounted := d.Things == len(counts) && d.None == none
		if !isCounted || !isMost || !isMean {
			t.Fatalf("%v: got %+v", counts, d)
		}
		isMedian := 2*atMostMedian >= len(counts) && slices.Contains(counts, d.Median)
		isP90 := 10*atMostP90 >= 9*len(counts) && slices.Contains(counts, d.P90)
		if !isMedian || !isP90 {
			t.Fatalf("%v: got median %d and 90 %% %d", counts, d.Median, d.P90)
		}
		next := 0
		for _, bin := range d.Bins {
			things := 0
			for _, n := range counts {
				if bin.From <= n && n <= bin.To {
					things++
				}
			}
			if bin.From != next || things != bin.Things {
				t.Fatalf("%v: got bin %+v, want it to start at %d with %d", counts, bin, next,
					things)
			}
			next = bin.To + 1
		}
		if next <= d.Max {
			t.Fatalf("%v: the bins end before %d", counts, next)
		}
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPerturbations(t *testing.T) {
	const table = "sample_id\tgenes\tfitness\tnote\tsize\n" +
		"s0\tYB|YA\t1\tx\t\n" +
		"s1\tYA|YB\t3\ty\t\n" +
		"s2\t\t\tz\t\n" +
		"s2\tYX|YC\t2\tx\t\n" +
		"s4\tYC\t\ty\t\n" +
		"s5\tYC|YC\t1\tx\t\n"
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"YA", "YB", "YC", "YD"}, nil)
	s, err := Perturbations(t.Context(), samples.Named(write(t, "sets.tsv", table)),
		&ingest.Graph{Genes: genes})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"samples":5,"wildtypes":1,"self_pairs":1,"repeated_genes":0,` +
		`"duplicate_genotypes":1,"duplicate_ids":1,` +
		`"unknown":{"samples":1,"genes":[{"name":"YX","count":1}]},` +
		`"genotype_sizes":[{"genes":0,"samples":1},{"genes":1,"samples":1},` +
		`{"genes":2,"samples":3}],` +
		`"genes":{"things":4,"none":1,"median":2,"mean":1.5,"p90":2,"max":2,"most":"YA",` +
		`"bins":[{"from":0,"to":0,"things":1},{"from":1,"to":1,"things":0},` +
		`{"from":2,"to":3,"things":3}]},` +
		`"phenotypes":[{"name":"fitness","values":3,"missing":2,"min":1,"mean":2,"sd":1,"max":3,` +
		`"bins":[{"from":1,"to":2,"values":1},{"from":2,"to":3,"values":1},` +
		`{"from":3,"to":4,"values":1}]},` +
		`{"name":"size","values":0,"missing":5,"min":0,"mean":0,"sd":null,"max":0,"bins":[]}],` +
		`"attributes":[{"name":"note","type":"text","values":5,"missing":0,"different":3,` +
		`"most_frequent":[{"value":"x","samples":2},{"value":"y","samples":2},` +
		`{"value":"z","samples":1}]}],` +
		`"ignored_columns":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s, err = Perturbations(t.Context(), samples.Named(write(t, "sets.tsv", table)), nil)
	if err != nil {
		t.Fatal(err)
	}
	counted := [...]int{s.Samples, s.Genes.Things, s.Genes.None}
	if s.Unknown != nil || counted != [...]int{5, 4, 0} {
		t.Errorf("without a graph: got %+v, %v", s, err)
	}
	for text, want := range map[string]string{
		"orf\nYA\n":                      `found columns orf, expected genes column "genes"`,
		"genes\nYA||YB\n":                "sets.tsv:2: found an empty gene name",
		"genes\tfitness\nYA\t1\nYB\tx\n": `sets.tsv:3: column "fitness"`,
	} {
		_, err := Perturbations(t.Context(), samples.Named(write(t, "sets.tsv", text)),
			&ingest.Graph{Genes: genes})
		if fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestGraph(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"nodes/gene.tsv":                      "id\tname\nYA\ta\nYB\tb\nYC\tc\n",
		"nodes/reaction.tsv":                  "id\tgpr\nr1\tYA or YX\nr2\tYA and (YX\nr3\t\n",
		"nodes/metabolite.tsv":                "id\nm1\n",
		"edges/gene__physical__gene.tsv":      "src\tdst\nYA\tYB\nYA\tYB\nYA\tYA\n",
		"edges/gene__gpr__reaction.tsv":       "src\tdst\nYA\tr1\nYA\tr2\nYB\tr1\n",
		"edges/reaction__rmr__metabolite.tsv": "src\tdst\tstoichiometry\nr1\tm1\t1\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	graph, _, err := graph.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := Graph(graph)
	for i := range s.Edges {
		for k := range s.Edges[i].Degrees {
			s.Edges[i].Degrees[k].Bins = nil
		}
	}
	want := []string{
		"{Type:gene Nodes:3 Columns:[name]}", "{Type:reaction Nodes:3 " +
			"Columns:[gpr]}", "{Type:metabolite Nodes:1 Columns:[]}",
		"{Type:gene__gpr__reaction Edges:3 Duplicates:0 SelfLoops:0 Columns:[] Degrees:[" +
			"{Node:gene Distribution:{Things:3 None:1 Median:1 Mean:1 P90:2 Max:2 Most:YA " +
			"Bins:[]}} " +
			"{Node:reaction Distribution:{Things:3 None:1 Median:1 Mean:1 P90:2 Max:2 Most:r1 " +
			"Bins:[]}}]}",
		"{Type:gene__physical__gene Edges:3 Duplicates:1 SelfLoops:1 Columns:[] Degrees:[" +
			"{Node:gene Distribution:{Things:3 None:1 Median:2 Mean:1.6666666666666667 P90:3 " +
			"Max:3 Most:YA Bins:[]}}]}",
		"{Type:reaction__rmr__metabolite Edges:1 Duplicates:0 SelfLoops:0 " +
			"Columns:[stoichiometry] Degrees:[" +
			"{Node:reaction Distribution:{Things:3 None:2 Median:0 Mean:0.3333333333333333 P90:1 " +
			"Max:1 Most:r1 Bins:[]}} " +
			"{Node:metabolite Distribution:{Things:1 None:0 Median:1 Mean:1 P90:1 Max:1 Most:m1 " +
			"Bins:[]}}]}",
		"{Rules:1 Isozymes:1 Without:1 Unreadable:[r2] UnknownGenes:[{Name:YX Count:1}]}",
	}
	var got []string
	for _, nodes := range s.Nodes {
		got = append(got, fmt.Sprintf("%+v", nodes))
	}
	for _, edges := range s.Edges {
		got = append(got, fmt.Sprintf("%+v", edges))
	}
	got = append(got, fmt.Sprintf("%+v", *s.Rules))
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
