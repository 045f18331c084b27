package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"tcbuild/fault"
	"tcbuild/internal/testing/testrun"
)

// Arrow's library answers some damaged files with a panic or a request for all memory. A reader
// gets an error, or samples that are right.
func TestDamagedArrowFiles(t *testing.T) {
	f := newFixture(t, Incidence, "", 3, 0, 0)
	f.build(t)
	f.check(t)
	for _, name := range []string{incidenceName, positionsName, "samples/part-00000.arrow"} {
		path := filepath.Join(f.out, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); at += 1 + len(whole)/testrun.Cases(80, 20) {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 0x40
			if err := os.WriteFile(path, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			f.readDamaged(t, name)
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f.check(t)
}

func (f *fixture) readDamaged(t *testing.T, name string) {
	t.Helper()
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.NewMaskReader()
	if err != nil {
		wantFault(t, err, fault.Damaged, name)
		return
	}
	defer r.Close()
	for sample := range d.Manifest.Samples {
		record, _, err := r.Sample(sample)
		if err != nil {
			wantFault(t, err, fault.Damaged, name)
		} else if !f.same(record, sample) {
			t.Errorf("%s: sample %d is %v without an error", name, sample, record)
		}
	}
}
