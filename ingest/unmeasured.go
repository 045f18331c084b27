package ingest

import (
	"math"
	"slices"
)

// Unmeasured finds the phenotypes of a set of which no sample has a value.
type Unmeasured struct {
	names []string
	open  []int // phenotypes without a value so far
}

// NewUnmeasured begins with all phenotypes open.
func NewUnmeasured(phenotypes []string) *Unmeasured {
	u := &Unmeasured{names: phenotypes}
	for k := range phenotypes {
		u.open = append(u.open, k)
	}
	return u
}

// Add looks at samples. It costs next to nothing once every phenotype has a value.
func (u *Unmeasured) Add(s *Samples) {
	for i := 0; i < s.Len() && len(u.open) > 0; i++ {
		values := s.Phenotypes(i)
		u.open = slices.DeleteFunc(u.open, func(k int) bool { return !math.IsNaN(values[k]) })
	}
}

// Names are the phenotypes without a value in all samples that were added.
func (u *Unmeasured) Names() []string {
	var names []string
	for _, k := range u.open {
		names = append(names, u.names[k])
	}
	return names
}
