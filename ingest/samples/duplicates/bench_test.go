package duplicates

import (
	"testing"

	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/sets"
)

// BenchmarkKeep counts the genotypes of 332,313 samples, of which nearly none repeats.
func BenchmarkKeep(b *testing.B) {
	samples := synth.Samples(synth.Yeast, 1, 332_313)
	for b.Loop() {
		left, err := Apply(samples, Rule{}, "", nil)
		if err == nil {
			_, err = sets.ReadAll(left)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSource(b *testing.B) {
	samples := synth.Samples(synth.Yeast, 1, 332_313)
	for b.Loop() {
		_, _ = sets.ReadAll(samples)
	}
}
