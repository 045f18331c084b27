package selection

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/testrun"
	"tcbuild/store"
)

var update = flag.Bool("update", false, "write golden files anew")

// sample is a row of a test's perturbation set.
type sample struct {
	id            string
	genes         []string
	fitness       string
	medium, batch string
	kinds         string // "" in all: the set has no kinds
}

const testGenes = 12

func geneID(i int) string { return fmt.Sprintf("G%02d", i) }

// build makes an incidence dataset of samples.
func build(t *testing.T, samples []sample) *store.Dataset {
	t.Helper()
	dir := t.TempDir()
	genes, table := "id\n", []byte("sample_id\tgenes\tfitness\tmedium\tbatch")
	hasKinds := slices.ContainsFunc(samples, func(s sample) bool { return s.kinds != "" })
	if hasKinds {
		table = append(table, "\tkinds"...)
	}
	for i := range testGenes {
		genes += geneID(i) + "\n"
	}
	for _, s := range samples {
		cells := []string{s.id, strings.Join(s.genes, "|"), s.fitness, s.medium, s.batch}
		table = append(table, "\n"+strings.Join(cells, "\t")...)
		if hasKinds {
			table = append(table, "\t"+s.kinds...)
		}
	}
	for name, text := range map[string]string{
		"graph/nodes/gene.tsv": genes, "set.tsv": string(table),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	o := tcbuild.Options{
		Variant: store.Incidence,
		Graph:   filepath.Join(dir, "graph"),
		Out:     filepath.Join(dir, "dataset"),
	}
	o.File = filepath.Join(dir, "set.tsv")
	o.AllowWildtype = true
	o.AllowDuplicateIDs = true
	o.Attributes = []string{"medium", "batch"}
	o.Phenotypes = []string{"fitness"}
	if hasKinds {
		o.RemovingKinds = []string{"deletion"}
	}
	if _, err := tcbuild.Build(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	dataset, err := store.Open(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	return dataset
}

// randomSamples repeat genotypes. Those of one genotype have one medium.
func randomSamples(r *rand.Rand, count int) []sample {
	var samples []sample
	media := make(map[string]string)
	for i := range count {
		s := sample{
			id:      fmt.Sprint("s", i),
			fitness: []string{"", "0.5", "1", "-0"}[r.IntN(4)],
			batch:   []string{"", "1", "2"}[r.IntN(3)],
		}
		for gene := range testGenes {
			if r.IntN(testGenes) == 0 && len(s.genes) < 3 {
				s.genes = append(s.genes, geneID(gene))
			}
		}
		key := strings.Join(s.genes, "|")
		if _, known := media[key]; !known {
			media[key] = []string{"", "YPD", "SC"}[r.IntN(3)]
		}
		s.medium = media[key]
		samples = append(samples, s)
	}
	return samples
}

// readSelection reads a selection as docs/FORMAT.md describes it.
func readSelection(t *testing.T, path string) (samples []int64, metadata map[string]string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, err := ipc.NewFileReader(file)
	if err != nil {
		t.Fatal(err)
	}
	metadata = make(map[string]string)
	for i, key := range reader.Schema().Metadata().Keys() {
		metadata[key] = reader.Schema().Metadata().Values()[i]
	}
	for i := range reader.NumRecords() {
		record, err := reader.RecordAt(i)
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, record.Column(0).(*array.Int64).Int64Values()...)
	}
	sum := sha256.New()
	_ = binary.Write(sum, binary.LittleEndian, samples)
	found := hex.EncodeToString(sum.Sum(nil))
	if found != metadata["sha256"] || !slices.IsSorted(samples) {
		t.Errorf("%s: its numbers are unsorted, or have the digest %s, expected %s", path, found,
			metadata["sha256"])
	}
	return samples, metadata
}

// Random splits are those of the oracle, and have the properties that the help of split promises.
func TestSplit(t *testing.T) {
	r := seed.Rand(t)
	for range testrun.Cases(60, 15) {
		samples := randomSamples(r, 1+r.IntN([]int{8, 120}[r.IntN(2)])) // few have components
		dataset := build(t, samples)
		o := SplitOptions{
			Fractions: randomFractions(r),
			By:        []By{BySample, ByGenotype, ByGene, ByComponent}[r.IntN(4)],
			Seed:      r.Uint64(),
		}
		if o.By != BySample && r.IntN(3) == 0 {
			o.Wildtypes = WholeWildtypes
		}
		switch o.By {
		case BySample:
			o.Stratify = []string{"", "medium", "batch", "fitness", PerturbationCount}[r.IntN(5)]
		case ByGenotype:
			o.Stratify = []string{"", "medium", PerturbationCount}[r.IntN(3)]
		}
		pinned := make(map[int]int)
		if r.IntN(2) == 0 {
			part, text := r.IntN(len(o.Fractions)), "part\tsample_id\n"
			for i, s := range samples { // in one part, so that no two contradict each other
				if r.IntN(8) == 0 && (len(s.genes) > 0 || o.Wildtypes != WholeWildtypes) {
					pinned[i] = part
					text += o.Fractions[part].Part + "\t" + s.id + "\n"
				}
			}
			if len(pinned) > 0 {
				o.Pin = filepath.Join(t.TempDir(), "pins.tsv")
				if err := os.WriteFile(o.Pin, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := slowSplit(samples, o, pinned)
		dir := t.TempDir()
		report, err := Split(context.Background(), dataset, o, dir)
		if empty := slowEmpty(samples, want, o); empty != "" {
			if fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), empty) {
				t.Fatalf("%+v: got %v, want an error for an empty part", o, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		got := make([]int, len(samples))
		seen := 0
		files, _ := filepath.Glob(filepath.Join(dir, "*.arrow"))
		for _, path := range files {
			numbers, metadata := readSelection(t, path)
			name := strings.TrimSuffix(filepath.Base(path), ".arrow")
			k := slices.IndexFunc(o.Fractions, func(f Fraction) bool { return f.Part == name })
			for _, number := range numbers {
				got[number] = k
			}
			seen += len(numbers)
			reported := report.Unplaced
			if k >= 0 {
				reported = report.Parts[k].Samples
			}
			if reported != len(numbers) {
				t.Errorf("%s has %d samples, the report is %+v", name, len(numbers), report)
			}
			for key, value := range map[string]string{
				"part":            name,
				"by":              string(o.By),
				"stratify":        o.Stratify,
				"seed":            fmt.Sprint(o.Seed),
				"fractions":       FormatFractions(o.Fractions),
				"logical_content": dataset.Manifest.LogicalContent,
			} {
				if metadata[key] != value {
					t.Errorf("%s has %s %q in its metadata, want %q", name, key, metadata[key],
						value)
				}
			}
		}
		if seen != len(samples) || !slices.Equal(got, want) {
			t.Fatalf("%+v: got %d samples in parts %v, want %v", o, seen, got, want)
		}
		checkRules(t, samples, got, o, pinned)
	}
}

// checkRules checks what a user relies on, whatever the oracle says.
func checkRules(t *testing.T, samples []sample, parts []int, o SplitOptions, pinned map[int]int) {
	t.Helper()
	genotypes, genes := make(map[string]int), make(map[string]int)
	for i, s := range samples {
		if part, ok := pinned[i]; ok && parts[i] != part {
			t.Errorf("sample %d is pinned to %d, and is in %d", i, part, parts[i])
		}
		key := strings.Join(s.genes, "|")
		together := o.By == ByGenotype && (key != "" || o.Wildtypes == WholeWildtypes)
		if other, known := genotypes[key]; together && known && other != parts[i] {
			t.Errorf("genotype %s is in the parts %d and %d", key, other, parts[i])
		}
		genotypes[key] = parts[i]
		for _, gene := range s.genes {
			if o.By != ByGene && o.By != ByComponent || parts[i] == none {
				continue
			}
			if other, known := genes[gene]; known && other != parts[i] {
				t.Errorf("gene %s is deleted in the parts %d and %d", gene, other, parts[i])
			}
			genes[gene] = parts[i]
		}
		if o.By != ByGene && parts[i] == none {
			t.Errorf("sample %d is in no part", i)
		}
	}
}

func TestWhere(t *testing.T) {
	samples := randomSamples(rand.New(rand.NewPCG(1, 2)), 5000) // several record batches
	dataset := build(t, samples)
	path := filepath.Join(t.TempDir(), "x.arrow")
	count, err := Where(context.Background(), dataset,
		`fitness == 1 and medium != "SC" and not deletes("G03")`, path)
	if err != nil {
		t.Fatal(err)
	}
	var want []int64
	for i, s := range samples {
		if s.fitness == "1" && s.medium == "YPD" && !slices.Contains(s.genes, "G03") {
			want = append(want, int64(i))
		}
	}
	got, metadata := readSelection(t, path)
	if !slices.Equal(got, want) || count != len(want) || len(want) == 0 {
		t.Errorf("got %v, want %v", got, want)
	}
	if metadata["rule"] != "where" ||
		metadata["where"] != `fitness == 1 and medium != "SC" and not deletes("G03")` ||
		metadata["dataset_samples"] != "5000" {
		t.Errorf("got the metadata %v", metadata)
	}
}

// golden are samples of which two genotypes repeat.
var golden = []sample{
	{"a", []string{"G00"}, "0.5", "YPD", "1", ""}, {"b", []string{
		"G00", "G01",
	}, "0.25", "SC", "1", ""}, {"c", []string{
		"G00",
	}, "0.5", "YPD", "2", ""},
	{"d", []string{"G02"}, "", "YPD", "1", ""}, {"e", []string{
		"G03", "G04",
	}, "1", "", "1", ""}, {"f", nil, "1", "YPD", "", ""},
	{"g", []string{"G05"}, "0.75", "SC", "2", ""}, {"h", []string{
		"G02",
	}, "0.5", "SC", "2", ""}, {"i", []string{
		"G06", "G07",
	}, "2", "YPD", "2", ""},
}

// The bytes of selections are those of testdata/golden.txt: the same input makes them on every
// machine. `go test ./internal/selection -run Golden -update` writes it anew.
func TestGolden(t *testing.T) {
	dataset := build(t, golden)
	dir := t.TempDir()
	_, err := Where(context.Background(), dataset, "fitness >= 0.5",
		filepath.Join(dir, "where.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []SplitOptions{
		{Fractions: half, By: BySample, Seed: 1, Stratify: "medium"}, {
			Fractions: half,
			By:        ByGenotype,
			Seed:      2,
		}, {Fractions: half, By: ByGene, Seed: 3},
	} {
		out := filepath.Join(dir, string(o.By))
		if err := os.Mkdir(out, 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := Split(context.Background(), dataset, o, out); err != nil {
			t.Fatal(err)
		}
	}
	var text strings.Builder
	for _, pattern := range []string{"*.arrow", "*/*.arrow"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range files {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, _ := filepath.Rel(dir, path)
			numbers, metadata := readSelection(t, path)
			fmt.Fprintf(&text, "%s: %d bytes, sha256 %x\nsamples %v\n", name, len(content),
				sha256.Sum256(content), numbers)
			for _, key := range slices.Sorted(maps.Keys(metadata)) {
				fmt.Fprintf(&text, "  %s: %s\n", key, metadata[key])
			}
		}
	}
	if *update {
		err := errors.Join(os.MkdirAll("testdata", 0o777),
			os.WriteFile("testdata/golden.txt", []byte(text.String()), 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/golden.txt")
	if err != nil || string(want) != text.String() {
		t.Errorf("got (%v)\n%s", err, text.String())
	}
}

// A gene that one part overexpresses is perturbed there, although it stays in the graph.
func TestSplitsKnowGenesThatAreNotDeleted(t *testing.T) {
	r := seed.Rand(t)
	for range testrun.Cases(20, 5) {
		samples := []sample{{id: "wildtype"}}
		for i := range 80 {
			s := sample{id: fmt.Sprint("s", i)}
			for gene := range testGenes {
				if r.IntN(testGenes) == 0 || i == gene { // so that every gene is perturbed alone
					if s.genes = append(s.genes, geneID(gene)); len(s.genes) > 1 {
						s.kinds += "|"
					}
					s.kinds += []string{"deletion", "overexpression"}[r.IntN(2)]
				}
			}
			samples = append(samples, s)
		}
		dataset := build(t, samples)
		fractions := []Fraction{{"train", whole / 2}, {"test", whole / 2}}
		for _, o := range []SplitOptions{
			{By: ByGene, Straddling: SeparateStraddling},
			{By: ByGene},
			{By: ByGenotype},
		} {
			o.Fractions, o.Seed = fractions, r.Uint64()
			parts, report := split(t, dataset, o)
			partOf := make(map[string]string) // of genes, or genotypes
			genotypes := make(map[string]map[string]bool)
			for i, part := range parts {
				genotype := strings.Join(samples[i].genes, "|")
				if genotypes[part] == nil {
					genotypes[part] = make(map[string]bool)
				}
				genotypes[part][genotype] = true
				isPlaced := part == "train" || part == "test"
				if o.By == ByGene && !isPlaced || genotype == "" {
					continue
				}
				units := []string{genotype}
				if o.By == ByGene {
					units = samples[i].genes
				}
				for _, unit := range units {
					if other, known := partOf[unit]; known && other != part {
						t.Errorf("%+v: %q is in %s and in %s", o, unit, other, part)
					}
					partOf[unit] = part
				}
			}
			for _, part := range report.Parts {
				if part.Genotypes != len(genotypes[part.Name]) {
					t.Errorf("%+v: %s has %d genotypes, the report says %d", o, part.Name,
						len(genotypes[part.Name]), part.Genotypes)
				}
			}
		}
	}
}
