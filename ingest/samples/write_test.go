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
		for name, attributes := range map[string][]string{
			"p.tsv": {"medium", "batch"}, "p.arrow": nil,
		} {
			path := filepath.Join(t.TempDir(), name)
			if err := Write(t.Context(), path, samples, threeGenes); err != nil {
				t.Fatal(err)
			}
			p, err := openFile(path, threeGenes, Spec{AllowWildtype: true, Attributes: attributes})
			if err != nil {
				t.Fatal(err)
			}
			got, counts, err := showSamples(p)
			if err != nil {
				t.Fatal(err)
			}
			columns := p.Columns()
			columns.Guessed = nil // of text
			isSame := slices.Equal(got, want) && strings.HasPrefix(counts, fmt.Sprint(n, " kept"))
			hasColumns := n == 0 || reflect.DeepEqual(columns, samples.columns)
			if !isSame || !hasColumns {
				t.Errorf("%s of %d samples: read %d others back, with columns %+v", name, n,
					len(got), p.Columns())
			}
		}
	}
}

func TestWriteErrors(t *testing.T) {
	odd, _ := ingest.NewNodes(ingest.Gene, []string{"A|B", "C"}, nil)
	tab := sampleList{ingest.NewSamples(0, ingest.Columns{}, 1), ingest.Columns{}}
	tab.Append([]byte("a\tb"), []uint32{1}, nil, nil)
	gene := sampleList{ingest.NewSamples(0, ingest.Columns{}, 1), ingest.Columns{}}
	gene.Append([]byte("a"), []uint32{0}, nil, nil)
	for _, test := range []struct {
		name, file string
		source     ingest.SampleSource
		kind       fault.Kind
		want       string
	}{
		{
			name:   "ending",
			file:   "p.csv",
			source: tab,
			kind:   fault.Usage,
			want:   `found ending ".csv", expected .arrow or .tsv`,
		},
		{
			name:   "id",
			file:   "p.tsv",
			source: tab,
			kind:   fault.Input,
			want:   `sample 0: found "a\tb", expected text without any of "\t\r\n"`,
		},
		{
			name:   "gene",
			file:   "p.tsv",
			source: gene,
			kind:   fault.Input,
			want:   `sample 0: found "A|B", expected text without any of "\t\r\n|"`,
		},
		{
			name: "column",
			file: "p.tsv",
			source: sampleList{
				ingest.NewSamples(0, ingest.Columns{}, 0),
				ingest.Columns{Phenotypes: ingest.NamedPhenotypes("x\n")},
			},
			kind: fault.Input,
			want: `column 3: found "x\n", expected text without any of "\t\r\n"`,
		},
		{
			name:   "folder",
			file:   "none/p.tsv",
			source: gene,
			kind:   fault.Failed,
			want:   "no such file or directory",
		},
		{
			name:   "folder of Arrow",
			file:   "none/p.arrow",
			source: gene,
			kind:   fault.Failed,
			want:   "no such file or directory",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := Write(t.Context(), filepath.Join(t.TempDir(), test.file), test.source, odd)
			if err == nil || !strings.HasSuffix(err.Error(), test.want) ||
				fault.KindOf(err) != test.kind {
				t.Errorf("got %v of kind %d, expected %s", err, fault.KindOf(err), test.want)
			}
		})
	}
}
