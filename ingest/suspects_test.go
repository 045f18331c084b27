package ingest

import (
	"math"
	"slices"
	"testing"
)

// Columns of numbers that are no phenotypes are told from those that are, in any cut of the set.
func TestNotPhenotypes(t *testing.T) {
	columns := Columns{Phenotypes: append(NamedPhenotypes("empty", "constant", "row", "barcode", "fitness", "gaps"),
		Phenotype{Name: "fitness_n", StatisticOf: "fitness"}, Phenotype{Name: "dose"}),
		Guessed: []string{"empty", "constant", "row", "barcode", "fitness", "gaps"}} // not dose
	for _, size := range []int{1, 7, 40} {
		u := NewSuspectPhenotypes(columns)
		for first := 0; first < 40; first += size {
			s := NewSamples(first, columns, size)
			for i := first; i < min(first+size, 40); i++ {
				gap := float64(i)
				if i == 20 {
					gap = math.NaN()
				}
				s.Append([]byte("s"), nil, []float64{math.NaN(), 3, float64(i), float64(5*i + i%3), math.Sin(float64(i)), gap, 2, 7}, nil)
			}
			u.Add(s)
		}
		if !slices.Equal(u.Names(), []string{"empty"}) || !slices.Equal(u.Constant(), []string{"constant"}) || !slices.Equal(u.Indices(), []string{"row", "barcode"}) {
			t.Errorf("batches of %d: got %q, %q and %q", size, u.Names(), u.Constant(), u.Indices())
		}
	}
}
