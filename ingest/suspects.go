package ingest

import (
	"math"
	"slices"
)

// SuspectPhenotypes finds the phenotypes that nobody can have measured, by their values: without a
// value in any sample of a set; or, of those that nobody named, with the same in all, or with whole
// numbers that ascend, as rows' numbers do.
type SuspectPhenotypes struct {
	names    []string
	open     []int // phenotypes without a value so far
	constant []int // those with one value so far
	indices  []int // those with whole numbers that ascend so far
	first    []float64
	last     []float64
	samples  int
}

// NewSuspectPhenotypes returns SuspectPhenotypes that have seen no samples.
func NewSuspectPhenotypes(columns Columns) *SuspectPhenotypes {
	u := &SuspectPhenotypes{names: columns.PhenotypeNames(),
		first: make([]float64, len(columns.Phenotypes)),
		last:  make([]float64, len(columns.Phenotypes))}
	for k, phenotype := range columns.Phenotypes {
		u.open = append(u.open, k)
		if slices.Contains(columns.Guessed, phenotype.Name) {
			u.constant, u.indices = append(u.constant, k), append(u.indices, k)
		}
	}
	return u
}

// Add records samples, in the order of the set. It costs next to nothing once the phenotypes have
// different values.
func (u *SuspectPhenotypes) Add(s *Samples) {
	for i := 0; i < s.Len() && len(u.open)+len(u.constant)+len(u.indices) > 0; i++ {
		values, begun := s.Phenotypes(i), u.samples+i > 0
		if !begun {
			copy(u.first, values)
		}
		u.open = slices.DeleteFunc(u.open, func(k int) bool { return !math.IsNaN(values[k]) })
		u.constant = slices.DeleteFunc(u.constant,
			func(k int) bool { return values[k] != u.first[k] })
		u.indices = slices.DeleteFunc(u.indices, func(k int) bool {
			return !(values[k] == math.Trunc(values[k]) && (!begun || values[k] > u.last[k]))
		})
		copy(u.last, values)
	}
	u.samples += s.Len()
}

// Names are the phenotypes without a value in the samples added so far.
func (u *SuspectPhenotypes) Names() (names []string) {
	for _, k := range u.open {
		names = append(names, u.names[k])
	}
	return names
}

// fewSamples are too few to tell that values are the same, or rows' numbers, for another reason
// than chance.
const fewSamples = 10

// Constant are the phenotypes with the same value in all samples, Indices those that number them.
func (u *SuspectPhenotypes) Constant() []string { return u.named(u.constant) }
func (u *SuspectPhenotypes) Indices() []string  { return u.named(u.indices) }

func (u *SuspectPhenotypes) named(phenotypes []int) (names []string) {
	for _, k := range phenotypes {
		if u.samples >= fewSamples {
			names = append(names, u.names[k])
		}
	}
	return names
}
