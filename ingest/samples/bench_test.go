package samples

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/sets"
)

// yeastScale makes a random graph of the size of the yeast cell graph: 6,607 genes and nine
// edge types of 2.4 million edges together, sorted by source.
func yeastScale() *ingest.Graph {
	random := rand.New(rand.NewPCG(7, 8))
	ids := make([]string, 6607)
	for i := range ids {
		ids[i] = fmt.Sprintf("Y%c%c%03d%c", 'A'+i%16, "LR"[i%2], i/16, "WC"[i/2%2])
	}
	for i := range ids {
		ids[i] = fmt.Sprintf("%s-%c", ids[i], 'A'+i%26)
	}
	genes, repeated := ingest.NewNodes(ingest.Gene, ids, nil)
	if repeated != nil {
		panic("ids are not unique")
	}
	g := &ingest.Graph{Genes: genes}
	for i, n := range []int{
		144_211, 900_000, 500_000, 300_000, 250_000, 150_000, 100_000, 50_000, 5_789,
	} {
		e := &ingest.Edges{
			Type: ingest.EdgeType{
				Source: ingest.Gene, Relation: fmt.Sprintf("type%d", i), Target: ingest.Gene,
			},
			Src: make([]uint32, n),
			Dst: make([]uint32, n),
		}
		for k := range e.Src {
			e.Src[k], e.Dst[k] = uint32(random.IntN(len(ids))), uint32(random.IntN(len(ids)))
		}
		slices.Sort(e.Src)
		g.Edges = append(g.Edges, e)
	}
	return g
}

// writeGraphText writes a graph as TSV files with ids.
func writeGraphText(b *testing.B, dir string, g *ingest.Graph) (size int64) {
	files := map[string]string{"nodes/gene.tsv": "id\n" + strings.Join(g.Genes.IDs, "\n") + "\n"}
	for _, e := range g.Edges {
		text := []byte("src\tdst\n")
		for i := range e.Src {
			text = append(append(text, g.Genes.IDs[e.Src[i]]...), '\t')
			text = append(append(text, g.Genes.IDs[e.Dst[i]]...), '\n')
		}
		files["edges/"+e.Type.String()+".tsv"] = string(text)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
		size += int64(len(text))
	}
	return size
}

func BenchmarkReadGraph(b *testing.B) {
	g := yeastScale()
	for _, format := range []string{"tsv", "arrow"} {
		dir := b.TempDir()
		if format == "tsv" {
			writeGraphText(b, dir, g)
		} else if err := graph.Write(dir, g); err != nil {
			b.Fatal(err)
		}
		b.Run("format="+format+"/edges=2400000", func(b *testing.B) {
			for b.Loop() {
				read, inputs, err := graph.Read(dir)
				if err != nil {
					b.Fatal(err)
				}
				if len(read.Edges) != len(g.Edges) {
					b.Fatal("edges are missing")
				}
				size := int64(0)
				for _, input := range inputs {
					size += input.Bytes
				}
				b.SetBytes(size)
			}
		})
	}
}

func BenchmarkDigest(b *testing.B) {
	for _, columns := range []int{0, 1} {
		g := yeastScale()
		for _, edges := range g.Edges {
			for range columns {
				edges.Columns = append(edges.Columns,
					ingest.NumberColumn("score", make([]float64, edges.Len())))
			}
		}
		b.Run(fmt.Sprintf("edges=2400000/columns=%d", columns), func(b *testing.B) {
			for b.Loop() {
				g.Digest()
			}
		})
	}
}

func BenchmarkScanPerturbations(b *testing.B) {
	const samples = 200_000
	genes := yeastScale().Genes
	for _, name := range []string{"p.tsv", "p.arrow"} {
		path := filepath.Join(b.TempDir(), name)
		if err := Write(b.Context(), path, randomSamples(genes, samples), genes); err != nil {
			b.Fatal(err)
		}
		p, err := openFile(path, genes, Spec{AllowWildtype: true})
		if err != nil {
			b.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf(
			"columns/format=%s/samples=%d", filepath.Ext(name)[1:], samples,
		), func(b *testing.B) {
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() { // the types of columns, which of text are found by reading it
				file, err := inputfile.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				r, err := table.OpenFile(file)
				if err != nil {
					b.Fatal(err)
				}
				_, err = layOutTable(r, &Spec{GeneDelimiter: defaultDelimiter})
				if err != nil {
					b.Fatal(err)
				}
				r.Close()
				file.Close()
			}
		})
		b.Run(fmt.Sprintf("format=%s/samples=%d", filepath.Ext(name)[1:], samples),
			func(b *testing.B) {
				b.SetBytes(info.Size())
				b.ReportAllocs()
				for b.Loop() {
					if _, err := sets.ReadAll(p); err != nil {
						b.Fatal(err)
					}
				}
			})
	}
}
