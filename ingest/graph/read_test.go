package graph

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
)

// These tests change no file while it is read.
func init() { inputfile.ClockTick = 0 }

// folder writes files, named by path, and returns their folder.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if content == "folder" {
			path += "/"
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if content == "folder" {
			continue
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// tinyGraph is a graph with every part in it.
func tinyGraph() map[string]string {
	return map[string]string{
		"nodes/gene.tsv": "id\tname\nA\talpha\nB\t\nC\tgamma\n",
		"nodes/reaction.csv": "id,gpr,subsystem\nr1,\"(A or B)\",\"x, y\"\n" +
			"r2,,z\n",
		"nodes/metabolite.tsv": "id\tcharge\nm1\t-1\n",
		"nodes/.README.md":     "no table",
		"nodes/.hidden.tsv":    "no table",
		"edges/gene__physical__gene.tsv": "src\tweight\tdst\tnote\nA\t0.5\tB\tx\n" +
			"A\t\tB\t1\nB\tNA\tA\t\nC\t2\tC\tNA\n",
		"edges/gene__genetic__gene.csv": "src_index,dst_index\n2,0\n0,2\n",
		"edges/gene__gpr__reaction.tsv": "src\tdst\nA\tr1\nB\tr1\n",
		"edges/reaction__rmr__metabolite.tsv": "src\tdst\tstoichiometry\nr1\tm1\t-1\n" +
			"r2\tm1\t2.5\n",
	}
}

func TestRead(t *testing.T) {
	dir := folder(t, tinyGraph())
	g, inputs, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B", "C"},
		[]ingest.Column{ingest.TextColumn("name", []string{"alpha", "", "gamma"})})
	reactions, _ := ingest.NewNodes(ingest.Reaction, []string{"r1", "r2"}, []ingest.Column{
		ingest.TextColumn("gpr", []string{"(A or B)", ""}),
		ingest.TextColumn("subsystem", []string{"x, y", "z"}),
	})
	metabolites, _ := ingest.NewNodes(ingest.Metabolite, []string{"m1"},
		[]ingest.Column{ingest.TextColumn("charge", []string{"-1"})})
	want := &ingest.Graph{
		Genes:       genes,
		Reactions:   reactions,
		Metabolites: metabolites,
		Edges: []*ingest.Edges{
			{
				Type: ingest.EdgeType{
					Source: ingest.Gene, Relation: "genetic", Target: ingest.Gene,
				},
				Src: []uint32{2, 0},
				Dst: []uint32{0, 2},
			},
			{Type: ingest.GPR, Src: []uint32{0, 1}, Dst: []uint32{0, 0}},
			{
				Type: ingest.EdgeType{
					Source: ingest.Gene, Relation: "physical", Target: ingest.Gene,
				},
				Src: []uint32{0, 0, 1, 2},
				Dst: []uint32{1, 1, 0, 2},
				Columns: []ingest.Column{
					ingest.TextColumn("weight", []string{"0.5", "", "NA", "2"}),
					ingest.TextColumn("note", []string{"x", "1", "", "NA"}),
				},
			},
			{
				Type:    ingest.RMR,
				Src:     []uint32{0, 1},
				Dst:     []uint32{0, 0},
				Columns: []ingest.Column{ingest.NumberColumn("stoichiometry", []float64{-1, 2.5})},
			},
		},
	}
	checkGraph(t, g, want)

	if got, want := OddEdges(g), []EdgeReport{
		{ingest.EdgeType{Source: ingest.Gene, Relation: "genetic", Target: ingest.Gene}, 2, 0, 0},
		{ingest.GPR, 2, 0, 0},
		{ingest.EdgeType{Source: ingest.Gene, Relation: "physical", Target: ingest.Gene}, 4, 1, 1},
		{ingest.RMR, 2, 0, 0},
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("edges: got %v, want %v", got, want)
	}
	var names []string
	for _, input := range inputs {
		names = append(names, input.Name)
	}
	files := []string{
		"edges/gene__genetic__gene.csv",
		"edges/gene__gpr__reaction.tsv",
		"edges/gene__physical__gene.tsv",
		"edges/reaction__rmr__metabolite.tsv",
		"nodes/gene.tsv",
		"nodes/metabolite.tsv",
		"nodes/reaction.csv",
	}
	if !slices.Equal(names, files) {
		t.Errorf("inputs: got %s, want %s", names, files)
	}
	// printf 'src_index,dst_index\n2,0\n0,2\n' | sha256sum
	genetic := ingest.Input{
		Name:   "edges/gene__genetic__gene.csv",
		Bytes:  28,
		SHA256: "86f0fb27515fa2ed7fabf4cfb0088e62df362050d70f76139ea11f9c958319d4",
	}
	if inputs[0] != genetic {
		t.Errorf("input: got %v, want %v", inputs[0], genetic)
	}
}

