package gpuverify

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize/english"

	"tcbuild/gpuverify/regenerate"
	"tcbuild/ingest"
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
	stored := regenerate.Lists{Offsets: cache.Offsets, Positions: cache.Positions}
	rows, first := 0, ""
	node := uint32(0)
	for _, nodes := range []*ingest.Nodes{v.rules.Graph.Genes, v.rules.Graph.Reactions} {
		for i := range nodes.Len() {
			want, have := v.incidence.Row(node), stored.Row(node)
			node++
			if slices.Equal(want, have) {
				continue
			}
			if rows++; rows == 1 {
				first = fmt.Sprintf("%s %s: %s", nodes.Type, nodes.IDs[i], v.firstDifference(want, have))
			}
		}
	}
	v.incidence = stored
	if rows > 0 {
		v.damage(-1, fmt.Errorf("%s: its incidence differs from the graph's edges in %s; first: %s",
			path, english.Plural(rows, "row", ""), first))
	}
	return nil
}

// firstDifference names the first entry at which two different rows differ.
func (v *verifier) firstDifference(want, have []uint32) string {
	i := 0
	for i < min(len(want), len(have)) && want[i] == have[i] {
		i++
	}
	entry := func(list []uint32) string {
		if i >= len(list) {
			return "nothing"
		}
		mask, within := v.rules.At(int(list[i]))
		return fmt.Sprintf("%s %d", v.rules.Masks[mask].Name, within)
	}
	return fmt.Sprintf("entry %d is %s, expected %s", i, entry(have), entry(want))
}
