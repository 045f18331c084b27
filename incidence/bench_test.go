package incidence_test

import (
	"fmt"
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/sets"
)

func BenchmarkBuild(b *testing.B) {
	graph := synth.Graph(synth.Yeast, 1)
	layout := incidence.NewLayout(graph)
	b.Run(fmt.Sprintf("edges=%d", layout.EdgePositions()), func(b *testing.B) {
		b.SetBytes(8 * int64(layout.EdgePositions())) // source and target of each
		for b.Loop() {
			incidence.Build(graph)
		}
	})
}

func BenchmarkRemoved(b *testing.B) {
	const count = 1024
	graph := synth.Graph(synth.Yeast, 1)
	var samples *ingest.Samples
	_, err := sets.Read(synth.Samples(synth.Yeast, 1, count), func(batch *ingest.Samples) error {
		samples = batch
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, rule := range reactionRules {
		remover := newRemover(b, graph, rule)
		positions := 0
		for i := range count {
			positions += len(remover.Removed(samples.Genes(i)))
		}
		b.Run("rule="+string(rule), func(b *testing.B) {
			b.SetBytes(4 * int64(positions) / count)
			for i := 0; b.Loop(); i++ {
				remover.Removed(samples.Genes(i % count))
			}
			b.ReportMetric(float64(positions)/count, "removed/sample")
		})
	}
}
