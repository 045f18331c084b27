package duplicates

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples"
)

// What a set that changes between two readings has then is never mixed with what it had before,
// even if size and modification time are as before.
func TestChangesBetweenReadings(t *testing.T) {
	const before = "genes\ty\nA\t1\nB\t2\nA\t3\n"
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B"}, nil)
	for _, after := range []string{"genes\ty\nB\t1\nA\t2\nA\t3\n", "genes\ty\nA\t1\nB\t2\n", before + "B\t4\n"} {
		for _, choice := range []Choice{Last, Mean} {
			path := filepath.Join(t.TempDir(), "set.tsv")
			if err := os.WriteFile(path, []byte(before), 0o666); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			set, err := samples.OpenFile(path, genes, samples.PerturbationOptions{Phenotypes: []string{"y"}})
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			change := func() error {
				return errors.Join(os.WriteFile(path, []byte(after), 0o666), os.Chtimes(path, info.ModTime(), info.ModTime()))
			}
			rows, _, _, err := apply(t, &changing{SampleSource: set, change: change}, Rule{choice, nil, nil})
			if err == nil {
				err = set.Unchanged()
			}
			if fault.KindOf(err) != fault.Busy {
				t.Errorf("%s of %q: got %s, %v", choice, after, shown(rows), err)
			}
		}
	}
	grown := screen()
	rows, _, _, err := apply(t, &changing{SampleSource: grown, change: func() error {
		grown.rows = append(grown.rows, grown.rows[0])
		return nil
	}}, Rule{Last, nil, []string{"medium", "temperature"}})
	if fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), "found 8 samples, expected 7 as before") {
		t.Errorf("got %s, %v", shown(rows), err)
	}
}

// changing is a set that changes after it is read.
type changing struct {
	ingest.SampleSource
	change func() error
}

func (c *changing) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		for batch, err := range c.SampleSource.Batches(ctx, account) {
			if !yield(batch, err) {
				return
			}
		}
		if err := c.change(); err != nil {
			yield(nil, err)
		}
	}
}

// An interrupted run stops at the next batch, in every pass.
func TestInterrupted(t *testing.T) {
	for _, choice := range Choices {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errRead)
		left, err := Apply(without(screen(), 1, "c", "e", "f"), Rule{Choice(choice), nil, nil}, "", tenGenes)
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
