package duplicates

import (
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/synth"
)

// BenchmarkKeep counts the genotypes of 332,313 samples, of which nearly none repeats.
func BenchmarkKeep(b *testing.B) {
	samples := synth.Samples(synth.Yeast, 1, 332_313)
	for b.Loop() {
		left, err := Apply(b.Context(), samples, Rule{}, "", nil)
		if err == nil {
			_, err = left.Scan(func(*ingest.Samples) error { return nil })
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSource(b *testing.B) {
	samples := synth.Samples(synth.Yeast, 1, 332_313)
	for b.Loop() {
		_, _ = samples.Scan(func(*ingest.Samples) error { return nil })
	}
}
