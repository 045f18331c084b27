package regenerate

import (
	"math/bits"
	"slices"
)

// Scatterer regenerates masks by incidence, one sample at a time: one per goroutine.
type Scatterer struct {
	*Rules
	// of what the latest genotype removes: ascending positions, which rows may share
	Rows [][]uint32

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

// Lists has an ascending list of positions for each row: the list of row r is
// Positions[Offsets[r]:Offsets[r+1]].
type Lists struct{ Offsets, Positions []uint32 }

func (l Lists) Row(r uint32) []uint32 { return l.Positions[l.Offsets[r]:l.Offsets[r+1]] }

// NewIncidence lists, for each node of rules, the positions of the mask space that go with it: its
// own, and the positions of the edges that touch it, a self loop once.
//
// The degrees of the nodes say where each row ends. Rows are filled backwards from there, the last
// edge first.
func NewIncidence(rules *Rules) Lists {
	touching := slices.Clone(rules.degrees)
	for _, edges := range rules.edges {
		if source, target := rules.ends(edges.Type); source == target && source != none {
			for i, node := range edges.Src {
				if node == edges.Dst[i] {
					touching[source+int(node)]--
				}
			}
		}
	}
	l := Lists{Offsets: make([]uint32, 1, len(touching)+1)}
	for node, edges := range touching {
		l.Offsets = append(l.Offsets, l.Offsets[node]+1+edges)
	}
	l.Positions = make([]uint32, l.Offsets[len(touching)])
	left := slices.Clone(l.Offsets[1:]) // by node: where what is filled of its row begins
	position := uint32(rules.Size)
	for _, edges := range slices.Backward(rules.edges) {
		source, target := rules.ends(edges.Type)
		for i := len(edges.Src) - 1; i >= 0; i-- {
			position--
			src, dst := source+int(edges.Src[i]), target+int(edges.Dst[i])
			if source != none {
				left[src]--
				l.Positions[left[src]] = position
			}
			if target != none && (source == none || src != dst) {
				left[dst]--
				l.Positions[left[dst]] = position
			}
		}
	}
	for node, first := range l.Offsets[:len(touching)] {
		l.Positions[first] = uint32(node)
	}
	return l
}
