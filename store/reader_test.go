package store

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"tcbuild/fault"
)

// Samples at random over shards of odd sizes, with values that the shards' ends cut short.
func TestReaderAtRandom(t *testing.T) {
	t.Parallel()
	const seed = 6
	r := rand.New(rand.NewPCG(seed, 0))
	for _, test := range []struct{ count, samplesPerValue, shards int }{{1, 1, 1}, {23, 5, 4}, {65, 64, 1}, {10, 64, 10}} {
		f := newFixture(t, Indices, "zstd", test.count, test.samplesPerValue, test.shards)
		f.build(t)
		f.check(t)
		d, err := Open(f.out)
		if err != nil {
			t.Fatal(err)
		}
		reader, err := d.NewMaskReader()
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			f.checkSample(t, reader, r.IntN(test.count))
		}
		reader.Close()
	}
}

// damageShard builds a dataset of two shards and changes the first one's file.
func damageShard(t *testing.T, change func(f *fixture, data []byte) []byte) (*fixture, *Dataset, string) {
	t.Helper()
	f := newFixture(t, Indices, "raw", 20, 4, 2)
	f.build(t)
	f.check(t)
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(f.out, f.manifest.Shards[0].Name, dataName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if data = change(f, data); data == nil {
		err = os.Remove(path)
	} else {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f, d, path
}

// A damaged record is given out together with an error; its neighbours are whole.
func TestReaderOfADamagedRecord(t *testing.T) {
	f, d, path := damageShard(t, func(f *fixture, data []byte) []byte {
		value := f.value(t, 4)
		data[bytes.Index(data, value)+len(value)-1] ^= 1 // in the payload of sample 7
		return data
	})
	r := d.NewReader()
	defer r.Close()
	for sample := range 20 {
		record, err := r.Stored(sample)
		if record == nil || !f.same(record, sample) {
			t.Errorf("sample %d is %v, error %v", sample, record, err)
		}
		if sample == 7 {
			wantFault(t, err, fault.Damaged, "read "+path+": sample 7: damaged: its payload has checksum ")
		} else if err != nil {
			t.Error(err)
		}
	}
	masks, err := d.NewMaskReader()
	if err != nil {
		t.Fatal(err)
	}
	defer masks.Close()
	_, _, err = masks.Sample(7)
	wantFault(t, err, fault.Damaged, "sample 7")
	f.checkSample(t, masks, 8)
}

// A shard that cannot be read is an error for its samples, and for no others.
func TestReaderOfADamagedShard(t *testing.T) {
	for name, test := range map[string]struct {
		change func(f *fixture, data []byte) []byte
		want   string
	}{
		"missing":       {func(*fixture, []byte) []byte { return nil }, "it is missing"},
		"empty":         {func(*fixture, []byte) []byte { return []byte{} }, "it has 0 bytes"},
		"no meta pages": {func(_ *fixture, data []byte) []byte { clear(data[:8192]); return data }, "its pages have 0 bytes"},
		"cut":           {func(_ *fixture, data []byte) []byte { return data[:8192] }, "page 2 is missing, the file has 2"},
	} {
		f, d, path := damageShard(t, test.change)
		r := d.NewReader()
		defer r.Close()
		for sample := range 20 {
			record, err := r.Stored(sample)
			if sample >= 10 {
				if err != nil || !f.same(record, sample) {
					t.Errorf("%s: sample %d is %v, error %v", name, sample, record, err)
				}
				continue
			}
			wantFault(t, err, fault.Damaged, "read "+path+": ", test.want)
			if record == nil || !f.same(record, sample) || record.Payload != nil {
				t.Errorf("%s: sample %d is %v, expected its row without a payload", name, sample, record)
			}
		}
	}
}

// A shard that becomes shorter while it is open is an error, and does not end the process.
func TestReaderOfAShardThatBecomesShorter(t *testing.T) {
	f := newFixture(t, FullMasks, "raw", 20, 4, 2) // its values need overflow pages
	f.build(t)
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(f.out, f.manifest.Shards[0].Name, dataName)
	r := d.NewReader()
	defer r.Close()
	if _, err := r.Stored(0); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 8192); err != nil {
		t.Fatal(err)
	}
	_, err = r.Stored(4)
	wantFault(t, err, fault.Damaged, "read "+path+": sample 4: ", "it ends before byte")
	if record, err := r.Stored(10); err != nil || !f.same(record, 10) {
		t.Errorf("sample 10, of another shard, is %v, error %v", record, err)
	}
}
