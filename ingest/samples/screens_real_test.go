package samples_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/sets"
)

// TestRealScreens checks totals of the published screens, counted independently of this code.
func TestRealScreens(t *testing.T) {
	cell := yeast(t)
	at := func(source, file string, alleles ...samples.AlleleKind) samples.Spec {
		screen := screenOf(t, source, "", features)
		screen.File = filepath.Join(data, file)
		screen.UnknownGenes = ingest.DropSample
		screen.Alleles = alleles
		return screen
	}
	const links, pairs = "kuzmin2018_significant/links.txt", "emap_collins2007/pairs.tsv.gz"
	for _, test := range []struct {
		name          string
		spec          samples.Spec
		rows, samples int
		genes         int // of all samples
		sum           float64
	}{
		{
			name:    "kuzmin deletions",
			spec:    at("kuzmin2018_links", links),
			rows:    17_285,
			samples: 8_854,
			genes:   2*7_312 + 3*1_542,
		},
		{
			name:    "kuzmin all",
			spec:    at("kuzmin2018_links", links, samples.AlleleKinds...),
			rows:    17_285,
			samples: 17_285,
			genes:   37_765,
		},
		{
			name:    "collins deletions",
			spec:    at("emap", pairs),
			rows:    186_500,
			samples: 151_137,
			genes:   302_274,
		},
		{
			name:    "collins all",
			spec:    at("emap", pairs, samples.AlleleKinds...),
			rows:    186_500,
			samples: 186_066,
			genes:   372_132,
		},
		{
			name:    "galardini",
			spec:    at("matrix", "yeastphenome_galardini2019/galardini_beltrao_2019_value.txt.gz"),
			rows:    183_806,
			samples: 179_477,
			genes:   179_477,
			sum:     -23_408.92529583336,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			screen, err := openForm(test.spec, cell)
			if err != nil {
				t.Fatal(err)
			}
			genes, sum := 0, 0.0
			counts, err := sets.Read(screen, func(batch *ingest.Samples) error {
				for i := range batch.Len() {
					genes += len(batch.Genes(i))
					sum += batch.Phenotypes(i)[0]
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			check.Accounts(t, ingest.Accounts{screen.Account()})
			isSum := test.sum == 0 || math.Abs(sum-test.sum) <= 1e-6
			got := [...]int{screen.Account().Rows, counts.Kept, genes}
			if got != [...]int{test.rows, test.samples, test.genes} || !isSum {
				t.Errorf("%d rows, %d samples of %d genes, sum %v; want %d, %d, %d, %v\n%s",
					screen.Account().Rows, counts.Kept, genes, sum, test.rows, test.samples,
					test.genes, test.sum, screen.Account())
			}
		})
	}
}

func FuzzScreens(f *testing.F) {
	f.Add(uint8(0), sgaHeader+"YAL001C_tsq508\ttfc3-g349e\tYAL002W_dma1\tvps8\tDMA30\t-0.1\t0.5\n")
	f.Add(uint8(1), "Triplete_Name\tx\nhoΔ_tfc3-1_YAL016C-B-x\t1\n")
	f.Add(uint8(2),
		"gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\tscore\n"+
			"VPS8\tHO\tdelta ho\tDAMP\t1\n")
	f.Add(uint8(3), "a\tb\n\"VPS8\"\t1\t\n")
	genes, aliases := screenGenes(f)
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		spec := screenOf(t, []string{"costanzo2016", "kuzmin2018_links", "emap", "matrix"}[kind%4],
			text, aliases)
		spec.UnknownGenes, spec.AllowWildtype = ingest.DropSample, true
		screen, err := openForm(spec, &ingest.Graph{Genes: genes})
		samples, _, err := readScreen(t, screen, err, genes)
		if err != nil {
			if fault.KindOf(err) != fault.Input {
				t.Fatalf("error %v is not of the input", err)
			}
			return
		}
		if len(samples) != screen.Account().Kept {
			t.Fatalf("%d samples, %d reported", len(samples), screen.Account().Kept)
		}
	})
}

// BenchmarkScreens reads plain-text tables as large as part of a real one.
func BenchmarkScreens(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 0))
	ids := make([]string, 6000)
	for i := range ids {
		ids[i] = fmt.Sprintf("Y%c%c%03d%c", 'A'+i%16, "LR"[i/16%2], i/32, "WC"[i%2])
	}
	genes, _ := ingest.NewNodes(ingest.Gene, ids, nil)
	var sga, emap, wide strings.Builder
	sga.WriteString(sgaHeader)
	emap.WriteString("gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\tscore\n")
	wide.WriteString("orf")
	for k := range 38 {
		fmt.Fprintf(&wide, "\tcondition %d", k)
	}
	wide.WriteByte('\n')
	for range 100_000 {
		query, array := ids[random.IntN(1000)], ids[random.IntN(len(ids))]
		fmt.Fprintf(&sga, "%s_sn%d\tabc1\t%s_dma%d\txyz2\tDMA30\t%.4f\t%.6f\n", query, 12, array,
			345, random.NormFloat64(), random.Float64())
		fmt.Fprintf(&emap, "%s\t%s\tDELETION\tDELETION\t%.6f\n", query, array, random.NormFloat64())
	}
	for _, id := range ids {
		wide.WriteString(id)
		for range 38 {
			fmt.Fprintf(&wide, "\t%.16g", random.NormFloat64())
		}
		wide.WriteByte('\n')
	}
	for _, kind := range []struct {
		name, source, text string
	}{
		{"sga", "costanzo2016", sga.String()},
		{"emap", "emap", emap.String()},
		{"matrix", "matrix", wide.String()},
	} {
		b.Run("kind="+kind.name, func(b *testing.B) {
			screen, err := openForm(screenOf(b, kind.source, kind.text, ""),
				&ingest.Graph{Genes: genes})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(kind.text)))
			before := cpuTime(b)
			for b.Loop() {
				if _, err := sets.ReadAll(screen); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(kind.text))*float64(b.N)/1e6/(cpuTime(b)-before).Seconds(),
				"MB/cpu-s")
		})
	}
}

// cpuTime is the processor time of this process, which other load on the machine does not affect.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
