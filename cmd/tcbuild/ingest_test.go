package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/ingest/graph"
)

// inFolder runs the program in a new folder with the given files, a line of
// arguments per run, and returns what the last run printed.
func inFolder(t *testing.T, files map[string]string, runs ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range runs {
		var out, errs bytes.Buffer
		code = run(context.Background(), strings.Fields(args), &out, &errs)
		stdout, stderr = out.String(), errs.String()
	}
	return code, stdout, stderr
}

var small = map[string]string{
	"graph.yaml": `root: made
out: ${root}/graph
genes:
  file: genes.tsv
  column: id
edges:
- {file: edges.tsv, relation: physical, from: a, to: b, undirected: true}
`,
	"genes.tsv":  "id\nYA\nYB\nYC\n",
	"edges.tsv":  "a\tb\nYA\tYB\nYB\tYA\nYC\tYC\n",
	"screen.csv": "one,two,score,remark\nYA,YB,0.5,x\nYA,YX,,y\nYC,YC,1,z\n",
}

func TestIngestGraph(t *testing.T) {
	code, stdout, stderr := inFolder(t, small, "ingest graph --config graph.yaml")
	if code != 0 || !strings.Contains(stderr, "built graph  genes=3 ") {
		t.Fatalf("got exit code %d, stderr:\n%s", code, stderr)
	}
	if want := `
                  made       file  rows  kept  dropped  why
                 genes  genes.tsv     3     3        0
  gene__physical__gene  edges.tsv     3     2        1  dropped: 1 the other direction of an earlier row
`; !strings.HasSuffix(stderr, want) || stdout != "" {
		t.Errorf("got report\n%s%s\nwant its end to be\n%s", stdout, stderr, want)
	}
	var account struct {
		Sources []struct {
			Made       string
			Rows, Kept int
			Dropped    []struct{ Rows int }
		}
	}
	if err := json.Unmarshal([]byte(read(t, "made/graph/sources.json")), &account); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(account.Sources); got != "[{genes 3 3 []} {gene__physical__gene 3 2 [{1}]}]" {
		t.Errorf("sources.json has %s", got)
	}
	graph, _, err := graph.Read("made/graph")
	if err != nil {
		t.Fatal(err)
	}
	if graph.Genes.Len() != 3 || len(graph.Edges) != 1 || graph.Edges[0].Len() != 2 {
		t.Errorf("got %d genes, %d edge types", graph.Genes.Len(), len(graph.Edges))
	}
}

func TestIngestPerturbations(t *testing.T) {
	const graph = "ingest graph --config graph.yaml --quiet"
	const convert = "ingest perturbations screen.csv --graph made/graph --out p.tsv genes_columns=[one,two]"
	code, stdout, stderr := inFolder(t, small, graph, convert+" --unknown-genes drop-gene")
	if code != 0 {
		t.Fatalf("got exit code %d, stderr:\n%s", code, stderr)
	}
	want := "samples: 2 of 3 entries of screen.csv; dropped: 1 of a gene with itself; " +
		"noted: 1 unknown genes left out; unknown names: YX\n" +
		"phenotypes: score\nattributes: remark\ncolumns left out: none\n"
	if stdout != want {
		t.Errorf("got report\n%s\nwant\n%s", stdout, want)
	}
	text, err := os.ReadFile("p.tsv")
	want = "sample_id\tgenes\tscore\tremark\n0\tYA|YB\t0.5\tx\n1\tYA\t\ty\n"
	if string(text) != want {
		t.Errorf("got\n%s%v\nwant\n%s", text, err, want)
	}

	code, stdout, stderr = inFolder(t, small, graph, convert)
	if code != 3 || !strings.Contains(stderr, "screen.csv:3: gene \"YX\"") || !strings.Contains(stderr, "\nhint: ") || stdout != "" {
		t.Errorf("an unknown gene: got exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if left, _ := filepath.Glob("*p.tsv*"); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
}

func TestIngestErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		runs []string
		code int
		want string
	}{
		{"unknown key in a section", []string{"ingest graph --config graph.yaml +genes.colunm=x"}, 2,
			"tcbuild: read settings override +genes.colunm=x: unknown key \"genes.colunm\"\nhint: did you mean column?\n"},
		{"misspelled section", []string{"ingest graph --config graph.yaml ++edgse=[]"}, 2, "hint: did you mean edges?\n"},
		{"missing source", []string{"ingest graph --config graph.yaml genes.file=none.tsv"}, 1, "none.tsv"},
		{"output exists", []string{"ingest graph --config graph.yaml", "ingest graph --config graph.yaml"}, 2,
			"tcbuild: write made/graph: it already exists\nhint: remove it, or choose another --out\n"},
		{"no file", []string{"ingest perturbations --graph g --out p.tsv"}, 2, "tcbuild: ingest perturbations: FILE or DIR is missing\n"},
		{"bad delimiter", []string{"ingest graph --config graph.yaml --quiet", "ingest perturbations screen.csv --graph made/graph --out p.tsv delimiter=xy"}, 2, `"xy"`},
		{"bad choice", []string{"ingest graph --config graph.yaml --quiet", "ingest perturbations screen.csv --graph made/graph --out p.tsv unknown_genes=drop"}, 2, `"drop"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := inFolder(t, small, c.runs...)
			if code != c.code || !strings.Contains(stderr, c.want) || stdout != "" {
				t.Errorf("got exit code %d, stdout %q, stderr\n%s\nwant %d and\n%s", code, stdout, stderr, c.code, c.want)
			}
		})
	}
}
