package synth

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/ingest"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/testrun"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// dump writes at most limit rows of each table and as many samples.
func dump(w io.Writer, graph *ingest.Graph, samples ingest.SampleSource, limit int) error {
	for _, nodes := range graph.NodeTables() {
		fmt.Fprintf(w, "%s\n", nodes.Type)
		for row := range min(limit, nodes.Len()) {
			fmt.Fprintf(w, "%s%s\n", nodes.IDs[row], cells(nodes.Columns, row))
		}
	}
	for _, edges := range graph.Edges {
		fmt.Fprintf(w, "%s\n", edges.Type)
		for row := range min(limit, edges.Len()) {
			fmt.Fprintf(w, "%d\t%d%s\n", edges.Src[row], edges.Dst[row], cells(edges.Columns, row))
		}
	}
	fmt.Fprintf(w, "samples: %s\n", strings.Join(samples.Columns().PhenotypeNames(), ", "))
	_, err := sets.Read(samples, func(batch *ingest.Samples) error {
		for i := range min(limit-min(limit, batch.First), batch.Len()) {
			fmt.Fprintf(w, "%s\t%d\t%v\n", batch.ID(i), batch.Genes(i), batch.Phenotypes(i))
		}
		return nil
	})
	return err
}

func cells(columns []ingest.Column, row int) string {
	var text strings.Builder
	for _, c := range columns {
		switch values := c.Values.(type) {
		case *array.String:
			fmt.Fprintf(&text, "\t%q", values.Value(row))
		case *array.Float64:
			fmt.Fprintf(&text, "\t%v", values.Value(row))
		}
	}
	return text.String()
}

// The head of the tiny graph, in readable form.
func TestTinyGolden(t *testing.T) {
	var text strings.Builder
	if err := dump(&text, Graph(Tiny, 0), Samples(Tiny, 0, Tiny.Samples), 12); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/tiny.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Errorf("the tiny graph changed; if that is meant, run with -update and read the diff; found:\n%s", text.String())
	}
}

// People name a graph by scale and seed, so its values may never change.
func TestDigests(t *testing.T) {
	for _, test := range []struct {
		scale Scale
		seed  uint64
		want  string
	}{
		{Tiny, 0, "65ec2046b552fcf352a85513ec0b0e7c70aa9f4cf931636c6bc70e20dcbf7f92"},
		{Tiny, 1, "62bbb153a7df7268642cbb8e7cb2f22295f204aff9c19aa7ca7667871a50c954"},
		{Yeast, 0, "379ead8a8332c73a58175e38b52b9bc6654643a2cfc60e2b80f63447a26d1761"},
	}[:testrun.Cases(3, 2)] {
		digest := sha256.New()
		err := dump(digest, Graph(test.scale, test.seed), Samples(test.scale, test.seed, test.scale.Samples), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(digest.Sum(nil)); got != test.want {
			t.Errorf("%s, seed %d: digest %s, want %s", test.scale.Name, test.seed, got, test.want)
		}
	}
}
