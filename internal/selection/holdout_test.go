package selection

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/testrun"
	"tcbuild/store"
)

// readParts reads all selections of a folder: the name of the part of each sample.
func readParts(t *testing.T, dir string, samples int) []string {
	t.Helper()
	parts := make([]string, samples)
	files, _ := filepath.Glob(filepath.Join(dir, "*.arrow"))
	for _, path := range files {
		numbers, _ := readSelection(t, path)
		for _, number := range numbers {
			if parts[number] != "" {
				t.Errorf("sample %d is in %s and in %s", number, parts[number], path)
			}
			parts[number] = strings.TrimSuffix(filepath.Base(path), ".arrow")
		}
	}
	return parts
}

func split(
	t *testing.T, dataset *store.Dataset, o SplitOptions,
) (parts []string, report *SplitReport) {
	t.Helper()
	dir := t.TempDir()
	report, err := Split(context.Background(), dataset, o, dir)
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	parts = readParts(t, dir, dataset.Manifest.Samples)
	checkReport(t, parts, report)
	return parts, report
}

func checkReport(t *testing.T, parts []string, report *SplitReport) {
	t.Helper()
	all := report.Unplaced
	for _, part := range report.Parts {
		n := 0
		for _, name := range parts {
			if name == part.Name {
				n++
			}
		}
		if all += n; n != part.Samples {
			t.Errorf("%s has %d samples, the report says %d", part.Name, n, part.Samples)
		}
	}
	if all != len(parts) {
		t.Errorf("the report has %d samples, expected %d", all, len(parts))
	}
}

