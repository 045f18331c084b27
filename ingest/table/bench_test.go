package table

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
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
		_, compression := Format(file.name)
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
			if _, read, ok := slowTSV(string(content)); !ok || len(read) != rows {
				b.Fatal("wrong rows")
			}
		}
	})
}
