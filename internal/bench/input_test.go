package bench

import (
	"fmt"
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/sets"
	"tcbuild/store"
)

func TestSpread(t *testing.T) {
	const total = 10_000 // in batches of 4096
	for _, keep := range []int{1, 2, 3, 7, 4096, 9999, total} {
		var got []string
		source := spread{synth.Samples(synth.Tiny, 1, total), total, keep}
		_, err := sets.Read(source, func(batch *ingest.Samples) error {
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

// Each case has as many samples as fit, and never more than the set or the user's choice.
func TestSamplesOf(t *testing.T) {
	raw, bits, zstd := Case{store.FullMasks, "raw"}, Case{store.FullMasks, "bits"}, Case{store.FullMasks, "zstd"}
	for _, c := range []struct {
		of                       Case
		samples, total, expected int
	}{
		{raw, 0, 332_313, 1023}, {bits, 0, 332_313, 8190}, {zstd, 0, 332_313, 100_000}, {Case{Variant: store.Incidence}, 0, 5000, 5000},
		{raw, 200, 332_313, 200}, {raw, 5000, 332_313, 5000}, {zstd, 200_000, 332_313, 200_000}, {bits, 5000, 20, 20},
	} {
		if got := (Options{Samples: c.samples}).samplesOf(c.of, c.total, 2_441_783); got != c.expected {
			t.Errorf("%s, --samples %d of %d: got %d, want %d", c.of, c.samples, c.total, got, c.expected)
		}
	}
	if got := (Options{}).samplesOf(raw, 20, 1<<40); got != 2 {
		t.Errorf("of a graph larger than the limit: got %d samples, want 2", got)
	}
}
