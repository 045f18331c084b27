package where

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/sets"
)

// list is a perturbation set in memory, in batches of a few samples.
type list struct {
	ingest.SampleSource
	samples []*ingest.Sample
	batch   int
}

func (l list) Columns() ingest.Columns { return columns }

func (l list) Batches(
	_ context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		account.Add(ingest.RepeatedGene, "", 7)
		for part := range slices.Chunk(l.samples, l.batch) {
			batch := ingest.NewSamples(account.Kept, columns, len(part))
			for _, s := range part {
				batch.Append(s.ID, s.Genes, s.Phenotypes, s.Attributes)
				account.Rows++
				account.Kept++
				if len(s.Genes) == 0 {
					account.Add(ingest.Wildtype, "", 1)
				}
			}
			if !yield(batch, nil) {
				return
			}
		}
	}
}

func describe(id []byte, genes []uint32, phenotypes []float64, attributes []ingest.Value) string {
	return fmt.Sprintf("%s %v %v %v", id, genes, phenotypes, attributes)
}

// A filtered set is the samples for which the oracle of its expression is true, in order and
// without gaps, whatever the batches.
func TestSource(t *testing.T) {
	m := maker{seed.Rand(t)}
	for range 200 {
		o, set := m.condition(1), list{batch: 1 + m.IntN(5)}
		var want []string
		wildtypes := 0
		for range m.IntN(20) {
			s := m.sample()
			set.samples = append(set.samples, s)
			if o.of(s).(bool) {
				want = append(want, describe(s.ID, s.Genes, s.Phenotypes, s.Attributes))
				if len(s.Genes) == 0 {
					wildtypes++
				}
			}
		}
		source, err := NewSource(set, "set.tsv", o.text, genes)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		account, err := sets.Read(source, func(batch *ingest.Samples) error {
			if batch.First != len(got) {
				t.Errorf("a batch of %d samples starts at %d, expected %d", batch.Len(),
					batch.First, len(got))
			}
			for i := range batch.Len() {
				got = append(got,
					describe(batch.ID(i), batch.Genes(i), batch.Phenotypes(i), batch.Attributes(i)))
			}
			return nil
		})
		empty := len(want) == 0 && len(set.samples) > 0
		if (fault.KindOf(err) == fault.Input) != empty || !empty && err != nil {
			t.Fatalf("%s: got %v for %d of %d samples", o.text, err, len(want), len(set.samples))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: got %q, want %q", o.text, got, want)
		}
		isNoted := account.Sum(ingest.Wildtype) == wildtypes &&
			account.Sum(ingest.RepeatedGene) == 7
		if account.Kept != len(want) || !isNoted || !account.IsComplete() {
			t.Fatalf("%s: got %+v, want %d samples and %d wild types", o.text, account, len(want),
				wildtypes)
		}
	}
}

func TestSourceErrors(t *testing.T) {
	set := list{samples: []*ingest.Sample{&measured, &unknown}, batch: 1}
	source, err := NewSource(set, "set.tsv", `fitness > 7`, genes)
	if err != nil {
		t.Fatal(err)
	}
	_, err = sets.ReadAll(source)
	want := `read perturbations set.tsv: --where "fitness > 7" matches none of 2 samples, ` +
		`expected at least one`
	if fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	stop := errors.New("enough")
	if source, err = NewSource(set, "set.tsv", `true`, genes); err != nil {
		t.Fatal(err)
	}
	if _, err := sets.Read(source, func(*ingest.Samples) error { return stop }); err != stop {
		t.Errorf("got %v, want the receiver's error", err)
	}
	_, err = NewSource(set, "set.tsv", `fitnes > 7`, genes)
	if err == nil || !strings.Contains(err.Error(), "column 1") {
		t.Errorf("got %v, want the place of the mistake", err)
	}
	if source, err := NewSource(set, "set.tsv", "", genes); err != nil || source.(list).batch != 1 {
		t.Errorf("got %v, %v, want the set itself", source, err)
	}
}

// The batches depend on the samples that are kept alone, and so do the bytes of a file made of
// them.
func TestSourceBatches(t *testing.T) {
	const size = 4096 // samples in a batch of so few columns
	for _, batch := range []int{1, 1000, size, 3 * size} {
		set := list{
			samples: slices.Repeat([]*ingest.Sample{&measured, &unknown, &measured}, size),
			batch:   batch,
		}
		source, err := NewSource(set, "set.tsv", `fitness == 0.5`, genes)
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		if _, err := sets.Read(source, func(batch *ingest.Samples) error {
			if batch.Len() > 0 {
				sizes = append(sizes, batch.Len())
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sizes, []int{size, size}) {
			t.Errorf("batches of %d: got %v, want two of %d", batch, sizes, size)
		}
	}
}
