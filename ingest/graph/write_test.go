package graph

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/internal/testing/testrun"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestWriteReadsBackEqual(t *testing.T) {
	g, _, err := Read(folder(t, tinyGraph()))
	if err != nil {
		t.Fatal(err)
	}
	empty, _, err := Read(folder(t, map[string]string{
		"nodes/gene.tsv": "id\tname\n", "edges/gene__x__gene.tsv": "src\tdst\tweight\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*ingest.Graph{"tiny": g, "empty": empty} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := Write(dir, g); err != nil {
				t.Fatal(err)
			}
			again, _, err := Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			checkGraph(t, again, g)
			if again.Digest() != g.Digest() {
				t.Error("the digest changed")
			}
		})
	}
}

// TestWriteGolden compares the files' bytes with readable hex.
func TestWriteGolden(t *testing.T) {
	g, _, err := Read(folder(t, tinyGraph()))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Write(dir, g); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nodes/reaction.arrow", "edges/gene__physical__gene.arrow"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", filepath.Base(name)+".hex")
		if *update {
			if err := os.WriteFile(golden, []byte(hex.Dump(content)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if hex.Dump(content) != string(want) {
			t.Errorf("%s is not as in %s; if that is meant, run go test -update and review the "+
				"difference",
				name, golden)
		}
	}
}

// TestDigest compares the digest with its documentation, spelled out, and checks that every part
// changes it.
func TestDigest(t *testing.T) {
	files := map[string]string{
		"nodes/gene.tsv":            "id\tname\nA\tx\nB\t\n",
		"edges/gene__ppi__gene.tsv": "src\tdst\tw\nA\tB\t1\nB\tB\tNA\n",
	}
	read := func(files map[string]string) *ingest.Graph {
		g, _, err := Read(folder(t, files))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	count := func(n int) string { return string([]byte{byte(n), 0, 0, 0, 0, 0, 0, 0}) }
	text := func(s string) string { return count(len(s)) + s }
	serialised := text("tcbuild graph 2") +
		count(1) + text("gene") + count(2) + text("A") + text("B") +
		count(1) + text("name") + text("utf8") + "\x01" + text("x") + "\x01" + text("") +
		count(1) + text("gene__ppi__gene") + count(2) + "\x00\x00\x00\x00\x01\x00\x00\x00" +
		"\x01\x00\x00\x00\x01\x00\x00\x00" +
		count(1) + text("w") + text("utf8") + "\x01" + text("1") + "\x01" + text("NA")
	got, want := read(files).Digest(), fmt.Sprintf("%x", sha256.Sum256([]byte(serialised)))
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	seen := map[string]string{read(files).Digest(): "the graph"}
	for name, change := range map[string][3]string{
		"id":            {"nodes/gene.tsv", "B\t", "C\t"},
		"text":          {"nodes/gene.tsv", "A\tx", "A\ty"},
		"column name":   {"nodes/gene.tsv", "name", "alias"},
		"target":        {"edges/gene__ppi__gene.tsv", "A\tB", "A\tA"},
		"number":        {"edges/gene__ppi__gene.tsv", "\t1", "\t2"},
		"missing value": {"edges/gene__ppi__gene.tsv", "NA", "0"},
	} {
		changed := maps.Clone(files)
		changed[change[0]] = strings.ReplaceAll(changed[change[0]], change[1], change[2])
		if name == "id" {
			changed["edges/gene__ppi__gene.tsv"] = strings.ReplaceAll(
				changed["edges/gene__ppi__gene.tsv"], "B", "C",
			)
		}
		digest := read(changed).Digest()
		if other, same := seen[digest]; same {
			t.Errorf("a changed %s has the digest of %s", name, other)
		}
		seen[digest] = name
	}
}

// TestWriteRefuses writes what Read does not accept.
func TestWriteRefuses(t *testing.T) {
	graph := func(id, relation string) *ingest.Graph {
		genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", id}, nil)
		return &ingest.Graph{
			Genes: genes,
			Edges: []*ingest.Edges{
				{Type: ingest.EdgeType{
					Source: ingest.Gene, Relation: relation, Target: ingest.Gene,
				}},
			},
		}
	}
	testrun.CheckInputError(t, Write(t.TempDir(), graph("B ", "x")),
		`write graph: gene 1: id "B " begins or ends with a space`)
	testrun.CheckInputError(t, Write(t.TempDir(), graph("B", "my net")),
		`write graph: edge type gene__my net__gene: its relation is "my net", expected UTF-8 `+
			`text without spaces and control characters`)
	if err := Write(t.TempDir(), graph("B", "x")); err != nil {
		t.Error(err)
	}
}

func TestWriteTwiceGivesTheSameBytes(t *testing.T) {
	g, _, err := Read(folder(t, tinyGraph()))
	if err != nil {
		t.Fatal(err)
	}
	var folders [2]map[string][]byte
	for i := range folders {
		dir := t.TempDir()
		if err := Write(dir, g); err != nil {
			t.Fatal(err)
		}
		folders[i] = make(map[string][]byte)
		paths, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			folders[i][filepath.Base(path)] = content
		}
	}
	if !maps.EqualFunc(folders[0], folders[1], bytes.Equal) || len(folders[0]) != 7 {
		t.Errorf("files %v differ", slices.Sorted(maps.Keys(folders[0])))
	}
}
