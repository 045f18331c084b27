package store

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// Samples around the boundary of two record batches, forwards, backwards and at random.
func TestSamplesOfTwoBatches(t *testing.T) {
	const count = samplesBatch + 3
	f := newFixture(t, Incidence, "", 3, 0, 0)
	f.samples = ingest.NewSamples(0, 2, count)
	for i := range count {
		genes := []uint32{0, 5, 59}[:i%4%3]
		f.samples.Append(fmt.Append(nil, "sample ", i), genes, []float64{float64(i), math.NaN()})
	}
	f.manifest.Samples = count
	content := NewContentDigest(f.manifest.GraphDigest, f.manifest.Options.ReactionRule, f.manifest.Phenotypes)
	content.AddAll(f.samples)
	f.manifest.LogicalContent = content.Sum()
	f.build(t)

	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	r := d.NewReader()
	defer r.Close()
	again := NewContentDigest(f.manifest.GraphDigest, f.manifest.Options.ReactionRule, f.manifest.Phenotypes)
	read := func(sample int) {
		record, err := r.Record(sample)
		if err != nil || !f.same(record, sample) || record.Payload != nil {
			t.Fatalf("sample %d is %v, error %v", sample, record, err)
		}
		again.Add(record.ID, record.Genes, record.Phenotypes)
	}
	for sample := range count {
		read(sample)
	}
	if again.Sum() != f.manifest.LogicalContent {
		t.Error("the samples read are not those written")
	}
	for _, sample := range []int{count - 1, 0, samplesBatch, samplesBatch - 1, samplesBatch + 1, 77} {
		read(sample)
	}
}

// A sample that is not in the file is an error, and no record of another sample comes with it.
func TestMissingSample(t *testing.T) {
	f := newFixture(t, Incidence, "", 3, 0, 0)
	f.build(t)
	f.check(t)
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	d.Manifest.Samples = samplesBatch + 5
	r := d.NewReader()
	defer r.Close()
	for _, test := range []struct {
		sample int
		want   string
	}{{3, "sample 3 is missing"}, {samplesBatch, "record batch 1: "}} {
		if _, err := r.Record(0); err != nil {
			t.Fatal(err)
		}
		record, err := r.Record(test.sample)
		wantFault(t, err, fault.Damaged, filepath.Join(f.out, samplesName)+": "+test.want)
		if record != nil {
			t.Errorf("sample %d: an error and the record %v", test.sample, record)
		}
	}
	d.Manifest.Phenotypes = d.Manifest.Phenotypes[:1]
	_, err = d.NewReader().Record(0)
	wantFault(t, err, fault.Damaged, samplesName+": its columns do not match the manifest")
}

func TestTornSamples(t *testing.T) {
	f := newFixture(t, Incidence, "", 3, 0, 0)
	f.build(t)
	f.check(t)
	for range tornFiles(t, filepath.Join(f.out, samplesName)) {
		d, err := Open(f.out)
		if err != nil {
			t.Fatal(err)
		}
		r := d.NewReader()
		record, err := r.Record(2)
		wantFault(t, err, fault.Damaged, filepath.Join(f.out, samplesName))
		if record != nil {
			t.Errorf("record %v of a torn file", record)
		}
		r.Close()
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

// A sample whose values are not those that its checksum was made of is returned with an error.
func TestChangedSample(t *testing.T) {
	f := newFixture(t, Incidence, "", 3, 0, 0)
	f.build(t)
	f.check(t)
	path := filepath.Join(f.out, samplesName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ids := bytes.Index(data, []byte("012\x00")) // the ids of the samples, padded
	if ids < 0 {
		t.Fatal("the file does not hold the ids 0, 1 and 2 in a row")
	}
	data[ids+1] = '7'
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	r := d.NewReader()
	defer r.Close()
	for sample := range 3 {
		record, err := r.Record(sample)
		if sample != 1 {
			if err != nil || !f.same(record, sample) {
				t.Errorf("sample %d is %v, error %v", sample, record, err)
			}
			continue
		}
		wantFault(t, err, fault.Damaged, path+": sample 1 has checksum ")
		if record == nil || string(record.ID) != "7" {
			t.Errorf("sample 1 is %v, want the id that stands there: 7", record)
		}
	}
}
