package samples

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/sets"
)

// A name means the same files and samples wherever it is read.
func TestParse(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	genes := synth.Graph(synth.Tiny, 1).Genes
	list := write("genes.txt", genes.IDs[0]+"\n"+genes.IDs[1]+"\n"+genes.IDs[2]+"\n")
	table := write("screen.tsv", "genes\tfitness\n"+genes.IDs[4]+"\t0.5\n")
	for _, test := range []struct {
		name, recipe string
		files        []string
		samples      int
	}{
		{table, "", []string{table}, 1},
		{"synth:tiny:7:1", "synth:tiny:7:1", nil, 7},
		{"combinations:" + list + ":2", "combinations:" + list + ":2", []string{list}, 3},
	} {
		spec := Named(test.name)
		if (spec.Form() == ComputedForm) != (test.recipe != "") ||
			!slices.Equal(spec.Files(), test.files) {
			t.Errorf("%s has the form %s and the files %q", test.name, spec.Form(), spec.Files())
		}
		source, err := openSet(test.name, genes, Spec{})
		if err != nil {
			t.Fatal(err)
		}
		counts, err := sets.ReadAll(source)
		if err := errors.Join(err, source.Close()); err != nil || counts.Kept != test.samples {
			t.Errorf("%s has %d samples, error %v, want %d", test.name, counts.Kept, err,
				test.samples)
		}
		columns := Spec{Phenotypes: []string{"fitness"}}
		columns.File = test.name
		err = conf.Check(&columns)
		if computed := test.recipe != ""; computed != errors.Is(err, fault.Usage) {
			t.Errorf("%s with --phenotypes: %v", test.name, err)
		}
	}
}
