package duplicates

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/internal/testing/sets"
)

// A set that has other samples in its second reading is refused.
func TestChangesBetweenReadings(t *testing.T) {
	grown := screen()
	rows, _, _, err := apply(t, &sets.Changing{SampleSource: grown, Change: func() error {
		grown.rows = append(grown.rows, grown.rows[0])
		return nil
	}}, Rule{Last, nil, []string{"medium", "temperature"}})
	if fault.KindOf(err) != fault.Busy ||
		!strings.Contains(err.Error(), "found 8 samples, expected 7 as before") {
		t.Errorf("got %s, %v", shown(rows), err)
	}
}

// An interrupted run stops at the next batch, in every pass.
func TestInterrupted(t *testing.T) {
	for _, choice := range Choices {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errRead)
		left, err := Apply(without(screen(), 1, "c", "e", "f"), Rule{Choice(choice), nil, nil}, "",
			tenGenes)
		if err == nil {
			for _, err = range left.Batches(ctx, new(ingest.Account)) {
				if err != nil {
					break
				}
			}
		}
		if !errors.Is(err, errRead) {
			t.Errorf("%s: %v", choice, err)
		}
	}
}
