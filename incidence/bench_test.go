package incidence_test

import (
	"fmt"
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
)

func BenchmarkBuild(b *testing.B) {
	graph := synth.Graph(synth.Yeast, 1)
	layout := incidence.NewLayout(graph)
	b.Run(fmt.Sprintf("edges=%d", layout.EdgePositions()), func(b *testing.B) {
		b.SetBytes(8 * int64(layout.EdgePositions()))
		for b.Loop() {
			incidence.Build(graph)
		}
	})
}

func BenchmarkRemoved(b *testing.B) {
	graph := synth.Graph(synth.Yeast, 1)
	cache := incidence.Build(graph)
	var samples *ingest.Samples
	synth.Samples(synth.Yeast, 1, 1024).Scan(func(s *ingest.Samples) error { samples = s; return nil })
	for _, rule := range []incidence.ReactionRule{incidence.RuleAll, incidence.RuleGPR} {
		remover, err := incidence.NewRemover(graph, cache, rule)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("rule="+string(rule), func(b *testing.B) {
			removed := 0
			i := 0
			for b.Loop() {
				removed += len(remover.Removed(samples.Genes(i % samples.Len())))
				i++
			}
			b.ReportMetric(float64(removed)/float64(b.N), "removed/sample")
			b.SetBytes(4 * int64(removed) / int64(b.N))
		})
	}
}
