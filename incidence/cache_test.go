package incidence_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/oracle"
)

func TestBuild(t *testing.T) {
	const seed = 2
	r := rand.New(rand.NewPCG(seed, 0))
	graphs := []*ingest.Graph{synth.Graph(synth.Tiny, 1)}
	for range 200 {
		graphs = append(graphs, oracle.Graph(r))
	}
	for number, graph := range graphs {
		cache := incidence.Build(graph)
		genes, reactions := uint32(graph.Genes.Len()), uint32(graph.Reactions.Len())
		if rows := len(cache.Offsets) - 1; rows != int(genes+reactions) {
			t.Fatalf("seed %d, graph %d: %d rows, want %d genes and %d reactions", seed, number, rows, genes, reactions)
		}
		for row := range genes + reactions {
			nodeType, node := ingest.Gene, row
			if row >= genes {
				nodeType, node = ingest.Reaction, row-genes
			}
			if want := oracle.Row(graph, nodeType, node); !slices.Equal(cache.Row(row), want) {
				t.Fatalf("seed %d, graph %d, %s %d: positions %d, want %d", seed, number, nodeType, node, cache.Row(row), want)
			}
		}
	}
}

func TestNewLayout(t *testing.T) {
	graph := synth.Graph(synth.Tiny, 1)
	layout := incidence.NewLayout(graph)
	edges := 0
	for _, table := range graph.Edges {
		edges += table.Len()
	}
	if layout.EdgePositions() != edges || layout.Size != 60+30+25+edges {
		t.Errorf("%d edges of %d positions, want %d of %d", layout.EdgePositions(), layout.Size, edges, 60+30+25+edges)
	}
	var names []string
	start := 0
	for _, mask := range layout.Masks {
		if mask.Start != start {
			t.Errorf("%s starts at %d, want %d", mask.Name, mask.Start, start)
		}
		start += mask.Size
		names = append(names, mask.Name)
	}
	want := []string{"gene", "reaction", "metabolite", "gene__gpr__reaction", "gene__physical__gene", "gene__regulatory__gene",
		"gene__string12_0_coexpression__gene", "reaction__rmr__metabolite"}
	if !slices.Equal(names, want) {
		t.Errorf("masks %q, want %q", names, want)
	}
}

func TestLayoutOfGenesAlone(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B"}, nil)
	layout := incidence.NewLayout(&ingest.Graph{Genes: genes})
	if want := []incidence.Mask{{Name: "gene", Size: 2}}; !reflect.DeepEqual(layout.Masks, want) || layout.Size != 2 || layout.EdgePositions() != 0 {
		t.Errorf("layout %v, want masks %v", layout, want)
	}
}

// gapped is a mask space with empty masks at its ends and in its middle.
var gapped = incidence.Layout{Size: 5, Masks: []incidence.Mask{
	{Name: "empty", Start: 0, Size: 0},
	{Name: "a", Start: 0, Size: 2},
	{Name: "hollow", Start: 2, Size: 0},
	{Name: "void", Start: 2, Size: 0},
	{Name: "b", Start: 2, Size: 3},
	{Name: "nil", Start: 5, Size: 0},
}}

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		removed []uint32
		want    string
	}{
		{nil, "empty[] a[] hollow[] void[] b[] nil[]"},
		{[]uint32{0}, "empty[] a[0] hollow[] void[] b[] nil[]"},
		{[]uint32{1}, "empty[] a[1] hollow[] void[] b[] nil[]"},
		{[]uint32{2}, "empty[] a[] hollow[] void[] b[2] nil[]"},
		{[]uint32{1, 2}, "empty[] a[1] hollow[] void[] b[2] nil[]"},
		{[]uint32{0, 1, 2, 3, 4}, "empty[] a[0 1] hollow[] void[] b[2 3 4] nil[]"},
	} {
		var parts []string
		for mask, part := range gapped.Split(test.removed) {
			parts = append(parts, fmt.Sprint(mask.Name, part))
		}
		if got := strings.Join(parts, " "); got != test.want {
			t.Errorf("Split(%d) is %s, want %s", test.removed, got, test.want)
		}
	}
}

func TestSplitStops(t *testing.T) {
	for mask := range gapped.Split([]uint32{0, 4}) {
		if mask.Name == "a" {
			break
		}
	}
}

func TestAt(t *testing.T) {
	for position, want := range []string{"a 0", "a 1", "b 0", "b 1", "b 2"} {
		mask, within := gapped.At(position)
		if got := fmt.Sprint(mask.Name, " ", within); got != want {
			t.Errorf("At(%d) is %s, want %s", position, got, want)
		}
	}
}
