package samples

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// sampleList is a source in memory.
type sampleList struct {
	*ingest.Samples
	columns ingest.Columns
}

func (l sampleList) Columns() ingest.Columns { return l.columns }

func (l sampleList) Inputs() []ingest.Input { return nil }

func (l sampleList) Unchanged() error { return nil }

func (l sampleList) Close() error { return nil }

func (l sampleList) Place(row int64) (string, error) { return "", nil }

func (l sampleList) Batches(
	_ context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		if account.Kept += l.Len(); l.Len() > 0 {
			yield(l.Samples, nil)
		}
	}
}

// randomSamples makes samples of 0 to 4 genes, two phenotypes and two attributes, some missing.
func randomSamples(genes *ingest.Nodes, n int) sampleList {
	random := rand.New(rand.NewPCG(5, uint64(n)))
	columns := ingest.Columns{
		Phenotypes: ingest.NamedPhenotypes("fitness", "τ score"),
		Attributes: []ingest.Attribute{
			{Name: "medium", Type: ingest.TextAttribute},
			{Name: "batch", Type: ingest.NumberAttribute},
		},
	}
	s := ingest.NewSamples(0, columns, n)
	for i := range n {
		var genotype []uint32
		for range random.IntN(5) {
			genotype = append(genotype, uint32(random.IntN(genes.Len())))
		}
		slices.Sort(genotype)
		values := []float64{random.NormFloat64(), float64(random.IntN(1000))}
		if random.IntN(5) == 0 {
			values[random.IntN(2)] = math.NaN()
		}
		s.Append(fmt.Appendf(nil, "sample %d", i), slices.Compact(genotype), values,
			[]ingest.Value{
				{Text: [][]byte{nil, []byte("YPD"), []byte("SC 30")}[(i+1)%3]},
				{Number: []float64{1, 2.5, math.NaN()}[i%3]},
			})
	}
	return sampleList{s, columns}
}

// TestWrite writes samples that fill no, one and several batches, and reads them back.
func TestWrite(t *testing.T) {
	for _, n := range []int{
		0, 1, ingest.BatchSamples - 1, ingest.BatchSamples, ingest.BatchSamples + 1,
		3*ingest.BatchSamples + 17,
	} {
		samples := randomSamples(threeGenes, n)
		want, _, _ := showSamples(samples)
		path := filepath.Join(t.TempDir(), "p.arrow")
		if err := Write(t.Context(), path, samples, threeGenes); err != nil {
			t.Fatal(err)
		}
		p, err := openFile(path, threeGenes, Spec{AllowWildtype: true})
		if err != nil {
			t.Fatal(err)
		}
		got, counts, err := showSamples(p)
		if err != nil {
			t.Fatal(err)
		}
		columns := p.Columns()
		columns.Genes, columns.ID = nil, ""
		isSame := slices.Equal(got, want) && strings.HasPrefix(counts, fmt.Sprint(n, " kept"))
		if !isSame || n > 0 && !reflect.DeepEqual(columns, samples.columns) {
			t.Errorf("%d samples: read %d others back, with columns %+v", n, len(got), p.Columns())
		}
	}
}

func TestWriteError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "p.arrow")
	err := Write(t.Context(), path, randomSamples(threeGenes, 1), threeGenes)
	if fault.KindOf(err) != fault.Failed || !strings.HasSuffix(err.Error(), "no such file or directory") {
		t.Errorf("got %v", err)
	}
}
