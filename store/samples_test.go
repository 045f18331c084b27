package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/store/internal/sampletable"
)

// Nothing of a torn sample table is used.
func TestTornSamples(t *testing.T) {
	for _, name := range []string{"part-00000.arrow", sampletable.ChecksumsName} {
		f := newFixture(t, Incidence, "", 3, 0, 0)
		f.build(t)
		f.check(t)
		for range tornFiles(t, filepath.Join(f.out, samplesName, name)) {
			d, err := Open(f.out)
			if err != nil {
				t.Fatal(err)
			}
			r := d.NewReader()
			sample, err := r.Stored(2)
			wantFault(t, err, fault.Damaged, filepath.Join(f.out, samplesName, name))
			if sample != nil {
				t.Errorf("sample %v of a torn file", sample)
			}
			r.Close()
		}
	}
}

// tornFiles yields after it has removed the file, and after it has cut it to each of some lengths.
// It does not mend it.
func tornFiles(t *testing.T, path string) func(yield func() bool) {
	return func(yield func() bool) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if !yield() {
			return
		}
		for end := 0; end < len(data); end += 1 + len(data)/12 {
			if err := os.WriteFile(path, data[:end], 0o644); err != nil {
				t.Fatal(err)
			}
			if !yield() {
				return
			}
		}
	}
}

// A table that an earlier build or another shard's process left is kept, and one that is not
// adopted leaves nothing behind.
func TestAdoptSamples(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 3, 8, 1)
	b := f.begin(t, ResumeNever, AllShards)
	if !NeedsSamples(f.out, ResumeIfPossible) {
		t.Error("a dataset without a sample table needs none")
	}
	f.putOthers(t, b)
	path := b.path(samplesName, sampletable.ChecksumsName)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f.putOthers(t, b)
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the table was replaced, error %v", err)
	}
	for _, test := range []struct {
		resume Resume
		want   bool
	}{{ResumeIfPossible, false}, {ResumeAlways, false}, {ResumeNever, true}} {
		if got := NeedsSamples(f.out, test.resume); got != test.want {
			t.Errorf("resume %s: needs samples %v, want %v", test.resume, got, test.want)
		}
	}
	f.putShard(t, b, 0)
	publish(t, b, true)
	f.check(t)
	if NeedsSamples(f.out, ResumeNever) {
		t.Error("a published dataset needs a sample table")
	}
}

// What a killed build left of a sample table beside the dataset is removed by the next build, also
// if that needs no sample table of its own, or finds the dataset published.
func TestLeftoverOfSamples(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 3, 8, 1)
	dir := filepath.Join(filepath.Dir(f.out), ".dataset.tcbuild-"+strings.Repeat("A", 26))
	leave := func() {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, filepath.Base(dir)), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	gone := func() {
		t.Helper()
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
	leave()
	f.begin(t, ResumeIfPossible, AllShards).Close()
	gone()
	f.build(t)
	leave()
	if existing, err := Published(f.out, f.manifest); existing == nil || err != nil {
		t.Fatalf("published: %v, %v", existing, err)
	}
	gone()
}

// Nothing of another dataset is taken over before it is synced, linked or copied.
func TestSharedInputsAreSynced(t *testing.T) {
	for _, name := range []string{"graph/nodes/gene.arrow", "samples/part-00000.arrow"} {
		base := newFixture(t, Incidence, "", 3, 0, 0)
		base.build(t)
		d, err := Open(base.out)
		if err != nil {
			t.Fatal(err)
		}
		f := newFixture(t, Indices, "zstd", 3, 8, 1)
		b := f.begin(t, ResumeNever, AllShards)
		// a link to nowhere can be linked, but not opened to be synced
		if err := errors.Join(os.Remove(filepath.Join(base.out, name)), os.Symlink("nowhere", filepath.Join(base.out, name))); err != nil {
			t.Fatal(err)
		}
		folder, _, _ := strings.Cut(name, "/")
		if err := b.ShareInputs(d); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v, want the error of syncing", name, err)
		}
		if _, err := os.Stat(b.path(folder)); err == nil {
			t.Errorf("%s was adopted", folder)
		}
	}
}

// A manifest that says other columns than the table has is refused.
func TestSamplesOfOtherColumns(t *testing.T) {
	f := newFixture(t, Incidence, "", 3, 0, 0)
	f.build(t)
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	d.Manifest.SetColumns(ingest.Columns{Phenotypes: d.Manifest.Phenotypes[:1]})
	_, err = d.NewReader().Stored(0)
	wantFault(t, err, fault.Damaged, "samples/part-00000.arrow: samples 0 to 2: its columns do not match the manifest")
}