func genesFile(t *testing.T, genes []string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "genes.txt")
	if err := os.WriteFile(path, []byte(strings.Join(genes, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Wild types are drawn by the fractions, apart from other samples; whole keeps them together.
func TestWildtypes(t *testing.T) {
	r := seed.Rand(t)
	var samples []sample
	for i := range 160 {
		s := sample{id: fmt.Sprint("s", i), medium: []string{"YPD", "SC"}[i%2]}
		if i%4 > 1 {
			s.genes = []string{geneID(r.IntN(testGenes))}
		}
		samples = append(samples, s)
	}
	dataset := build(t, samples)
	separate := SeparateStraddling
	for _, c := range []struct {
		o    SplitOptions
		want []int // wild types of train and test
	}{
		{SplitOptions{By: ByGenotype}, []int{60, 20}},
		{SplitOptions{By: ByGene}, []int{60, 20}},
		{SplitOptions{By: ByGene, Straddling: separate}, []int{60, 20}},
		{SplitOptions{By: ByGene, Wildtypes: WholeWildtypes}, []int{80, 0}},
		{SplitOptions{By: ByGene, Straddling: separate, Wildtypes: WholeWildtypes}, []int{80, 0}},
	} {
		c.o.Fractions, c.o.Seed = []Fraction{{"train", 75e7}, {"test", 25e7}}, r.Uint64()
		parts, report := split(t, dataset, c.o)
		got := []int{0, 0}
		for i, s := range samples {
			if len(s.genes) == 0 {
				got[slices.Index([]string{"train", "test"}, parts[i])]++
			}
		}
		reported := []int{report.Parts[0].Wildtypes, report.Parts[1].Wildtypes}
		if !slices.Equal(got, c.want) || !slices.Equal(reported, got) {
			t.Errorf("%+v: got %v wild types, want %v; the report is %+v",
				c.o, got, c.want, report.Parts)
		}
	}
	o := SplitOptions{By: ByGenotype, Wildtypes: WholeWildtypes, Fractions: half, Seed: r.Uint64()}
	whole, _ := split(t, dataset, o)
	for i, s := range samples {
		if len(s.genes) == 0 && whole[i] != whole[0] {
			t.Fatalf("wild types are in %s and %s, want one part", whole[0], whole[i])
		}
	}
	media := samples
	for i := range media {
		if len(media[i].genes) > 0 {
			media[i].medium = "YPD"
		}
	}
	o = SplitOptions{By: ByGenotype, Stratify: "medium", Seed: r.Uint64()}
	o.Fractions = []Fraction{{"train", 75e7}, {"test", 25e7}}
	parts, _ := split(t, build(t, media), o)
	counts := make(map[string]int)
	for i, s := range media {
		if len(s.genes) == 0 {
			counts[s.medium+" "+parts[i]]++
		}
	}
	if counts["YPD test"] != 10 || counts["SC test"] != 10 {
		t.Errorf("wild types of two media: got %v, want 10 of each in test", counts)
	}
}

// All samples with one value of a column are in one part; missing values are one more value.
func TestByColumn(t *testing.T) {
	r := seed.Rand(t)
	for range testrun.Cases(20, 5) {
		samples := randomSamples(r, 100)
		parts, report := split(t, build(t, samples),
			SplitOptions{Fractions: half, By: "medium", Seed: r.Uint64()})
		partOf := make(map[string]string)
		for i, s := range samples {
			if other, known := partOf[s.medium]; known && other != parts[i] {
				t.Fatalf("medium %q is in %s and %s", s.medium, other, parts[i])
			}
			partOf[s.medium] = parts[i]
		}
		if report.Parts[0].Units+report.Parts[1].Units != len(partOf) {
			t.Errorf("got %+v, want %d values", report, len(partOf))
		}
	}
}

// A rule's samples are in its part, and all others are split by the fractions. A rule without
// samples is an error.
func TestHoldOut(t *testing.T) {
	r := seed.Rand(t)
	for range testrun.Cases(30, 8) {
		samples := randomSamples(r, 300)
		unseen := []string{geneID(r.IntN(testGenes)), geneID(r.IntN(testGenes))}
		deletes := func(s sample) bool {
			return slices.ContainsFunc(unseen,
				func(gene string) bool { return slices.Contains(s.genes, gene) })
		}
		file := genesFile(t, unseen)
		for _, c := range []struct {
			holdOut []string
			want    func(sample) string
		}{
			{[]string{"medium=YPD"},
				func(s sample) string { return map[bool]string{true: "test"}[s.medium == "YPD"] }},
			{[]string{"new:batch=1", "medium=YPD,batch=2"}, func(s sample) string {
				return map[string]string{"1" + s.medium: "new", "2YPD": "test"}[s.batch+s.medium]
			}},
			{[]string{"gene=" + file},
				func(s sample) string { return map[bool]string{true: "test"}[deletes(s)] }},
			{[]string{"val:medium=SC,gene=" + file}, func(s sample) string {
				return map[bool]string{true: "val"}[s.medium == "SC" && deletes(s)]
			}},
			{[]string{"fitness=0"},
				func(s sample) string { return map[bool]string{true: "test"}[s.fitness == "-0"] }},
		} {
			by := []By{BySample, ByGenotype}[r.IntN(2)]
			o := SplitOptions{
				Fractions: []Fraction{{"train", 7e8}, {"val", 3e8}},
				By:        by, HoldOut: c.holdOut, Seed: r.Uint64(),
			}
			heldOut := make(map[string]bool)
			for _, s := range samples {
				heldOut[c.want(s)] = true
			}
			if delete(heldOut, ""); len(heldOut) < len(c.holdOut) {
				_, err := Split(context.Background(), build(t, samples), o, t.TempDir())
				if err == nil || !strings.Contains(err.Error(), "matches none of the samples") {
					t.Fatalf("%v: got %v", c.holdOut, err)
				}
				continue
			}
			parts, _ := split(t, build(t, samples), o)
			genotypes := make(map[string]string)
			for i, s := range samples {
				want := c.want(s)
				allowed := []string{want}
				if want == "" {
					allowed = []string{"train", "val"}
				}
				if !slices.Contains(allowed, parts[i]) {
					t.Fatalf("%v by %s: sample %+v is in %s, want %q", c.holdOut, by, s, parts[i],
						want)
				}
				key := strings.Join(s.genes, "|")
				other, known := genotypes[key]
				isTogether := want == "" && by == ByGenotype
				if isTogether && known && other != parts[i] {
					t.Errorf("genotype %s is in %s and %s", key, other, parts[i])
				}
				if want == "" && key != "" {
					genotypes[key] = parts[i]
				}
			}
		}
	}
}

// By gene, a rule with a further condition takes samples out before a rule without one holds out
// genes, in whatever order they are given.
func TestHoldOutInAnyOrder(t *testing.T) {
	samples := []sample{
		{id: "a", genes: []string{"G01"}, medium: "YPD"},
		{id: "b", genes: []string{"G01"}},
		{id: "c", genes: []string{"G02"}},
	}
	file := genesFile(t, []string{"G01"})
	rules := []string{"gene=" + file, "val:medium=YPD,gene=" + file}
	for range 2 {
		parts, _ := split(t, build(t, samples), SplitOptions{By: ByGene, HoldOut: rules})
		if want := []string{"val", "test", "train"}; !slices.Equal(parts, want) {
			t.Errorf("%v: got %v, want %v", rules, parts, want)
		}
		slices.Reverse(rules)
	}
}

func TestHoldOutErrors(t *testing.T) {
	file := genesFile(t, []string{"G01"})
	for _, c := range []struct {
		o             SplitOptions
		message, hint string
	}{
		{SplitOptions{HoldOut: []string{"medium"}},
			`read --hold-out: found "medium", expected COLUMN=VALUE`, "--hold-out cell_type=K562"},
		{SplitOptions{HoldOut: []string{"medum=YPD"}},
			`read --hold-out: found "medum", expected one of medium, batch, fitness, gene`,
			"did you mean medium?"},
		{SplitOptions{HoldOut: []string{"medium=YPDD"}},
			`read --hold-out: "medium=YPDD" matches none of the samples`, "did you mean YPD?"},
		{SplitOptions{HoldOut: []string{"fitness=high"}},
			`column "fitness" has numbers, found "high"`, ""},
		{SplitOptions{HoldOut: []string{"medium=YPD", "val:medium=YPD"}},
			`is held out by "test:medium=YPD" and by "val:medium=YPD"`, "in one part"},
		{SplitOptions{Straddling: SeparateStraddling},
			"read --straddling: found parts with --by sample", "split by gene"},
		{
			SplitOptions{Wildtypes: WholeWildtypes},
			"read --wildtypes: found whole with --by sample", "split by genotype, gene or " +
				"component",
		},
		{SplitOptions{By: "medum"},
			`read --by: found "medum", expected one of medium, batch, fitness, sample, genotype, ` +
				`gene`,
			"did you mean medium?"},
		{SplitOptions{HoldOut: []string{"gene=" + file + ",gene=" + file}}, "found gene= twice",
			"name one file"},
		{SplitOptions{By: ByGene, HoldOut: []string{"train:gene=" + file, "gene=" + file}},
			"gene G01 is held out in train and in test", "in one part"},
	} {
		if c.o.By == "" {
			c.o.By = BySample
		}
		err := splitError(t, c.o, "")
		wantError(t, err, fault.Usage, c.message, c.hint)
	}
	err := splitError(t, SplitOptions{
		By: BySample, HoldOut: []string{"gene=" + genesFile(t, []string{"G01", "g02"})},
	},
		"")
	wantError(t, err, fault.Input, `genes.txt:2: gene "g02" is not in the graph`,
		"Upper and lower case differ")
	err = splitError(t, SplitOptions{By: BySample, HoldOut: []string{"medium=YPD"}},
		"sample_id\tpart\na\ttrain\n")
	wantError(t, err, fault.Usage, `for sample "a", but --hold-out puts it into test`,
		"pin it in that part")
}

// What parts have in common with train is what a slow count finds.
func TestSharedGenesAndGenotypes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	samples := randomSamples(r, 150)
	parts, report := split(t, build(t, samples),
		SplitOptions{Fractions: half, By: BySample, Seed: 5})
	genes := map[string]map[string]bool{"train": {}, "test": {}}
	genotypes := map[string]map[string]bool{"train": {}, "test": {}}
	for i, s := range samples {
		genotypes[parts[i]][strings.Join(s.genes, "|")] = true
		for _, gene := range s.genes {
			genes[parts[i]][gene] = true
		}
	}
	shared := func(of map[string]map[string]bool) (n int) {
		for key := range of["test"] {
			if of["train"][key] {
				n++
			}
		}
		return n
	}
	wildtypes := 0
	for i, s := range samples {
		if parts[i] == "test" && len(s.genes) == 0 {
			wildtypes++
		}
	}
	got, want := report.Parts[1], Part{
		Name: "test", Samples: 75, Units: 75, Wildtypes: wildtypes,
		Genotypes: len(genotypes["test"]), SharedGenotypes: shared(genotypes),
		Genes: len(genes["test"]), SharedGenes: shared(genes),
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, s := range report.Seen {
		n := 0
		for i, sample := range samples {
			seen := 0
			for _, gene := range sample.genes {
				if genes["train"][gene] {
					seen++
				}
			}
			if parts[i] == s.Part && len(sample.genes) == s.Perturbed && seen == s.Seen {
				n++
			}
		}
		if n != s.Count {
			t.Errorf("got %+v, want %d", s, n)
		}
	}
}
