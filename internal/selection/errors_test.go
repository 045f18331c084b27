package selection

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/internal/testing/check"
)

var half = []Fraction{{"train", 5e8}, {"test", 5e8}}

// splitError splits golden samples, followed by others, with a table of pins.
func splitError(t *testing.T, o SplitOptions, pins string, more ...sample) error {
	t.Helper()
	if o.Fractions == nil {
		o.Fractions = half
	}
	if pins != "" {
		o.Pin = filepath.Join(t.TempDir(), "pins.tsv")
		if err := os.WriteFile(o.Pin, []byte(pins), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	_, err := Split(context.Background(),
		build(t, append(golden[:len(golden):len(golden)], more...)), o, dir)
	if files, _ := os.ReadDir(dir); err != nil && len(files) > 0 {
		t.Errorf("%v: it left %v", err, files)
	}
	return err
}

func wantError(t *testing.T, err error, kind fault.Kind, message, hint string) {
	t.Helper()
	check.Fault(t, err, kind, message)
	if got := fault.HintOf(err); !strings.Contains(got, hint) {
		t.Errorf("%v\nhint %s\nwant %s", err, got, hint)
	}
}

func TestUnknownStratum(t *testing.T) {
	err := splitError(t, SplitOptions{By: BySample, Stratify: "medum"}, "")
	wantError(t, err, fault.Usage,
		`read --stratify: found "medum", expected one of medium, batch, fitness, `+
			`perturbation-count`,
		"did you mean medium?")
}

func TestStrataOfGenes(t *testing.T) {
	err := splitError(t, SplitOptions{By: ByGene, Stratify: PerturbationCount}, "")
	wantError(t, err, fault.Usage,
		`read --stratify: found "perturbation-count" with --by gene, which cannot be stratified`,
		"split by genotype")
}

func TestComponentErrors(t *testing.T) {
	err := splitError(t, SplitOptions{By: ByComponent, Stratify: "medium"}, "")
	wantError(t, err, fault.Usage,
		`read --stratify: found "medium" with --by component, which cannot be stratified`,
		"split by genotype")
	err = splitError(t, SplitOptions{By: ByComponent, HoldOut: []string{"medium=SC"}}, "")
	wantError(t, err, fault.Usage,
		`read --hold-out: found "medium=SC" with --by component, whose parts share no gene`,
		"omit --hold-out")
	err = splitError(t, SplitOptions{By: ByComponent}, "sample_id\tpart\na\ttrain\nb\ttest\n")
	wantError(t, err, fault.Input,
		"found part test, but a sample of its component is pinned in train", "")
	one := sample{
		id: "one", genes: []string{"G00", "G01", "G02", "G03", "G04", "G05", "G06", "G07"},
	}
	err = splitError(t, SplitOptions{
		By:        ByComponent,
		Wildtypes: WholeWildtypes,
		Fractions: []Fraction{{"a", 4e8}, {"b", 4e8}, {"c", 2e8}},
	},
		"", one)
	wantError(t, err, fault.Input,
		"part c gets none of 10 samples (0 of 2 components), expected at least one",
		"split by gene")
}

func TestTooManyStrata(t *testing.T) {
	var more []sample
	for i := range maxStrata {
		more = append(more, sample{id: fmt.Sprint("m", i), fitness: fmt.Sprint(i + 10)})
	}
	err := splitError(t, SplitOptions{By: BySample, Stratify: "fitness"}, "", more...)
	wantError(t, err, fault.Usage, `read --stratify: "fitness" has more than 1000 values`,
		"name an attribute with few values")
}

func TestStratumWithinGenotype(t *testing.T) {
	err := splitError(t, SplitOptions{By: ByGenotype, Stratify: "batch"}, "")
	wantError(t, err, fault.Usage,
		`read --stratify: samples 0 and 2 have one genotype and differ in "batch"`,
		"split by sample")
}

// A wild type before them is not taken for the first of two samples of one genotype.
func TestStratumWithinGenotypeAfterWildtype(t *testing.T) {
	samples := []sample{
		{id: "wild", medium: "YPD", batch: "1"},
		{id: "a", genes: []string{"G01"}, medium: "YPD", batch: "1"},
		{id: "b", genes: []string{"G01"}, medium: "YPD", batch: "2"},
	}
	o := SplitOptions{By: ByGenotype, Stratify: "batch", Fractions: half}
	_, err := Split(t.Context(), build(t, samples), o, t.TempDir())
	wantError(t, err, fault.Usage,
		`read --stratify: samples 1 and 2 have one genotype and differ in "batch"`,
		"split by sample")
}

func TestUnknownPin(t *testing.T) {
	err := splitError(t, SplitOptions{By: BySample}, "sample_id\tpart\na\ttrain\nzz\ttest\n")
	wantError(t, err, fault.Input, `pins.tsv:3: found sample "zz", expected an id of dataset`,
		"inspect DATASET --samples")
}

func TestPinOfUnknownPart(t *testing.T) {
	err := splitError(t, SplitOptions{By: BySample}, "sample_id\tpart\na\ttrian\n")
	wantError(t, err, fault.Input, `pins.tsv:2: found part "trian", expected one of --fractions`,
		"did you mean train?")
	err = splitError(t, SplitOptions{By: BySample}, "sample_id\tpart\na\t\n")
	wantError(t, err, fault.Input, `pins.tsv:2: found part "", expected one of --fractions`,
		"the parts are train, test")
}

func TestPinnedTwice(t *testing.T) {
	err := splitError(t, SplitOptions{By: BySample}, "sample_id\tpart\na\ttrain\na\ttrain\n")
	wantError(t, err, fault.Input, `pins.tsv:3: sample "a" is also in `, "name each sample once")
}

func TestPinOfSharedID(t *testing.T) {
	err := splitError(t, SplitOptions{By: BySample}, "sample_id\tpart\na\ttrain\n",
		sample{id: "a", genes: []string{"G09"}})
	wantError(t, err, fault.Input,
		`pins.tsv:2: found sample "a", which is the id of the samples 0 and 9, expected one`,
		"unique ids")
}

func TestContradictingPins(t *testing.T) {
	err := splitError(t, SplitOptions{By: ByGenotype}, "sample_id\tpart\na\ttrain\nc\ttest\n")
	wantError(t, err, fault.Input,
		`pins.tsv:3: found part test, but a sample of its genotype is pinned in train`,
		"split by sample")
	err = splitError(t, SplitOptions{By: ByGene}, "sample_id\tpart\na\ttrain\nb\ttest\n")
	wantError(t, err, fault.Input,
		`pins.tsv:3: found part test, but a sample that perturbs one of its genes is pinned in `+
			`train`,
		"split by sample")
}

func TestPinOfWildtypeByGene(t *testing.T) {
	whole := SplitOptions{By: ByGene, Wildtypes: WholeWildtypes}
	err := splitError(t, whole, "sample_id\tpart\nf\ttest\n")
	wantError(t, err, fault.Input, `pins.tsv:2: found part test for sample "f", `+
		`but --wildtypes whole puts wild types into train`, "omit --wildtypes")
}

func TestPinsWithoutRows(t *testing.T) {
	err := splitError(t, SplitOptions{By: BySample}, "sample_id\tpart\n")
	wantError(t, err, fault.Input, "pins.tsv: found no", "")
}

func TestPinsWithoutColumns(t *testing.T) {
	err := splitError(t, SplitOptions{By: BySample}, "id\tpart\na\ttrain\n")
	wantError(t, err, fault.Input, "pins.tsv: found columns id, part, expected sample_id and part",
		"name them")
}

func TestEmptyPart(t *testing.T) {
	err := splitError(t,
		SplitOptions{By: BySample, Fractions: []Fraction{{"train", 99e7}, {"test", 1e7}}}, "")
	wantError(t, err, fault.Input,
		"part test gets none of 9 samples (0 of 9 samples), expected at least one",
		"larger fraction")
}

func TestEmptySelection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.arrow")
	_, err := Where(context.Background(), build(t, golden), "fitness > 7", path)
	wantError(t, err, fault.Input,
		`--where "fitness > 7" matches none of 9 samples, expected at least one`, "missing value")
	if _, err := os.Stat(path); err == nil {
		t.Error("it left a file")
	}
}

func TestDamagedSamples(t *testing.T) {
	dataset := build(t, golden)
	path := filepath.Join(dataset.Dir, "samples/part-00000.arrow")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = Where(context.Background(), dataset, "fitness > 0",
		filepath.Join(t.TempDir(), "x.arrow"))
	wantError(t, err, fault.Damaged, "part-00000.arrow", "build the dataset again")
	_, err = Split(context.Background(), dataset, SplitOptions{Fractions: half, By: BySample},
		t.TempDir())
	wantError(t, err, fault.Damaged, "part-00000.arrow", "build the dataset again")
}

func TestDamagedGenes(t *testing.T) {
	dataset := build(t, golden)
	if err := os.Remove(filepath.Join(dataset.Dir, "graph/nodes/gene.arrow")); err != nil {
		t.Fatal(err)
	}
	_, err := Where(context.Background(), dataset, "fitness > 0",
		filepath.Join(t.TempDir(), "x.arrow"))
	wantError(t, err, fault.Damaged, "gene.arrow: it is missing", "build the dataset again")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("enough")
	cancel(stop)
	_, err := Split(ctx, build(t, golden), SplitOptions{Fractions: half, By: ByGene}, t.TempDir())
	if !errors.Is(err, stop) {
		t.Errorf("got %v, want the cause", err)
	}
}
