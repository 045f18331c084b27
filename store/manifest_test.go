package store

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// writeManifest makes a folder with a manifest of this text.
func writeManifest(t *testing.T, text []byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, manifestName), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// wholeManifest is one that passes every check: 10 samples in 3 shards.
func wholeManifest(t *testing.T) *Manifest {
	t.Helper()
	m := newFixture(t, Indices, "zstd", 10, 4, 3).manifest
	for _, shard := range m.Shards {
		m.Files = append(m.Files,
			File{Name: shard.Name + "/" + dataName, Bytes: 8192, SHA256: "ab"})
	}
	for _, name := range []string{"samples/_checksums", "samples/part-00000.arrow"} {
		m.Files = append(m.Files, File{Name: name, Bytes: 100, SHA256: "ef"})
	}
	m.Files = append(m.Files, File{Name: "graph/nodes/gene.arrow", Bytes: 9000, SHA256: "a1"})
	m.Account = ingest.Account{Rows: 13, Kept: 10, Repeats: ingest.Repeats{Genotypes: 8,
		RepeatedGenotypes: 9, RepeatedSamples: 10}}
	m.Account.Drop(ingest.UnknownGene, 3, []byte("X"))
	m.Account.Drop(ingest.SelfPair, 4, nil)
	m.Account.Add(ingest.Wildtype, 1)
	m.Inputs.Graph = []ingest.Input{{Name: "nodes/gene.tsv", Bytes: 5, SHA256: "cd"}}
	return m
}

func TestManifestRoundTrip(t *testing.T) {
	want := wholeManifest(t)
	got, err := ReadManifest(writeManifest(t, want.sealed()))
	if err != nil {
		t.Fatal(err)
	}
	want.Checksum = got.Checksum
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, want %+v", got, want)
	}
	if got.DataBytes() != 3*8192+200+9000 || got.SampleBytes() != 3*8192+200 ||
		got.MaskPositions() != want.MaskPositions() {
		t.Errorf("%d bytes of data, %d of samples, %d positions", got.DataBytes(),
			got.SampleBytes(), got.MaskPositions())
	}
}

func TestManifestIsChecked(t *testing.T) {
	for _, test := range []struct {
		change func(m *Manifest)
		kind   fault.Kind
		want   string
	}{
		{func(m *Manifest) { m.FormatVersion = 1 }, fault.Input, "format version 1, expected 6"},
		{func(m *Manifest) { m.Identity = "" }, fault.Damaged,
			`identity: found "", expected 64 hexadecimal digits`},
		{func(m *Manifest) { m.Variant = "masks" }, fault.Damaged, `variant: found "masks"`},
		{func(m *Manifest) { m.Masks[1].Size = -1 }, fault.Damaged,
			"masks: reaction has size -1, after 60 positions"},
		{func(m *Manifest) { m.Masks[1].Size = 1 << 31 }, fault.Damaged,
			"masks: reaction has size 2147483648"},
		{func(m *Manifest) { m.Masks[1].Size = 1<<31 - 60 }, fault.Damaged,
			"masks: reaction has size 2147483588, after 60 positions"},
		{func(m *Manifest) { m.SamplesPerValue = 0 }, fault.Damaged, "samples_per_value: found 0"},
		{func(m *Manifest) { m.Samples = 0 }, fault.Damaged, "shards: found 3 for 0 samples"},
		{func(m *Manifest) { m.Samples = -1 }, fault.Damaged, "shards: found 3 for -1 samples"},
		{func(m *Manifest) { m.Shards = nil }, fault.Damaged, "shards: found 0 for 10 samples"},
		{func(m *Manifest) { m.Shards[1].First = 4 }, fault.Damaged,
			"shards: found {Name:shard-00001-of-00003 First:4 Samples:3}"},
		{func(m *Manifest) { m.Shards[2].Name = "../../etc" }, fault.Damaged,
			"shards: found {Name:../../etc"},
		{func(m *Manifest) { m.Files = m.Files[1:] }, fault.Damaged,
			"files: shard-00000-of-00003/data.mdb is missing"},
		{func(m *Manifest) { m.Files[0].Name = "../data.mdb" }, fault.Damaged,
			`files: "../data.mdb" does not lie in the dataset`},
		{func(m *Manifest) { m.Files[0].Name = "/data.mdb" }, fault.Damaged,
			`files: "/data.mdb" does not lie in the dataset`},
		{func(m *Manifest) { m.Variant = Incidence }, fault.Damaged,
			"found 10 samples in 3 shards"},
		{func(m *Manifest) { m.Variant, m.Shards = Incidence, nil }, fault.Damaged,
			"files: incidence.arrow is missing"},
		{func(m *Manifest) { m.Files = slices.Delete(m.Files, 4, 5) }, fault.Damaged,
			"files: samples/part-00000.arrow is missing"},
		{func(m *Manifest) { m.Samples = 20_000_000_000_000 }, fault.Damaged,
			"samples: found 20000000000000, expected at most 50 in a table of 200 bytes"},
		{func(m *Manifest) { m.Samples, m.Files[4].Bytes = math.MaxInt, 1<<62 }, fault.Damaged,
			"samples: found 9223372036854775807, expected at most 393216 in a table of"},
		{func(m *Manifest) { m.Files[1].Bytes = -1 }, fault.Damaged,
			"files: shard-00001-of-00003/data.mdb has -1 bytes, after 8192 bytes of other files"},
		{func(m *Manifest) { m.Files[0].Bytes = math.MaxInt }, fault.Damaged,
			"files: shard-00001-of-00003/data.mdb has 8192 bytes, after 9223372036854775807"},
		{func(m *Manifest) { m.Files[5].Bytes = 3523 }, fault.Damaged,
			"masks: found 881 positions, expected at most 880 in a graph of 3523 bytes"},
		{func(m *Manifest) { m.SamplesPerPart = 64 }, fault.Damaged,
			"samples_per_part and samples_per_batch: found {PartSamples:64 BatchSamples:4096}, " +
				"expected {PartSamples:65536 BatchSamples:4096}"},
	} {
		m := wholeManifest(t)
		test.change(m)
		dir := writeManifest(t, m.sealed())
		_, err := ReadManifest(dir)
		wantFault(t, err, test.kind, "read "+filepath.Join(dir, manifestName)+": "+test.want)
	}
}