// checkGraph compares two graphs through their text.
func checkGraph(t *testing.T, got, want *ingest.Graph) {
	t.Helper()
	if got, want := showGraph(got), showGraph(want); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func showGraph(g *ingest.Graph) string {
	var text strings.Builder
	columns := func(columns []ingest.Column) {
		for _, c := range columns {
			fmt.Fprintf(&text, "  %s %s %v\n", c.Name, c.Values.DataType(), c.Values)
		}
	}
	for _, nodes := range g.NodeTables() {
		fmt.Fprintf(&text, "%s %q\n", nodes.Type, nodes.IDs)
		columns(nodes.Columns)
	}
	for _, edges := range g.Edges {
		fmt.Fprintf(&text, "%s %d %d\n", edges.Type, edges.Src, edges.Dst)
		columns(edges.Columns)
	}
	return text.String()
}

func TestGraphFolders(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"parent": {
			"graph/nodes/gene.tsv": "id\nA\n", "graph/edges/gene__x__gene.tsv": "src\tdst\nA\tA\n",
		},
		"no gene edges":   {"nodes/gene.tsv": "id\nA\n", "edges/.none": "folder"},
		"no edges folder": {"nodes/gene.tsv": "id\nA\n"},
		"ids of all sorts": {
			"nodes/gene.tsv":       "id\nA\na\nNA\nnull\n007\n7\n1e5\nYAL001C (old)\nÅ\n",
			"nodes/metabolite.tsv": "id\nH+ [c]\na|b\n",
		},
		"no genes": {"nodes/gene.tsv": "id\n", "edges/gene__x__gene.tsv": "src\tdst\n"},
		"reactions alone": {
			"nodes/gene.tsv":                "id\nA\n",
			"nodes/reaction.tsv":            "id\nr\n",
			"edges/gene__gpr__reaction.tsv": "src\tdst\nA\tr\n",
		},
		"metabolites alone": {
			"nodes/gene.tsv": "id\nA\n", "nodes/metabolite.tsv": "id\nm\n", "edges/.none": "folder",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := Read(folder(t, files)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCountOddEdges compares the counts with those from a map.
func TestCountOddEdges(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1000} {
		for _, nodes := range []int{1, 5, 300} {
			e := &ingest.Edges{
				Type: ingest.EdgeType{Source: ingest.Gene, Relation: "x", Target: ingest.Gene},
			}
			want := EdgeReport{Type: e.Type, Edges: n}
			seen := make(map[[2]uint32]bool)
			for range n {
				src, dst := uint32(random.IntN(nodes)), uint32(random.IntN(nodes))
				e.Src, e.Dst = append(e.Src, src), append(e.Dst, dst)
				if seen[[2]uint32{src, dst}] {
					want.Duplicates++
				}
				seen[[2]uint32{src, dst}] = true
				if src == dst {
					want.SelfLoops++
				}
			}
			table := &ingest.Nodes{IDs: make([]string, nodes)}
			if got := countOddEdges(e, table, table); got != want {
				t.Errorf("%d edges of %d nodes: got %v, want %v", n, nodes, got, want)
			}
		}
	}
}
