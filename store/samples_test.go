package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/incidence"
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

func shardText(s ShardRange) string { return fmt.Sprintf("%d+%d", s.First, s.Samples) }

// contentOf is the logical content of a dataset of the samples of batches.
func contentOf(t testing.TB, graphDigest string, rule incidence.ReactionRule, columns ingest.Columns, batches ...*ingest.Samples) string {
	t.Helper()
	table := NewSampleDigester(columns)
	for _, samples := range batches {
		if err := table.Add(samples); err != nil {
			t.Fatal(err)
		}
	}
	files, err := table.Digests()
	if err != nil {
		t.Fatal(err)
	}
	return LogicalContent(graphDigest, rule, columns, files)
}

// The bytes that are hashed, written out by hand.
func TestLogicalContentGolden(t *testing.T) {
	columns := ingest.Columns{
		Phenotypes: ingest.NamedPhenotypes("fitness", "tmi"),
		Attributes: []ingest.Attribute{{Name: "medium", Type: ingest.TextAttribute}, {Name: "t", Type: ingest.NumberAttribute}},
	}
	samples := ingest.NewSamples(0, columns, 2)
	samples.Append([]byte("s0"), []uint32{1, 300}, []float64{0.5, math.NaN()}, []ingest.Value{{Text: []byte("YPD")}, {Number: 30}})
	samples.Append(nil, nil, []float64{0, math.Copysign(0, -1)}, []ingest.Value{{}, {Number: math.NaN()}})
	part := sha256.Sum256([]byte("\x02\x00\x00\x00s0" + "\x02\x00\x00\x00" + "\x01\x00\x00\x00" + "\x2c\x01\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\xe0\x3f" + "\x01\x00\x00\x00\x00\x00\xf8\x7f" +
		"\x03\x00\x00\x00YPD" + "\x00\x00\x00\x00\x00\x00\x3e\x40" +
		"\x00\x00\x00\x00" + "\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x80" +
		"\xff\xff\xff\xff" + "\x01\x00\x00\x00\x00\x00\xf8\x7f"))
	sum := sha256.Sum256([]byte("\x19\x00\x00\x00tcbuild logical content 3" +
		"\x04\x00\x00\x00abcd" +
		"\x03\x00\x00\x00all" +
		"\x02\x00\x00\x00" + "\x07\x00\x00\x00fitness" + "\x03\x00\x00\x00tmi" +
		"\x02\x00\x00\x00" + "\x06\x00\x00\x00medium" + "\x04\x00\x00\x00text" + "\x01\x00\x00\x00t" + "\x06\x00\x00\x00number" +
		string(part[:])))
	if found, want := contentOf(t, "abcd", incidence.RuleAll, columns, samples), hex.EncodeToString(sum[:]); found != want {
		t.Errorf("digest %s, want %s", found, want)
	}
}

// The digest does not depend on how samples come in batches, and every NaN is one missing value.
func TestLogicalContentOfBatches(t *testing.T) {
	const count = 65_536 + 5000 // of two files
	columns := ingest.Columns{Phenotypes: ingest.NamedPhenotypes("x")}
	var singles []*ingest.Samples
	batch := ingest.NewSamples(0, columns, count)
	for i := range count {
		id, genes := fmt.Append(nil, i), []uint32{uint32(i)}
		one := ingest.NewSamples(i, columns, 1)
		one.Append(id, genes, []float64{math.NaN()}, nil)
		singles = append(singles, one)
		batch.Append(id, genes, []float64{math.Float64frombits(0xFFF8_0000_0000_0000 + uint64(i))}, nil)
	}
	ofSingles := contentOf(t, "g", incidence.RuleGPR, columns, singles...)
	ofBatch := contentOf(t, "g", incidence.RuleGPR, columns, batch)
	if ofSingles != ofBatch {
		t.Errorf("digest %s of single samples, %s of a batch", ofSingles, ofBatch)
	}
}

// Whatever differs in a dataset's content differs in its digest.
func TestLogicalContentTellsApart(t *testing.T) {
	seen := make(map[string]string)
	texts := func(names ...string) (attributes []ingest.Attribute) {
		for _, name := range names {
			attributes = append(attributes, ingest.Attribute{Name: name, Type: ingest.TextAttribute})
		}
		return attributes
	}
	for _, test := range []struct {
		name       string
		graph      string
		rule       incidence.ReactionRule
		phenotype  string
		attributes []ingest.Attribute
		samples    []string // ids
		genes      []uint32
		value      float64
		attribute  ingest.Value
	}{
		{"plain", "g", incidence.RuleAll, "x", nil, []string{"a"}, []uint32{1}, 1, ingest.Value{}},
		{"graph", "h", incidence.RuleAll, "x", nil, []string{"a"}, []uint32{1}, 1, ingest.Value{}},
		{"rule", "g", incidence.RuleGPR, "x", nil, []string{"a"}, []uint32{1}, 1, ingest.Value{}},
		{"phenotype", "g", incidence.RuleAll, "y", nil, []string{"a"}, []uint32{1}, 1, ingest.Value{}},
		{"id", "g", incidence.RuleAll, "x", nil, []string{"b"}, []uint32{1}, 1, ingest.Value{}},
		{"gene", "g", incidence.RuleAll, "x", nil, []string{"a"}, []uint32{2}, 1, ingest.Value{}},
		{"no gene", "g", incidence.RuleAll, "x", nil, []string{"a"}, nil, 1, ingest.Value{}},
		{"value", "g", incidence.RuleAll, "x", nil, []string{"a"}, []uint32{1}, 2, ingest.Value{}},
		{"missing value", "g", incidence.RuleAll, "x", nil, []string{"a"}, []uint32{1}, math.NaN(), ingest.Value{}},
		{"no sample", "g", incidence.RuleAll, "x", nil, nil, []uint32{1}, 1, ingest.Value{}},
		{"twice", "g", incidence.RuleAll, "x", nil, []string{"a", "a"}, []uint32{1}, 1, ingest.Value{}},
		{"attribute", "g", incidence.RuleAll, "x", texts("m"), []string{"a"}, []uint32{1}, 1, ingest.Value{Text: []byte("YPD")}},
		{"attribute's name", "g", incidence.RuleAll, "x", texts("n"), []string{"a"}, []uint32{1}, 1, ingest.Value{Text: []byte("YPD")}},
		{"attribute's value", "g", incidence.RuleAll, "x", texts("m"), []string{"a"}, []uint32{1}, 1, ingest.Value{Text: []byte("SC")}},
		{"empty attribute", "g", incidence.RuleAll, "x", texts("m"), []string{"a"}, []uint32{1}, 1, ingest.Value{Text: []byte{}}},
		{"missing attribute", "g", incidence.RuleAll, "x", texts("m"), []string{"a"}, []uint32{1}, 1, ingest.Value{}},
	} {
		columns := ingest.Columns{Phenotypes: ingest.NamedPhenotypes(test.phenotype), Attributes: test.attributes}
		samples := ingest.NewSamples(0, columns, 0)
		for _, id := range test.samples {
			samples.Append([]byte(id), test.genes, []float64{test.value}, []ingest.Value{test.attribute}[:len(test.attributes)])
		}
		sum := contentOf(t, test.graph, test.rule, columns, samples)
		if other, ok := seen[sum]; ok {
			t.Errorf("%s and %s have the same digest", test.name, other)
		}
		seen[sum] = test.name
	}
}
