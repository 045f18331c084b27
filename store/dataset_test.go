package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/oracle"
	"tcbuild/internal/testing/sets"
)

// fixture is a dataset that a test builds.
type fixture struct {
	graph    *ingest.Graph
	samples  *ingest.Samples
	manifest *Manifest
	out      string
}

// newFixture makes the first count samples of the tiny graph.
func newFixture(t testing.TB, variant Variant, codec string, count, samplesPerValue, shards int) *fixture {
	t.Helper()
	f := &fixture{graph: synth.Graph(synth.Tiny, 1), out: filepath.Join(t.TempDir(), "dataset")}
	source := synth.Samples(synth.Tiny, 1, count)
	f.samples = ingest.NewSamples(0, source.Columns(), count)
	if _, err := sets.Read(source, func(batch *ingest.Samples) error {
		for i := range batch.Len() {
			f.samples.Append(batch.ID(i), batch.Genes(i), batch.Phenotypes(i), nil)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	f.manifest = &Manifest{
		FormatVersion: FormatVersion, Variant: variant, Codec: codec, Samples: count, SamplesPerValue: samplesPerValue,
		Options:     Options{ReactionRule: incidence.RuleAll},
		GraphDigest: f.graph.Digest(), LogicalContent: contentOf(t, f.graph.Digest(), incidence.RuleAll, source.Columns(), f.samples),
	}
	f.manifest.SetColumns(source.Columns())
	f.manifest.SetIncidence(incidence.Build(f.graph))
	f.manifest.Identify()
	if variant != Incidence {
		f.manifest.Cut(shards)
	}
	return f
}

// begin starts or resumes the dataset.
func (f *fixture) begin(t testing.TB, resume Resume, shard int) *Building {
	t.Helper()
	b, err := Begin(f.out, f.manifest, resume, shard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// value encodes the value that starts with sample first.
func (f *fixture) value(t testing.TB, first int) []byte {
	t.Helper()
	codec, err := encode.Find(f.manifest.Mode(), f.manifest.Codec)
	if err != nil {
		t.Fatal(err)
	}
	encoder := codec.NewEncoder(f.manifest.MaskPositions())
	return encode.AppendValue(nil, f.manifest.Seed(), first, f.valueSamples(first), func(dst []byte, i int) []byte {
		return encoder.Append(dst, oracle.Removed(f.graph, f.samples.Genes(first+i), false))
	})
}

// valueSamples is the number of samples in the value that starts with sample first.
func (f *fixture) valueSamples(first int) int {
	for _, shard := range f.manifest.Shards {
		if end := shard.First + shard.Samples; first < end {
			return min(f.manifest.SamplesPerValue, end-first)
		}
	}
	return 0
}

// putShard writes and seals a shard, unless it is complete.
func (f *fixture) putShard(t testing.TB, b *Building, i int) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if b.complete(i) {
		return
	}
	shard, err := b.Shard(i)
	if err != nil {
		t.Fatal(err)
	}
	for next := shard.First; next < shard.First+shard.Samples; next += f.valueSamples(next) {
		if err := shard.Put(next, f.value(t, next)); err != nil {
			t.Fatal(err)
		}
	}
	if err := shard.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := shard.Seal(); err != nil {
		t.Fatal(err)
	}
}

// putOthers writes everything except shards.
func (f *fixture) putOthers(t testing.TB, b *Building) {
	t.Helper()
	if err := b.WriteGraph(f.graph); err != nil {
		t.Fatal(err)
	}
	if f.manifest.Variant == Incidence {
		if err := b.WriteIncidence(incidence.Build(f.graph)); err != nil {
			t.Fatal(err)
		}
	}
	w, err := NewSampleWriter(f.out, f.manifest.Columns())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	if err := errors.Join(w.Add(f.samples), w.Close(f.manifest.LogicalContent), b.AdoptSamples(w)); err != nil {
		t.Fatal(err)
	}
}

func publish(t testing.TB, b *Building, want bool) {
	t.Helper()
	published, err := b.Publish(map[string]string{"program": "test"})
	if err != nil || published != want {
		t.Fatalf("published %v, error %v, want %v", published, err, want)
	}
}

// build builds and publishes the whole dataset.
func (f *fixture) build(t testing.TB) {
	t.Helper()
	b := f.begin(t, ResumeNever, AllShards)
	defer b.Close()
	f.putOthers(t, b)
	for i := range f.manifest.Shards {
		f.putShard(t, b, i)
	}
	publish(t, b, true)
}

// check reads the whole published dataset back, backwards and forwards.
func (f *fixture) check(t testing.TB) {
	t.Helper()
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range d.Manifest.Files {
		if err := d.CheckFile(file); err != nil {
			t.Error(err)
		}
	}
	if left, _ := filepath.Glob(f.out + "*"); !slices.Equal(left, []string{f.out}) {
		t.Errorf("beside the dataset there is %q", left)
	}
	filepath.WalkDir(f.out, func(path string, entry os.DirEntry, err error) error {
		name, _ := filepath.Rel(f.out, path)
		listed := slices.ContainsFunc(d.Manifest.Files, func(file File) bool { return file.Name == name })
		others := []string{manifestName, runName}
		if !entry.IsDir() && !listed && !slices.Contains(others, name) {
			t.Errorf("the manifest does not list %s", name)
		}
		return err
	})
	all := ingest.NewSamples(0, d.Manifest.Columns(), d.Manifest.Samples)
	r, err := d.NewMaskReader()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for sample := range d.Manifest.Samples {
		f.checkSample(t, r, d.Manifest.Samples-1-sample)
		if record, _, err := r.Sample(sample); err == nil {
			all.Append(record.ID, record.Genes, record.Phenotypes, record.Attributes)
		}
		f.checkSample(t, r, sample)
	}
	if content := contentOf(t, d.Manifest.GraphDigest, d.Manifest.Options.ReactionRule, d.Manifest.Columns(), all); content != d.Manifest.LogicalContent {
		t.Errorf("logical content %s, manifest says %s", content, d.Manifest.LogicalContent)
	}
}

// checkSample holds a sample against the oracle.
func (f *fixture) checkSample(t testing.TB, r *MaskReader, sample int) {
	t.Helper()
	record, removed, err := r.Sample(sample)
	if err != nil {
		t.Fatal(err)
	}
	if !f.same(record, sample) {
		t.Errorf("sample %d is %v, want id %s, genes %d, phenotypes %v", sample, record, f.samples.ID(sample), f.samples.Genes(sample), f.samples.Phenotypes(sample))
	}
	if want := oracle.Removed(f.graph, f.samples.Genes(sample), false); !slices.Equal(removed, want) {
		t.Errorf("sample %d: removed %d, want %d", sample, removed, want)
	}
}

// same reports whether what is stored beside the masks is that of a sample.
func (f *fixture) same(record *Sample, sample int) bool {
	sameBits := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	return string(record.ID) == string(f.samples.ID(sample)) && slices.Equal(record.Genes, f.samples.Genes(sample)) &&
		slices.EqualFunc(record.Phenotypes, f.samples.Phenotypes(sample), sameBits)
}

// wantFault checks an error's kind and that its message has all parts.
func wantFault(t testing.TB, err error, kind fault.Kind, parts ...string) {
	t.Helper()
	if err == nil || fault.KindOf(err) != kind {
		t.Errorf("error %v (kind %d), want kind %d", err, fault.KindOf(err), kind)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func TestDatasets(t *testing.T) {
	for _, test := range []struct {
		variant                        Variant
		codec                          string
		count, samplesPerValue, shards int
	}{
		{Incidence, "", 70, 0, 0},
		{Indices, "zstd", 70, 8, 3},
		{Indices, "delta", 1, 64, 1},
		{Indices, "raw", 7, 1, 7},
		{FullMasks, "zstd", 65, 64, 1},
		{FullMasks, "bits", 64, 64, 2},
		{FullMasks, "raw", 20, 3, 2},
	} {
		t.Run(string(test.variant)+"-"+test.codec, func(t *testing.T) {
			f := newFixture(t, test.variant, test.codec, test.count, test.samplesPerValue, test.shards)
			f.build(t)
			f.check(t)
		})
	}
}

func TestOpenIsRefused(t *testing.T) {
	_, err := Open(t.TempDir())
	wantFault(t, err, fault.Input, "it has no manifest.json")
}

func TestGraphIsChecked(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 3, 8, 1)
	f.build(t)
	defer f.check(t)
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.CheckGraph(f.graph, "given"); err != nil {
		t.Error(err)
	}
	wantFault(t, d.CheckGraph(synth.Graph(synth.Tiny, 2), "given"), fault.Input, "check graph given: its digest is", f.manifest.GraphDigest)
	if graph, err := d.Graph(); err != nil || graph.Digest() != f.manifest.GraphDigest {
		t.Errorf("the dataset's graph: error %v", err)
	}
	d.Manifest.GraphDigest = "0"
	_, err = d.readGraph()
	wantFault(t, err, fault.Damaged, "graph: its digest is", "(manifest: 0)")
}

func TestCheckFile(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 3, 8, 1)
	f.build(t)
	f.check(t)
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	file := d.Manifest.Files[len(d.Manifest.Files)-1]
	path := filepath.Join(f.out, file.Name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(data[:len(data)-1])
	wantFault(t, d.CheckFile(file), fault.Damaged, path+": it has ", "bytes (manifest: ")
	data[len(data)/2] ^= 1
	write(data)
	wantFault(t, d.CheckFile(file), fault.Damaged, path+": its sha256 is ", "(manifest: "+file.SHA256)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wantFault(t, d.CheckFile(file), fault.Damaged, path+": it is missing")
}

func TestHashFile(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{0, 1, hashBuffer - 1, hashBuffer, 2*hashBuffer + 77} {
		content := bytes.Repeat([]byte("content "), size/8+1)[:size]
		if err := os.WriteFile(filepath.Join(dir, "file"), content, 0o644); err != nil {
			t.Fatal(err)
		}
		digest := sha256.Sum256(content)
		want := File{Name: "file", Bytes: int64(size), SHA256: hex.EncodeToString(digest[:])}
		if got, err := HashFile(dir, "file"); err != nil || got != want {
			t.Errorf("file of %d bytes: %v, %v, expected %v", size, got, err, want)
		}
	}
	if _, err := HashFile(dir, "missing"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

// Anything else in place of a data file is damage, reported at once: a pipe does not block, an
// endless device is not read. No part of the dataset gives other masks.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(path string) error{
		"nothing":   func(string) error { return nil },
		"a folder":  func(path string) error { return os.Mkdir(path, 0o755) },
		"a pipe":    func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"a device":  func(path string) error { return os.Symlink("/dev/zero", path) },
		"a loop":    func(path string) error { return os.Symlink(filepath.Base(path), path) },
		"no target": func(path string) error { return os.Symlink("nowhere", path) },
	} {
		for _, variant := range []Variant{Incidence, Indices} {
			f := newFixture(t, variant, map[Variant]string{Indices: "zstd"}[variant], 8, 4, 2)
			f.build(t)
			d, err := Open(f.out)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range append(d.Manifest.Files, File{Name: manifestName}) {
				path := filepath.Join(f.out, file.Name)
				away := filepath.Join(t.TempDir(), "away")
				if err := os.Rename(path, away); err != nil {
					t.Fatal(err)
				}
				if err := replace(path); err != nil {
					t.Fatal(err)
				}
				if file.Name == manifestName {
					if _, err := Open(f.out); name != "nothing" && name != "no target" {
						wantFault(t, err, fault.Damaged, path)
					}
				} else {
					wantFault(t, d.CheckFile(file), fault.Damaged, path)
					f.readDamaged(t, file.Name)
				}
				os.Remove(path)
				if err := os.Rename(away, path); err != nil {
					t.Fatal(err)
				}
			}
			f.check(t)
		}
	}
}

// Files of absurd sizes, as sparse files can have, are damage that is found without reading them.
func TestSizesAreBounded(t *testing.T) {
	t.Parallel()
	const sparse = 1 << 40
	f := newFixture(t, Indices, "zstd", 8, 4, 1)
	f.build(t)
	d, err := Open(f.out)
	if err != nil {
		t.Fatal(err)
	}
	grow := func(name string, size int64) string {
		path := filepath.Join(f.out, name)
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(file.Truncate(size), file.Close()); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := grow("graph/nodes/another.arrow", sparse)
	_, err = d.readGraph()
	wantFault(t, err, fault.Damaged, path+": the manifest does not list it")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"graph/nodes/gene.arrow", "graph/edges/gene__physical__gene.arrow"} {
		info, err := os.Stat(filepath.Join(f.out, name))
		if err != nil {
			t.Fatal(err)
		}
		path := grow(name, sparse)
		_, err = d.readGraph()
		wantFault(t, err, fault.Damaged, path+": it has 1099511627776 bytes (manifest: ")
		grow(name, info.Size())
	}
	f.check(t)

	path = grow(manifestName, 1<<28)
	_, err = Open(f.out)
	wantFault(t, err, fault.Damaged, path+": the file is too large")
}

// A link to a file is read, as one to a store of large files.
func TestLinkToAFile(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 8, 4, 1)
	f.build(t)
	path := filepath.Join(f.out, f.manifest.Shards[0].Name, dataName)
	away := filepath.Join(t.TempDir(), "away")
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(away, path); err != nil {
		t.Fatal(err)
	}
	f.check(t)
}

// An open dataset stays the version to which a link, such as current, led when it was opened. When
// that version is removed, reading it says so: it is not damage.
func TestOpenResolvesLinks(t *testing.T) {
	t.Parallel()
	for _, variant := range []Variant{Incidence, Indices} {
		codec := map[Variant]string{Indices: "zstd"}[variant]
		one, two := newFixture(t, variant, codec, 20, 4, 2), newFixture(t, variant, codec, 7, 4, 1)
		one.build(t)
		two.build(t)
		current := filepath.Join(t.TempDir(), "current")
		if err := os.Symlink(one.out, current); err != nil {
			t.Fatal(err)
		}
		opened := make([]*Dataset, 3)
		for i := range opened {
			var err error
			if opened[i], err = Open(current); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(os.Remove(current), os.Symlink(two.out, current)); err != nil {
			t.Fatal(err)
		}
		reader, err := opened[0].NewMaskReader()
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		for sample := range 20 {
			one.checkSample(t, reader, sample)
		}
		if err := os.RemoveAll(one.out); err != nil {
			t.Fatal(err)
		}
		_, graphErr := opened[1].Graph()
		_, namesErr := opened[1].Names()
		_, _, maskErr := func() (*Sample, []uint32, error) {
			reader, err := opened[2].NewMaskReader()
			if err != nil {
				return nil, nil, err
			}
			defer reader.Close()
			return reader.Sample(3)
		}()
		_, samplesErr := opened[2].Samples()
		for i, err := range []error{graphErr, namesErr, maskErr, samplesErr,
			opened[2].CheckFile(opened[2].Manifest.Files[0])} {
			if fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), "was removed") {
				t.Errorf("%s %d: got %v", variant, i, err)
			}
		}
	}
}