// Every truncation and every changed byte is an error.
func TestDamagedManifest(t *testing.T) {
	text := wholeManifest(t).sealed()
	dir := writeManifest(t, text)
	for end := 0; end < len(text)-1; end += 31 { // the last byte is the line end
		if err := os.WriteFile(filepath.Join(dir, manifestName), text[:end], 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadManifest(dir)
		wantFault(t, err, fault.Damaged, manifestName)
	}
	for at := 0; at < len(text); at += 3 {
		damaged := []byte(string(text))
		damaged[at] ^= 0x04
		if err := os.WriteFile(filepath.Join(dir, manifestName), damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadManifest(dir); err == nil {
			t.Fatalf("byte %d changed from %q to %q is no error", at, text[at], damaged[at])
		}
	}
}

func TestDifference(t *testing.T) {
	for want, change := range map[string]func(m *Manifest){
		"":                  func(m *Manifest) { m.Files = nil },
		"format_version":    func(m *Manifest) { m.FormatVersion++ },
		"program":           func(m *Manifest) { m.Program = "another" },
		"samples_per_value": func(m *Manifest) { m.SamplesPerValue++ },
		"masks":             func(m *Manifest) { m.Masks[0].Size++ },
		"account":           func(m *Manifest) { m.Account.Kept++ },
		"identity":          func(m *Manifest) { m.Identity = "x" },
		"variant":           func(m *Manifest) { m.Variant = FullMasks },
		"codec":             func(m *Manifest) { m.Codec = "raw" },
		"samples":           func(m *Manifest) { m.Samples++ },
		"phenotypes": func(m *Manifest) {
			m.Phenotypes = append(m.Phenotypes, ingest.Phenotype{Name: "x"})
		},
		"attributes": func(m *Manifest) {
			m.Attributes = append(m.Attributes, ingest.Attribute{Name: "x"})
		},
		"samples_per_part":  func(m *Manifest) { m.SamplesPerPart++ },
		"samples_per_batch": func(m *Manifest) { m.SamplesPerBatch++ },
		"options (perturbations)": func(m *Manifest) {
			m.Options.Perturbations = map[string]any{"allow_wildtype": true}
		},
		"incidence_digest": func(m *Manifest) { m.IncidenceDigest = "x" },
		"graph_digest":     func(m *Manifest) { m.GraphDigest = "x" },
		"logical_content":  func(m *Manifest) { m.LogicalContent = "x" },
		"shards":           func(m *Manifest) { m.Cut(2) },
		"inputs":           func(m *Manifest) { m.Inputs.Graph[0].SHA256 = "x" },
	} {
		m, other := wholeManifest(t), wholeManifest(t)
		change(other)
		key, _, _ := strings.Cut(want, " ")
		if got := m.Difference(other, key); got != "" {
			t.Errorf("difference %q although %s is left out", got, want)
		}
		if got, back := m.Difference(other), other.Difference(m); got != want || back != want {
			t.Errorf("difference %q, the other way %q, want %q", got, back, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		samples, count int
		want           string
	}{
		{1, 1, "0+1"},
		{5, 1, "0+5"},
		{5, 2, "0+2 2+3"},
		{5, 5, "0+1 1+1 2+1 3+1 4+1"},
		{10, 3, "0+3 3+3 6+4"},
		{20_000_000, 3, "0+6666666 6666666+6666667 13333333+6666667"},
	} {
		m := Manifest{Samples: test.samples}
		m.Cut(test.count)
		var ranges []string
		for _, shard := range m.Shards {
			ranges = append(ranges, shardText(shard))
		}
		if got := strings.Join(ranges, " "); got != test.want {
			t.Errorf("%d samples in %d shards: %s, want %s", test.samples, test.count, got,
				test.want)
		}
	}
	m := Manifest{Samples: 5}
	m.Cut(2)
	if got := m.Shards[1].Name; got != "shard-00001-of-00002" {
		t.Errorf("the second of two shards is named %s", got)
	}
}
