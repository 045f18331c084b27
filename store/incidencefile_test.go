package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/cespare/xxhash/v2"

	"tcbuild/fault"
	"tcbuild/incidence"
)

func TestIncidenceRoundTrip(t *testing.T) {
	f := newFixture(t, Incidence, "", 3, 0, 0)
	f.build(t)
	f.check(t)
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Incidence()
	if err != nil {
		t.Fatal(err)
	}
	if want := incidence.Build(f.graph); !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
}

// Rows must be those of the graph's nodes, and have positions of edges, whatever the files'
// digests.
func TestIncidenceIsChecked(t *testing.T) {
	f := newFixture(t, Incidence, "", 3, 0, 0)
	layout := incidence.NewLayout(f.graph)
	edges := layout.Size - layout.EdgePositions()
	for _, test := range []struct {
		change func(rows [][]uint32) [][]uint32
		file   string
		want   string
	}{
		{func(r [][]uint32) [][]uint32 { return r[:len(r)-1] }, incidenceName, "do not cut"},
		{func(r [][]uint32) [][]uint32 { return append(r, r[0]) }, incidenceName, "it has 91 rows"},
		{func(r [][]uint32) [][]uint32 { r[4], r[5] = r[5], r[4]; return r }, positionsName, "row 4: it does not begin with the node's own position, 4"},
		{func(r [][]uint32) [][]uint32 { r[4] = nil; return r }, positionsName, "row 4: it does not begin"},
		{func(r [][]uint32) [][]uint32 { r[62] = r[62][1:]; return r }, positionsName, "row 62: it does not begin with the node's own position, 62"},
		{func(r [][]uint32) [][]uint32 { r[4] = append(r[4], uint32(layout.Size)); return r }, positionsName, fmt.Sprintf("row 4: it has position %d, expected edges' positions, from %d to %d", layout.Size, edges, layout.Size-1)},
		{func(r [][]uint32) [][]uint32 { r[4] = append(r[4], uint32(edges)-1); return r }, positionsName, fmt.Sprintf("row 4: it has position %d, expected edges' positions", edges-1)},
	} {
		f.checkRows(t, test.change, nil, test.file, test.want)
	}
	for _, change := range []func(index *arrowIndex){
		func(i *arrowIndex) { i.checksums[7] ^= 1 },
		func(i *arrowIndex) { i.ends[7]-- },
		func(i *arrowIndex) { i.ends[7] = 1 << 40 },
		func(i *arrowIndex) { i.ends[7] = -1 },
		func(i *arrowIndex) { i.ends[89]-- },
	} {
		f.checkRows(t, nil, change, incidenceName, "")
	}
}

type arrowIndex struct {
	ends      []int64
	checksums []uint64
}

// checkRows publishes a dataset with changed incidence files, and wants damage to be found.
func (f *fixture) checkRows(t *testing.T, change func([][]uint32) [][]uint32, changeIndex func(*arrowIndex), file, want string) {
	t.Helper()
	f = newFixture(t, Incidence, "", 3, 0, 0)
	b := f.begin(t, ResumeNever, AllShards)
	f.putOthers(t, b)
	cache := incidence.Build(f.graph)
	var rows [][]uint32
	for row := range len(cache.Offsets) - 1 {
		rows = append(rows, slices.Clone(cache.Row(uint32(row))))
	}
	if change != nil {
		rows = change(rows)
	}
	var index arrowIndex
	content := slices.Concat(rows...)
	end := 0
	for _, row := range rows {
		end += len(row)
		index.ends = append(index.ends, int64(end))
		index.checksums = append(index.checksums, xxhash.Sum64(arrow.Uint32Traits.CastToBytes(row)))
	}
	if changeIndex != nil {
		changeIndex(&index)
	}
	err := errors.Join(b.writeIncidenceIndex(index.ends, index.checksums),
		os.WriteFile(b.path(positionsName), arrow.Uint32Traits.CastToBytes(content), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	publish(t, b, true)
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Incidence()
	wantFault(t, err, fault.Damaged, filepath.Join(f.out, file), want)
}

// Nothing of a torn file is used.
func TestTornIncidence(t *testing.T) {
	for _, name := range []string{incidenceName, positionsName} {
		f := newFixture(t, Incidence, "", 3, 0, 0)
		f.build(t)
		f.check(t)
		for range tornFiles(t, filepath.Join(f.out, name)) {
			d, err := Open(f.out)
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.Incidence()
			wantFault(t, err, fault.Damaged, filepath.Join(f.out, name))
		}
	}
}
