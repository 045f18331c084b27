package inspect

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/storetest"
	"tcbuild/store"
)

type noProgress struct{}

func (noProgress) Add(int, int64) {}

// Differences in several stretches are reported in the order of samples, whatever the number of
// cores and wherever samples have moved.
func TestDifferencesInOrder(t *testing.T) {
	defer func(before int) { stretchSamples = before }(stretchSamples)
	stretchSamples = 64
	samples := 3*stretchSamples + 10
	columns := ingest.Columns{Phenotypes: ingest.NamedPhenotypes("fitness", "gene_interaction")}
	graph := synth.Graph(synth.Tiny, 1)
	source := ingest.NewSamples(0, columns, samples)
	set := synth.Samples(synth.Tiny, 1, samples)
	_, err := sets.Read(set, func(batch *ingest.Samples) error {
		for i := range batch.Len() {
			source.Append(batch.ID(i), batch.Genes(i), batch.Phenotypes(i), nil)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wrong := []int{3, stretchSamples - 1, stretchSamples, 2*stretchSamples + 5, samples - 1}
	for _, moved := range []int{-1, stretchSamples + 24} {
		order := make([]int, samples) // by place in B: number of the sample
		for i := range order {
			order[i] = i
		}
		if moved >= 0 {
			order[moved], order[moved+1] = order[moved+1], order[moved]
		}
		inB := ingest.NewSamples(0, columns, samples)
		for _, i := range order {
			inB.Append(source.ID(i), source.Genes(i), source.Phenotypes(i), nil)
		}
		dir := t.TempDir()
		var datasets [2]*store.Dataset
		for k, d := range []storetest.Dataset{
			{Samples: source, Variant: store.Indices},
			{
				Samples: inB,
				Variant: store.FullMasks,
				PlantRemoved: func(place int, removed []uint32) []uint32 {
					if slices.Contains(wrong, order[place]) {
						return removed[1:]
					}
					return removed
				},
			},
		} {
			d.Graph = graph
			d.Columns = columns
			d.Rule = incidence.RuleAll
			d.Codec = "zstd"
			d.PerValue = 8
			d.Shards = 2
			out := filepath.Join(dir, fmt.Sprint(k))
			d.Write(t, out)
			var err error
			if datasets[k], err = store.Open(out); err != nil {
				t.Fatal(err)
			}
		}
		var want []string
		for _, i := range wrong {
			gene := graph.Genes.IDs[source.Genes(i)[0]]
			want = append(want,
				fmt.Sprintf("%s (number %d): only A removes %s", source.ID(i), i, gene))
		}
		var first *Differences
		for _, cores := range []int{1, 4} {
			before := runtime.GOMAXPROCS(cores)
			report, err := CompareDatasets(context.Background(), datasets[0], datasets[1], 0,
				noProgress{})
			runtime.GOMAXPROCS(before)
			if err != nil {
				t.Fatal(err)
			}
			if report.Findings[0].What != "samples with another mask gene" ||
				!slices.Equal(report.Findings[0].Examples, want) {
				t.Errorf("%d cores, moved %d: found %+v, want first another mask gene: %q", cores,
					moved, report.Findings, want)
			}
			if first == nil {
				first = report
			}
			if !reflect.DeepEqual(report, first) {
				t.Errorf("%d cores give another report than one: %+v", cores, report)
			}
		}
	}
}
