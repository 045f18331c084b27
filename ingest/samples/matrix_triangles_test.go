package samples_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/testrun"
)

// matrixText writes a matrix of genes; value is called with places in names.
func matrixText(
	rows, columns []int, names, others []string, value func(row, column int) string,
) string {
	var text strings.Builder
	text.WriteString("gene")
	for _, column := range columns {
		text.WriteString("\t" + names[column])
	}
	for _, row := range rows {
		text.WriteString("\n" + others[row])
		for _, column := range columns {
			text.WriteString("\t" + value(row, column))
		}
	}
	return text.String() + "\n"
}

// TestTriangles fills a triangle of a random matrix, as np.triu and fillna do, with and without the
// diagonal, missing values, other names of the rows' genes, and other orders of rows and columns.
func TestTriangles(t *testing.T) {
	genes, aliases := screenGenes(t)
	names := []string{"YAL001C", "YAL002W", "YAL016C-B", "YBR150C", "YDL227C"}
	others := []string{"TFC3", "VPS8", "YAL016C-B", "TBS1", "HO"}
	r := rand.New(rand.NewPCG(36, 9))
	for range testrun.Cases(300, 60) {
		n := 2 + r.IntN(len(names)-1)
		constant := []string{"0", "1", "-1", "0.0", "0.25", "-0.0"}[r.IntN(6)]
		filled := []samples.Triangle{samples.UpperTriangle, samples.LowerTriangle}[r.IntN(2)]
		diagonal := []string{"", constant, "7"}[r.IntN(3)]
		gaps := r.IntN(2) * r.IntN(3)
		order := r.IntN(4) // of rows, of columns, of both in the same way
		rows, columns := make([]int, n), make([]int, n)
		for i := range n {
			rows[i], columns[i] = i, i
		}
		if order == 1 {
			r.Shuffle(n, func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
		}
		if order == 3 {
			r.Shuffle(n, func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
			columns = slices.Clone(rows)
		}
		values := make(map[[2]int]string)
		want := make(map[string]string) // of the measured pairs
		for _, row := range rows {
			for _, column := range columns {
				isFilled := row > column == (filled == samples.LowerTriangle)
				switch value := fmt.Sprint(2 + r.Float64()); {
				case row == column:
					values[[2]int{row, column}] = diagonal
				case isFilled:
					values[[2]int{row, column}] = constant
				case r.IntN(10) >= gaps:
					values[[2]int{row, column}] = value
					pair := []string{names[row], names[column]}
					slices.Sort(pair)
					want[strings.Join(pair, "+")] = value
				}
			}
		}
		rowNames := [][]string{names, others}[r.IntN(2)]
		text := matrixText(rows, columns, names, rowNames,
			func(row, column int) string { return values[[2]int{row, column}] })
		read := func(triangle samples.Triangle) ([]string, string, error) {
			spec := screenOf(t, "matrix", text, aliases)
			spec.ColumnsAre, spec.Triangle = samples.SecondGenes, triangle
			screen, err := openForm(spec, &ingest.Graph{Genes: genes})
			return readScreen(t, screen, err, genes)
		}
		if len(want) == 0 {
			continue // nothing was measured
		}
		_, _, err := read("")
		if order == 3 {
			check.Fault(t, err, fault.Input, "s.tsv: found ")
			continue
		}
		other := samples.UpperTriangle
		if filled == samples.UpperTriangle {
			other = samples.LowerTriangle
		}
		if len(want) == 1 {
			check.Fault(t, err, fault.Input, "a single value in each triangle")
		} else {
			check.Fault(t, err, fault.Input, fmt.Sprintf("in all cells of the %s triangle", filled))
		}
		if hint := fault.HintOf(err); !strings.Contains(hint, "triangle="+string(other)) {
			t.Errorf("%s\nhint %s", text, hint)
		}
		kept, report, err := read(other)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		found := make(map[string]string)
		for _, sample := range kept {
			fields := strings.Fields(strings.Split(sample, ": ")[1])
			found[fields[1]] = strings.Trim(fields[2], "[]")
		}
		if fmt.Sprint(found) != fmt.Sprint(want) || len(kept) != len(want) {
			t.Fatalf("%s%s\ngot %v\nwant %v", text, report, found, want)
		}
		if len(want) > 1 {
			_, _, err = read(filled)
			check.Fault(t, err, fault.Input, "whose pairs have other values")
		}
		if kept, _, err = read(samples.BothTriangles); err != nil ||
			len(kept) != len(want)+n*(n-1)/2 {
			t.Fatalf("%s: got %d samples, %v", text, len(kept), err)
		}
	}
}

func TestMatricesThatAreNotFilled(t *testing.T) {
	genes, aliases := screenGenes(t)
	for _, c := range []struct {
		name, text string
		triangle   samples.Triangle
		duplicates bool
		want       string // the report's end, or the error
	}{
		{
			name: "all equal",
			text: "g\tTFC3\tVPS8\tTBS1\nTFC3\t\t1\t1\nVPS8\t1\t\t1\nTBS1\t1\t1\t\n",
			want: "3 equal to the value of the same pair in the other half; noted: 3 rows",
		},
		{
			name: "an empty half",
			text: "g\tTFC3\tVPS8\tTBS1\nTFC3\t\t1\t2\nVPS8\t\t\t3\nTBS1\t\t\t\n",
			want: "3 of 9 entries of s.tsv; dropped: 3 of a gene with itself, 3 without a " +
				"phenotype; noted: 3 rows",
		},
		{
			name: "one pair of others",
			text: "g\tTFC3\tVPS8\nVPS8\t2\t\nTFC3\t\t0\nTBS1\t3\t4\n",
			want: "4 of 6 entries of s.tsv; dropped: 2 of a gene with itself; noted: 3 rows, 1 " +
				"of pairs that have an earlier cell",
		},
		{
			name: "equal pairs that are not filled",
			text: "g\tTFC3\tVPS8\tTBS1\nTFC3\t\t1\t0\nVPS8\t1\t\t3\nTBS1\t2\t0\t\n",
			want: `found 0 for "TFC3: TBS1" and 2 for "TBS1: TFC3", expected one value`,
		},
		{
			name: "filled, with equal pairs",
			text: "g\tTFC3\tVPS8\tTBS1\nTFC3\t\t0\t2\nVPS8\t0\t\t3\nTBS1\t0\t0\t\n",
			want: "found 0 in all cells of the lower triangle",
		},
		{
			name:       "filled, with duplicates",
			text:       "g\tTFC3\tVPS8\tTBS1\nTFC3\t\t1\t2\nVPS8\t0\t\t3\nTBS1\t0\t0\t\n",
			duplicates: true,
			want:       "found 0 in all cells of the lower triangle",
		},
		{
			name:     "the upper half of a symmetric one",
			text:     "g\tTFC3\tVPS8\tTBS1\nTFC3\t\t1\t2\nVPS8\t1\t\t3\nTBS1\t2\t3\t\n",
			triangle: samples.UpperTriangle,
			want: "3 of 9 entries of s.tsv; dropped: 3 of a gene with itself, 3 in the other " +
				"triangle; noted: 3 rows",
		},
		{
			name:     "the lower half of another",
			text:     "g\tTFC3\tVPS8\tTBS1\nTFC3\t\t1\t2\nVPS8\t1\t\t3\nTBS1\t2\t4\t\n",
			triangle: samples.LowerTriangle,
			want: "3 of 9 entries of s.tsv; dropped: 3 of a gene with itself, 3 in the other " +
				"triangle; noted: 3 rows",
		},
		{
			name:     "rows left out",
			text:     "g\tTFC3\tVPS8\tTBS1\nTFC3\t\t1\t2\nVPS8\t0\t\t3\n",
			triangle: samples.UpperTriangle,
			want: "3 of 6 entries of s.tsv; dropped: 2 of a gene with itself, 1 in the other " +
				"triangle; noted: 2 rows",
		},
		{
			name:     "no such triangle",
			text:     "g\tTFC3\tVPS8\nTFC3\t\t1\n",
			triangle: "left",
			want:     `triangle: found "left"`,
		},
	} {
		spec := screenOf(t, "matrix", c.text, aliases)
		spec.ColumnsAre = samples.SecondGenes
		spec.Triangle = c.triangle
		spec.BothHalves = c.duplicates
		screen, err := openForm(spec, &ingest.Graph{Genes: genes})
		_, report, err := readScreen(t, screen, err, genes)
		if err != nil {
			report = err.Error()
		}
		if !strings.Contains(report, c.want) {
			t.Errorf("%s: got %s\nwant %s", c.name, report, c.want)
		}
	}
	spec := screenOf(t, "matrix", "g\tcold\nTFC3\t1\n", aliases)
	spec.Triangle = samples.UpperTriangle
	_, err := openForm(spec, &ingest.Graph{Genes: genes})
	check.Fault(t, err, fault.Usage,
		"triangle: it applies only to a matrix whose rows and columns are genes")
	spec = samples.Spec{
		TextSpec:     table.TextSpec{File: "s.tsv"},
		MatrixSpec:   samples.MatrixSpec{Triangle: samples.UpperTriangle},
		UnknownGenes: ingest.DropGene,
	}
	_, err = openForm(spec, &ingest.Graph{Genes: genes})
	check.Fault(t, err, fault.Usage, "triangle: it does not apply to a table")
}
