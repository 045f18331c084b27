package regenerate

import "math/bits"

// Scatterer regenerates masks by incidence, one sample at a time: one per goroutine.
type Scatterer struct {
	*Rules
	Rows [][]uint32 // of what the latest genotype removes: ascending positions, which rows may share

	incidence Lists
	bits      []uint64   // of position p, bit p%64 of number p/64: 1 if it is in a row
	count     int        // of these
	scattered bool       // otherwise no bit is set
	deleted   []word     // by gene: its first bit is set when deleted; all zero between calls
	reactions [][]uint32 // by gene: those that its deletion can remove
	stack     []word
}

// NewScatterer makes a Scatterer from the incidence of NewIncidence.
func NewScatterer(rules *Rules, incidence Lists) *Scatterer {
	return &Scatterer{Rules: rules, incidence: incidence, bits: make([]uint64, (rules.Size+63)/64),
		deleted: make([]word, rules.Graph.Genes.Len()), reactions: rules.reactionsOfGenes()}
}

// Regenerate finds the removed positions of a genotype, and forgets the previous genotype's.
func (s *Scatterer) Regenerate(genes []uint32) {
	s.clear()
	s.Rows = s.Rows[:0]
	for _, gene := range genes {
		s.Rows = append(s.Rows, s.incidence.Row(gene))
		s.deleted[gene][0] = 1
	}
	for _, gene := range genes {
		for _, reaction := range s.reactions[gene] {
			if s.rules == nil || s.rules[reaction].removed(s.deleted, &s.stack)[0] != 0 {
				s.Rows = append(s.Rows, s.incidence.Row(uint32(s.Graph.Genes.Len())+reaction))
			}
		}
	}
	for _, gene := range genes {
		s.deleted[gene][0] = 0
	}
	s.scatter()
}

// scatter sets the bits of the rows; none is set before.
func (s *Scatterer) scatter() {
	s.count = 0
	for _, row := range s.Rows {
		for _, position := range row {
			word := s.bits[position/64]
			s.count += int(^word >> (position % 64) & 1)
			s.bits[position/64] = word | 1<<(position%64)
		}
	}
	s.scattered = true
}

// clear clears the bits of the rows.
func (s *Scatterer) clear() {
	if !s.scattered {
		return
	}
	for _, row := range s.Rows {
		for _, position := range row {
			s.bits[position/64] = 0
		}
	}
	s.scattered = false
}

// Equals reports whether the genotype removes exactly the given positions, which are strictly
// ascending. It clears their bits, so that equal positions need no second pass.
func (s *Scatterer) Equals(removed []uint32) bool {
	if !s.scattered {
		s.scatter()
	}
	all := uint64(1)
	for _, position := range removed {
		word := s.bits[position/64]
		all &= word >> (position % 64)
		s.bits[position/64] = word &^ (1 << (position % 64))
	}
	if all != 0 && len(removed) == s.count {
		s.scattered = false
		return true
	}
	s.clear()
	return false
}

// Sorted returns the removed positions, ascending. It goes over the whole mask space.
func (s *Scatterer) Sorted() []uint32 {
	if !s.scattered {
		s.scatter()
	}
	removed := make([]uint32, 0, s.count)
	for i, word := range s.bits {
		for ; word != 0; word &= word - 1 {
			removed = append(removed, uint32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return removed
}
