package table

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/ingest/table/arrowfile"
	"tcbuild/internal/testing/rowstest"

	"github.com/apache/arrow/go/v17/arrow"
)

// BenchmarkText reads a text table without using its values, and compares with the slow reader of
// the tests.
func BenchmarkText(b *testing.B) {
	const rows = 500_000
	var tsv strings.Builder
	tsv.WriteString("src\tdst\tweight\n")
	for i := range rows {
		fmt.Fprintf(&tsv, "YAL%03dW\tYBR%03dC\t0.%d\n", i/1000, i%1000, i)
	}
	csv := strings.ReplaceAll(tsv.String(), "\t", ",")
	for _, file := range []struct{ name, content string }{
		{"a.tsv", tsv.String()}, {"a.csv", csv}, {"a.tsv.gz", tsv.String()}, {"a.tsv.zst", tsv.String()},
		{"quoted.csv", strings.ReplaceAll(csv, "YBR", `"YBR`)},
	} {
		content := file.content
		if file.name == "quoted.csv" {
			content = strings.ReplaceAll(content, "C,", `C",`)
		}
		_, compression, _, _ := EndingOf(file.name)
		path := write(b, file.name, compress(b, []byte(content), compression))
		b.Run(fmt.Sprintf("file=%s/rows=%d", file.name, rows), func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for {
					batch, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					n += batch.Len
				}
				if n != rows {
					b.Fatalf("found %d rows", n)
				}
				r.Close()
			}
		})
	}
	b.Run(fmt.Sprintf("file=slow.tsv/rows=%d", rows), func(b *testing.B) {
		path := write(b, "slow.tsv", []byte(tsv.String()))
		b.SetBytes(int64(tsv.Len()))
		b.ReportAllocs()
		for b.Loop() {
			content, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			if _, read, ok := slowText(string(content), '\t'); !ok || len(read) != rows {
				b.Fatal("wrong rows")
			}
		}
	})
}

// BenchmarkBinary reads tables of binary formats, as samples and graphs read them.
func BenchmarkBinary(b *testing.B) {
	const n = 500_000
	ids, genes, numbers, notes := make([]string, n), make([][]string, n), make([]float64, n), make([][]byte, n)
	for i := range n {
		ids[i] = fmt.Sprintf("s%06d", i)
		genes[i] = []string{fmt.Sprintf("YAL%03dW", i%1000), fmt.Sprintf("YBR%03dC", i/1000)}
		if numbers[i] = float64(i%1009) / 1009; i%10 == 0 {
			numbers[i] = math.NaN()
		}
		if i%5 > 0 {
			notes[i] = []byte([]string{"YPD", "SC", "YPG"}[i%3])
		}
	}
	columns := func(from, to int) []arrow.Array {
		return []arrow.Array{rowstest.Texts(ids[from:to]), rowstest.Lists(genes[from:to]), rowstest.Numbers(numbers[from:to]), rowstest.OptionalTexts(notes[from:to])}
	}
	var fields []arrow.Field
	for i, column := range columns(0, 0) {
		fields = append(fields, rowstest.Field([]string{"id", "genes", "x", "note"}[i], column, i == 3))
	}
	arrowPath := filepath.Join(b.TempDir(), "a.arrow")
	w, err := arrowfile.Create(arrowPath, fields)
	check(b, err)
	for from := 0; from < n; from += 100_000 {
		to := from + 100_000
		check(b, w.Write(columns(from, to)...))
	}
	check(b, w.Close())
	for _, path := range []string{arrowPath} {
		for _, typed := range []bool{false, true} {
			b.Run(fmt.Sprintf("file=%s/typed=%t/rows=%d", filepath.Base(path), typed, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r, err := Open(path)
					check(b, err)
					if typed {
						keepTypes(r)
					}
					read := 0
					for batch, err := range r.Batches() {
						check(b, err)
						read += batch.Len
						for i := 0; i < batch.Len && !typed; i++ {
							batch.Text(0, i)
							batch.List(1, i)
							batch.Number(2, i)
							batch.Text(3, i)
						}
					}
					if read != n {
						b.Fatalf("found %d rows", read)
					}
					r.Close()
				}
			})
		}
	}
}
