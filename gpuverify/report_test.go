package gpuverify

import (
	"fmt"
	"testing"
)

// The first differences and damages are listed, in whatever order goroutines find them.
func TestFirstAreListed(t *testing.T) {
	var r Report
	for sample := 20 * listed; sample >= -1; sample-- {
		r.differ(Difference{Sample: sample, Position: 1})
		r.differ(Difference{Sample: sample, Position: 2})
		r.list(Damage{sample, fmt.Sprintf("file %d is missing", (sample+1)/10)})
	}
	for i, found := range r.FirstDifferences {
		if want := (Difference{Sample: i/2 - 1, Position: 1 + i%2}); found != want {
			t.Errorf("difference %d: %v, want %v", i, found, want)
		}
	}
	for i, found := range r.FirstDamaged {
		if want := 10*i - 1; found.Sample != want {
			t.Errorf("damage %d: %v, want sample %d", i, found, want)
		}
	}
	if len(r.FirstDifferences) != listed || len(r.FirstDamaged) != listed {
		t.Errorf("%d differences and %d damages", len(r.FirstDifferences), len(r.FirstDamaged))
	}
}
