package samples

import (
	"fmt"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/internal/testing/inputs"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/testrun"
)

// Rows are parsed side by side and ids compared late, yet the error is that of the first wrong row,
// and the counts are those of the rows before it.
func TestFirstWrongRow(t *testing.T) {
	random := seed.Rand(t)
	for range 20 {
		const n = 30_000
		unknown, repeated := 2+random.IntN(n-2), 2+random.IntN(n-2) // rows
		var text strings.Builder
		text.WriteString("sample_id\tgenes\n")
		for row := range n {
			id, gene := row, "A"
			if row == repeated {
				id = 1
			}
			if row == unknown {
				gene = "nobody"
			}
			fmt.Fprintf(&text, "s%d\t%s\n", id, gene)
		}
		path := inputs.Write(t, "p.tsv", text.String())
		p, err := openFile(path, threeGenes, Spec{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		next := 0
		counts, err := sets.Read(p, func(samples *ingest.Samples) error {
			for i := range samples.Len() {
				if samples.First+i != next ||
					next != repeated && string(samples.ID(i)) != fmt.Sprint("s", next) {
					t.Fatalf("got sample %d, %s, want %d", samples.First+i, samples.ID(i), next)
				}
				next++
			}
			return nil
		})
		want := fmt.Sprintf(`read perturbations %s:%d: found sample id "s1", which is also in `+
			`%s:3, expected unique ids`,
			path, repeated+2, path)
		if unknown <= repeated {
			want = fmt.Sprintf(`read perturbations %s:%d: gene "nobody" is not in the graph (3 `+
				`genes)`,
				path, unknown+2)
		}
		testrun.CheckInputError(t, err, want)
		if counts.Kept != next || next != unknown && unknown <= repeated {
			t.Errorf("%d samples were passed on and %d counted before row %d", next, counts.Kept,
				unknown)
		}
	}
}
