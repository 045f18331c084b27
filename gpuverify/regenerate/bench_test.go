package regenerate

import (
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/sets"
)

// benchmarkYeast runs a benchmark under both rules on samples of the yeast-scale graph.
func benchmarkYeast(b *testing.B, run func(b *testing.B, rules *Rules, genotypes [][]uint32)) {
	graph := synth.Graph(synth.Yeast, 1)
	var genotypes [][]uint32
	_, err := sets.Read(synth.Samples(synth.Yeast, 1, 1024), func(samples *ingest.Samples) error {
		for i := range samples.Len() {
			genotypes = append(genotypes, samples.Genes(i))
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, rule := range reactionRules {
		rules := newTestRules(b, graph, rule)
		b.Run("rule="+string(rule), func(b *testing.B) {
			run(b, rules, genotypes)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "samples/s")
		})
	}
}

// BenchmarkByIncidence regenerates one sample per operation, and compares it.
func BenchmarkByIncidence(b *testing.B) {
	benchmarkYeast(b, func(b *testing.B, rules *Rules, genotypes [][]uint32) {
		genotypes = genotypes[:BatchSamples]
		scatter, removed := NewScatterer(rules, NewIncidence(rules)), NewLooker(rules).Regenerate(genotypes)
		b.SetBytes(int64(rules.Size)) // of masks
		b.ResetTimer()
		for i := range b.N {
			k := i % BatchSamples
			scatter.Regenerate(genotypes[k])
			if !scatter.Equals(removed[k]) {
				b.Fatal("the methods differ")
			}
		}
	})
}

// BenchmarkByEdges regenerates one sample per operation, in batches.
func BenchmarkByEdges(b *testing.B) {
	benchmarkYeast(b, func(b *testing.B, rules *Rules, genotypes [][]uint32) {
		look := NewLooker(rules)
		b.SetBytes(int64(rules.Size))
		b.ResetTimer()
		for done := 0; done < b.N; done += BatchSamples {
			first := done % len(genotypes)
			look.Regenerate(genotypes[first : first+BatchSamples])
		}
	})
}

// BenchmarkIncidence finds the incidence of the whole graph.
func BenchmarkIncidence(b *testing.B) {
	rules := newTestRules(b, synth.Graph(synth.Yeast, 1), incidence.RuleAll)
	b.ResetTimer()
	for range b.N {
		NewIncidence(rules)
	}
}
