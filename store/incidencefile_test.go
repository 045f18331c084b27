package store

import (
	"path/filepath"
	"reflect"
	"testing"

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

// An incidence cache must have valid indices, whatever the file's digest.
func TestIncidenceIsChecked(t *testing.T) {
	for _, test := range []struct {
		change func(cache *incidence.Cache)
		want   string
	}{
		{func(c *incidence.Cache) { c.Edges = c.Edges[:2] }, "row 2 is not edge type gene__regulatory__gene"},
		{func(c *incidence.Cache) { c.Edges[0].EdgeType = "x" }, "row 0 is not edge type gene__gpr__reaction"},
		{func(c *incidence.Cache) { c.Edges[1].Positions[4] = 210 }, "edge type gene__physical__gene: position 210 at index 4, expected below 210"},
		{func(c *incidence.Cache) { c.Edges[1].Offsets[0] = 1 }, "row offsets do not match 60 rows"},
		{func(c *incidence.Cache) { c.Edges[1].Offsets[60]-- }, "row offsets do not match 60 rows"},
		{func(c *incidence.Cache) { c.Edges[1].Offsets = c.Edges[1].Offsets[1:] }, "row offsets do not match 60 rows"},
		{func(c *incidence.Cache) { c.Edges[1].Offsets[3] = 1 << 30 }, "offset of row 3 is 1073741824"},
	} {
		f := newFixture(t, Incidence, "", 3, 0, 0)
		b := f.begin(t, ResumeNever, AllShards)
		f.putOthers(t, b)
		cache := incidence.Build(f.graph)
		test.change(cache)
		if err := b.WriteIncidence(cache); err != nil {
			t.Fatal(err)
		}
		publish(t, b, true)
		d, err := Open(f.out)
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Incidence()
		wantFault(t, err, fault.Damaged, filepath.Join(f.out, incidenceName), test.want)
	}
}

// Nothing of a torn file is used.
func TestTornIncidence(t *testing.T) {
	f := newFixture(t, Incidence, "", 3, 0, 0)
	f.build(t)
	f.check(t)
	for range tornFiles(t, filepath.Join(f.out, incidenceName)) {
		d, err := Open(f.out)
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Incidence()
		wantFault(t, err, fault.Damaged, filepath.Join(f.out, incidenceName))
	}
}
