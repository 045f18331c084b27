package regenerate

import "slices"

// Lists has an ascending list of positions for each row: the list of row r is
// Positions[Offsets[r]:Offsets[r+1]].
type Lists struct{ Offsets, Positions []uint32 }

func (l Lists) Row(r uint32) []uint32 { return l.Positions[l.Offsets[r]:l.Offsets[r+1]] }

// add adds a row.
func (l *Lists) add(row []uint32) {
	l.Positions = append(l.Positions, row...)
	l.Offsets = append(l.Offsets, uint32(len(l.Positions)))
}

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
