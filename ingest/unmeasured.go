package ingest

import (
	"math"
	"slices"
)

// Unmeasured finds the phenotypes that have no value in any sample of a set.
type Unmeasured struct {
	names []string
	open  []int // phenotypes without a value so far
}

// NewUnmeasured returns an Unmeasured that has seen no samples.
func NewUnmeasured(columns Columns) *Unmeasured {
	u := &Unmeasured{names: columns.PhenotypeNames()}
	for k := range u.names {
		u.open = append(u.open, k)
	}
	return u
}

// Add records samples. It costs next to nothing once every phenotype has a value.
func (u *Unmeasured) Add(s *Samples) {
	for i := 0; i < s.Len() && len(u.open) > 0; i++ {
		values := s.Phenotypes(i)
		u.open = slices.DeleteFunc(u.open, func(k int) bool { return !math.IsNaN(values[k]) })
	}
}

// Names are the phenotypes without a value in the samples added so far.
func (u *Unmeasured) Names() []string {
	var names []string
	for _, k := range u.open {
		names = append(names, u.names[k])
	}
	return names
}
