package gpuverify

import (
	"fmt"
	"path/filepath"
	"slices"

	"tcbuild/gpuverify/regenerate"
)

// useStoredIncidence compares the dataset's stored incidence with the graph's, entry by entry, and
// reports the first difference. Masks are then scattered from the stored incidence, so that the
// report also names the samples that a reader would get wrong. The error is for failures to read.
func (v *verifier) useStoredIncidence() error {
	cache, err := v.dataset.Incidence()
	if err != nil {
		return err
	}
	path := filepath.Join(v.dataset.Dir, "incidence.positions")
	rows, first := 0, ""
	for i, stored := range cache.Edges {
		expected, found := &v.incidences[i], regenerate.Lists{Offsets: stored.Offsets, Positions: stored.Positions}
		if stored.EdgeType != expected.Type.String() {
			return fmt.Errorf("%s: row %d is edge type %s, expected %s", path, i, stored.EdgeType, expected.Type)
		}
		nodes := v.rules.Graph.NodesOf(expected.Type.Source)
		for node := range uint32(nodes.Len()) {
			want, have := expected.Row(node), found.Row(node)
			if slices.Equal(want, have) {
				continue
			}
			if rows++; rows == 1 {
				first = fmt.Sprintf("edge type %s, %s %s: %s", expected.Type, nodes.Type, nodes.IDs[node], firstDifference(want, have))
			}
		}
		expected.Lists = found
	}
	if rows > 0 {
		v.damage(-1, fmt.Errorf("%s: its incidence differs from that of the graph's edges in %d rows; first: %s",
			path, rows, first))
	}
	return nil
}

// firstDifference names the first entry at which two different lists differ.
func firstDifference(want, have []uint32) string {
	i := 0
	for i < min(len(want), len(have)) && want[i] == have[i] {
		i++
	}
	entry := func(list []uint32) string {
		if i < len(list) {
			return fmt.Sprintf("edge %d", list[i])
		}
		return "no edge"
	}
	return fmt.Sprintf("entry %d is %s, expected %s", i, entry(have), entry(want))
}
