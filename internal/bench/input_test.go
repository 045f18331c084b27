package bench

import (
	"fmt"
	"slices"
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/synth"
)

func TestSpread(t *testing.T) {
	const total = 10_000 // in batches of 4096
	for _, keep := range []int{1, 2, 3, 7, 4096, 9999, total} {
		var got []string
		source := spread{synth.Samples(synth.Tiny, 1, total), total, keep}
		_, err := source.Scan(func(batch *ingest.Samples) error {
			if batch.First != len(got) {
				t.Fatalf("%d of %d: a batch starts with sample %d, want %d", keep, total, batch.First, len(got))
			}
			for i := range batch.Len() {
				got = append(got, string(batch.ID(i)))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != keep {
			t.Fatalf("%d of %d: got %d samples", keep, total, len(got))
		}
		for k, id := range got {
			if want := fmt.Sprint(k * total / keep); id != want {
				t.Fatalf("%d of %d: sample %d is %s, want %s", keep, total, k, id, want)
			}
		}
	}
}

func TestEveryNth(t *testing.T) {
	for _, c := range []struct {
		length, n int
		want      []uint32
	}{
		{0, 2, []uint32{}}, {1, 2, []uint32{0}}, {2, 2, []uint32{0}}, {3, 2, []uint32{0, 2}}, {5, 1, []uint32{0, 1, 2, 3, 4}}, {5, 9, []uint32{0}},
	} {
		values := make([]uint32, c.length)
		for i := range values {
			values[i] = uint32(i)
		}
		if got := everyNth(values, c.n); !slices.Equal(got, c.want) {
			t.Errorf("every %d of %d: got %d, want %d", c.n, c.length, got, c.want)
		}
	}
}

func TestThin(t *testing.T) {
	graph := synth.Graph(synth.Tiny, 1)
	thinned := thin(graph, 4)
	for i, edges := range graph.Edges {
		got := thinned.Edges[i]
		if got.Type != edges.Type || got.Len() != (edges.Len()+3)/4 || got.Columns != nil {
			t.Fatalf("%s: got %d of %d edges and %d columns", edges.Type, got.Len(), edges.Len(), len(got.Columns))
		}
		for k := range got.Len() {
			if got.Src[k] != edges.Src[4*k] || got.Dst[k] != edges.Dst[4*k] {
				t.Fatalf("%s: edge %d is not edge %d of the whole", edges.Type, k, 4*k)
			}
		}
	}
}

// Variations depart from the base along one axis each, and never leave the perturbation set.
func TestVariations(t *testing.T) {
	for _, total := range []int{1, 9, 200, 10_000, 332_313} {
		for _, workers := range []int{1, 2, 6, 64} {
			base := baseVariation(total, workers)
			seen := make(map[Variation]bool)
			for _, v := range variations(total, workers) {
				differences := 0
				for _, differs := range []bool{v.Workers != base.Workers, v.Samples != base.Samples, v.EveryNth != base.EveryNth} {
					if differs {
						differences++
					}
				}
				if differences > 1 || seen[v] || v.Samples < 1 || v.Samples > total || v.Workers < 1 || v.Workers > workers {
					t.Errorf("total %d, %d workers: %+v beside the base %+v", total, workers, v, base)
				}
				seen[v] = true
			}
			if !seen[base] {
				t.Errorf("total %d, %d workers: the base is missing", total, workers)
			}
		}
	}
}
