package synth

import (
	"slices"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/internal/testing/sets"
)

func TestNamed(t *testing.T) {
	genes := Graph(Tiny, 3).Genes
	source, err := Named("synth:tiny:50:3", genes)
	if err != nil {
		t.Fatal(err)
	}
	want := collect(t, Samples(Tiny, 3, 50))
	if got := collect(t, source); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got genotypes %v, want %v", got, want)
	}
	if inputs := source.Inputs(); len(inputs) != 1 || inputs[0].Name != "synth:tiny:50:3" {
		t.Errorf("got inputs %v, %v", inputs, err)
	}
	for _, name := range []string{"synth:", "synth:tiny:50", "synth:huge:50:1", "synth:tiny:0:1", "synth:tiny:x:1", "synth:tiny:50:-1", "synth:yeast:50:1",
		"synth:tiny:17179869185:1", "synth:tiny:9223372036854775807:1", "synth:tiny:92233720368547758070:1"} {
		if _, err := Named(name, genes); fault.KindOf(err) != fault.Usage {
			t.Errorf("%s: got error %v, want a fault.Usage", name, err)
		}
	}
}

func collect(t *testing.T, source ingest.SampleSource) (genotypes [][]uint32) {
	t.Helper()
	_, err := sets.Read(source, func(samples *ingest.Samples) error {
		for i := range samples.Len() {
			genotypes = append(genotypes, samples.Genes(i))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return genotypes
}
