package duplicates

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/testrun"
)

// memory is a perturbation set in batches of some size.
type memory struct {
	columns ingest.Columns
	size    int
	rows    []row
}

type row struct {
	genes []uint32
	kinds string
}

func (m *memory) Columns() ingest.Columns { return m.columns }

func (m *memory) Inputs() []ingest.Input { return nil }

func (m *memory) Unchanged() error { return nil }

func (m *memory) Close() error { return nil }

func (m *memory) Place(int64) (string, error) { return "", nil }

func (m *memory) Batches(
	_ context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		for first := 0; first < len(m.rows); first += m.size {
			batch := ingest.NewSamples(first, m.columns, m.size)
			for i, r := range m.rows[first:min(first+m.size, len(m.rows))] {
				var attributes []ingest.Value
				if m.columns.KindsApart {
					attributes = append(attributes, ingest.Value{Text: []byte(r.kinds)})
				}
				batch.Append(fmt.Append(nil, "s", first+i), r.genes, nil, attributes)
			}
			account.Kept += batch.Len()
			if !yield(batch, nil) {
				return
			}
		}
	}
}

func randomSet(r *rand.Rand) *memory {
	set := &memory{size: 1 + r.IntN(7)}
	if r.IntN(2) == 0 {
		set.columns = ingest.Columns{Kinds: ingest.KindsAttribute, KindsApart: true,
			Attributes: []ingest.Attribute{
				{Name: ingest.KindsAttribute, Type: ingest.TextAttribute},
			}}
	}
	genes := 1 + r.IntN(12)
	for range r.IntN(60) {
		var one row
		for gene := range genes {
			if r.IntN(2) == 0 {
				one.genes = append(one.genes, uint32(gene*r.IntN(2)*1000+gene))
				one.kinds += []string{"deletion|", "ko|", "Deletion|"}[r.IntN(3)]
			}
		}
		one.kinds = strings.TrimSuffix(one.kinds, "|")
		set.rows = append(set.rows, one)
	}
	return set
}

// Random sets are counted as by the maps of an oracle, and every sample goes on.
func TestCount(t *testing.T) {
	r := seed.Rand(t)
	for range testrun.Cases(400, 100) {
		set := randomSet(r)
		genotypes := make(map[string][]int)
		for number, one := range set.rows {
			key := fmt.Sprint(one.genes)
			if set.columns.KindsApart { // Deletion is deletion
				key += strings.ToLower(one.kinds)
			}
			genotypes[key] = append(genotypes[key], number)
		}
		want := ingest.Repeats{Genotypes: len(genotypes)}
		for _, samples := range genotypes {
			if len(samples) > 1 {
				want.RepeatedGenotypes++
				want.RepeatedSamples += len(samples)
			}
		}
		account, err := sets.ReadAll(Count(set, Keep, "set"))
		if err != nil || account.Repeats != want || account.Kept != len(set.rows) {
			t.Fatalf("got %+v, %v, want %+v of %+v", account, err, want, set.rows)
		}
		_, err = sets.ReadAll(Count(set, Error, "set"))
		if want.RepeatedGenotypes == 0 {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		earlier, later := firstRepeat(genotypes, len(set.rows))
		message := fmt.Sprintf("samples \"s%d\" and \"s%d\" (numbers %d and %d, counted from 0)",
			earlier, later, earlier, later)
		if fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), message) {
			t.Fatalf("got %v, want %s", err, message)
		}
	}
}

// firstRepeat finds the first sample whose genotype an earlier one has.
func firstRepeat(genotypes map[string][]int, samples int) (earlier, later int) {
	later = samples
	for _, numbers := range genotypes {
		if len(numbers) > 1 && numbers[1] < later {
			earlier, later = numbers[0], numbers[1]
		}
	}
	return earlier, later
}

// A set that changes while it is read again is no duplicate.
func TestChangedSet(t *testing.T) {
	set := &memory{size: 1, rows: []row{{genes: []uint32{1}}, {genes: []uint32{1}}}}
	change := func() error {
		set.rows[1].genes = []uint32{2}
		return nil
	}
	_, err := sets.ReadAll(Count(&sets.Changing{SampleSource: set, Change: change}, Error, "set"))
	if fault.KindOf(err) != fault.Busy {
		t.Errorf("got %v", err)
	}
}

func BenchmarkCount(b *testing.B) {
	set := &memory{size: ingest.BatchSamples}
	r := rand.New(rand.NewPCG(1, 1))
	for range 300_000 {
		first := uint32(r.IntN(6000))
		set.rows = append(set.rows, row{genes: []uint32{first, first + 1 + uint32(r.IntN(600))}})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sets.ReadAll(Count(set, Keep, "set")); err != nil {
			b.Fatal(err)
		}
	}
}
