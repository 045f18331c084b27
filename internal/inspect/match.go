package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tcbuild/ingest"
)

// match pairs the rows of a table of A with the rows of B's table of the same name.
type match struct {
	same  bool    // both have the same rows in the same order; the other fields are empty
	toB   []int32 // by row of A: its row in B, -1 if B does not have it
	onlyB []int32 // rows that A does not have, ascending
}

// identical is the match of two tables with the same rows.
var identical = match{same: true}

// matchEdges pairs edges by the ids of their ends. Of duplicate edges, the first of A is paired
// with the first of B, and so on.
func matchEdges(a, b *ingest.Edges, sources, targets match, sourcesB, targetsB int) match {
	sameEnds := slices.Equal(a.Src, b.Src) && slices.Equal(a.Dst, b.Dst)
	if sources.same && targets.same && sameEnds {
		return identical
	}
	keysA, keysB := make([]uint64, a.Len()), make([]uint64, b.Len())
	for i := range keysA {
		keysA[i] = uint64(sources.place(a.Src[i], sourcesB))<<32 | uint64(targets.place(a.Dst[i],
			targetsB))
	}
	for i := range keysB {
		keysB[i] = uint64(b.Src[i])<<32 | uint64(b.Dst[i])
	}
	return matchKeys(keysA, keysB)
}

// rowB is the row of B for a row of A, if B has it.
func (m match) rowB(row int) (int, bool) {
	if m.same {
		return row, true
	}
	return int(m.toB[row]), m.toB[row] >= 0
}

// place is the row of B for a row of A. A row that B does not have gets its own place after the
// last.
func (m match) place(row uint32, rowsB int) uint32 {
	if to, found := m.rowB(int(row)); found {
		return uint32(to)
	}
	return uint32(rowsB) + row
}

// matchKeys pairs equal keys, the first with the first, by sorting both sides.
func matchKeys[K cmp.Ordered](a, b []K) match {
	if slices.Equal(a, b) {
		return identical
	}
	m := match{toB: make([]int32, len(a))}
	ordersA, ordersB := ascending(a), ascending(b)
	for len(ordersA) > 0 || len(ordersB) > 0 {
		switch {
		case len(ordersB) == 0 || len(ordersA) > 0 && a[ordersA[0]] < b[ordersB[0]]:
			m.toB[ordersA[0]] = -1
			ordersA = ordersA[1:]
		case len(ordersA) == 0 || a[ordersA[0]] > b[ordersB[0]]:
			m.onlyB = append(m.onlyB, ordersB[0])
			ordersB = ordersB[1:]
		default:
			m.toB[ordersA[0]] = ordersB[0]
			ordersA, ordersB = ordersA[1:], ordersB[1:]
		}
	}
	slices.Sort(m.onlyB)
	return m
}

// ascending returns the rows of keys by key, equal ones by row.
func ascending[K cmp.Ordered](keys []K) []int32 {
	rows := make([]int32, len(keys))
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortFunc(rows,
		func(x, y int32) int { return cmp.Or(cmp.Compare(keys[x], keys[y]), cmp.Compare(x, y)) })
	return rows
}

// masks compares what a sample removes. It skips masks of types, and positions of rows, that only
// one graph has: the comparison of the graphs reports them.
func (s *sampleComparison) masks(sample string, removedA, removedB []uint32) {
	partsB := make(map[string][]uint32)
	for mask, part := range s.layouts[1].Split(removedB) {
		partsB[mask.Name] = within(part, mask.Start)
	}
	for mask, part := range s.layouts[0].Split(removedA) {
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
					parts = append(parts, fmt.Sprintf("only %s removes %s", []string{"A", "B"}[i],
						s.positionNames(mask.Name, only)))
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
		if to, found := m.rowB(int(row)); found {
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
		if edgeType, err := ingest.ParseEdgeType(mask); err == nil {
			names = append(names, fmt.Sprintf("%s (position %d)",
				edgeName(s.b, s.b.EdgesOf(edgeType), int(position)), position))
		} else {
			names = append(names, s.b.NodesOf(mask).IDs[position])
		}
	}
	return strings.Join(names, ", ")
}
