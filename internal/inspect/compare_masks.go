package inspect

import (
	"fmt"
	"slices"
	"strings"
)

// masks compares what a sample removes. It skips masks of types, and positions of rows, that only
// one graph has: the comparison of the graphs reports them.
func (s *sampleComparison) masks(sample string, removedA, removedB []uint32) {
	partsB := make(map[string][]uint32)
	for mask, part := range s.sides[1].layout.Split(removedB) {
		partsB[mask.Name] = within(part, mask.Start)
	}
	for mask, part := range s.sides[0].layout.Split(removedA) {
		paired, both := s.matches[mask.Name]
		if !both {
			continue
		}
		a, b := paired.positions(within(part, mask.Start)), paired.known(partsB[mask.Name])
		onlyA, onlyB := difference(a, b), difference(b, a)
		if len(onlyA) == 0 && len(onlyB) == 0 {
			continue
		}
		s.report.add("samples with another mask "+mask.Name, func() string {
			var parts []string
			for i, only := range [][]uint32{onlyA, onlyB} {
				if len(only) > 0 {
					parts = append(parts, fmt.Sprintf("only %s removes %s", []side{inA, inB}[i], s.positionNames(mask.Name, only)))
				}
			}
			return sample + ": " + strings.Join(parts, "; ")
		})
	}
}

// within converts positions of the mask space to positions within a mask.
func within(positions []uint32, start int) []uint32 {
	counted := make([]uint32, len(positions))
	for i, position := range positions {
		counted[i] = position - uint32(start)
	}
	return counted
}

// positions converts rows of A to rows of B, ascending; those that B does not have are left out.
func (m match) positions(rows []uint32) []uint32 {
	if m.same {
		return rows
	}
	var places []uint32
	for _, row := range rows {
		if to := m.toB[row]; to >= 0 {
			places = append(places, uint32(to))
		}
	}
	slices.Sort(places)
	return places
}

// known leaves out the rows of B that A does not have.
func (m match) known(rows []uint32) []uint32 {
	return slices.DeleteFunc(rows, func(row uint32) bool {
		_, only := slices.BinarySearch(m.onlyB, int32(row))
		return only
	})
}

// difference returns the elements of a that b does not have; both are ascending.
func difference(a, b []uint32) []uint32 {
	var only []uint32
	for _, x := range a {
		for len(b) > 0 && b[0] < x {
			b = b[1:]
		}
		if len(b) == 0 || b[0] != x {
			only = append(only, x)
		}
	}
	return only
}

// positionNames names positions of a mask of B, up to the report's limit.
func (s *sampleComparison) positionNames(mask string, positions []uint32) string {
	var names []string
	for i, position := range positions {
		if s.report.limit > 0 && i == s.report.limit {
			names = append(names, fmt.Sprintf("and %d more", len(positions)-i))
			s.report.Cut = true
			break
		}
		names = append(names, positionName(s.b, mask, int(position)))
	}
	return strings.Join(names, ", ")
}
