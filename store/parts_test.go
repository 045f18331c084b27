package store_test

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"

	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/storetest"
	"tcbuild/internal/testing/testrun"
	"tcbuild/store"
)

// However many processes digest the samples, each the files that begin in its own, together they
// give the logical content.
func TestDigestsOfParts(t *testing.T) {
	columns := ingest.Columns{Phenotypes: make([]ingest.Phenotype, 700)} // a file has 2,048 samples
	for i := range columns.Phenotypes {
		columns.Phenotypes[i].Name = fmt.Sprint("p", i)
	}
	const count = 2*2048 + 100
	samples := ingest.NewSamples(0, columns, count)
	values := make([]float64, len(columns.Phenotypes))
	for i := range count {
		values[i%700] = float64(i)
		samples.Append(fmt.Append(nil, i), []uint32{uint32(i % 60)}, values, nil)
	}
	dir := filepath.Join(t.TempDir(), "dataset")
	storetest.Dataset{
		Variant:  store.Variant(encode.Indices),
		Codec:    "raw",
		Rule:     incidence.RuleAll,
		Graph:    synth.Graph(synth.Tiny, 1),
		Columns:  columns,
		Samples:  samples,
		PerValue: 64,
		Shards:   2,
	}.Write(t, dir)
	dataset, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, random := dataset.Manifest, seed.Rand(t)
	for range testrun.Cases(20, 3) {
		var files [][sha256.Size]byte
		for first := 0; first < count; {
			end := min(first+1+random.IntN(3000), count)
			from, to := m.Parts(first, end)
			for part := from; part < to; part++ {
				sum, err := dataset.DigestPart(t.Context(), part)
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, sum)
			}
			first = end
		}
		sum := store.LogicalContent(m.StructureDigest, incidence.RuleAll, columns, files)
		if sum != m.LogicalContent || len(files) != 3 {
			t.Fatalf("%d files: got %s, want %s of 3", len(files), sum, m.LogicalContent)
		}
	}
}
